//! Topics as a site names them: a name, or a regular expression that begins with `^`.

use regex_lite::Regex;

/// Names and regular expressions of topics.
pub struct TopicNames {
    names: Vec<String>,
    patterns: Vec<Regex>,
}

impl TopicNames {
    /// Those of the configuration, which were checked with it.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a String>) -> TopicNames {
        let names: Vec<String> = names.into_iter().cloned().collect();
        let patterns =
            names.iter().filter(|name| name.starts_with('^')).filter_map(|name| Regex::new(name).ok());
        TopicNames { patterns: patterns.collect(), names }
    }

    /// As librdkafka subscribes to them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether `topic` is one of them.
    pub fn has(&self, topic: &str) -> bool {
        self.names.iter().any(|name| name == topic)
            || self.patterns.iter().any(|pattern| pattern.is_match(topic))
    }
}
