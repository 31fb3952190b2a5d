//! The layers and how they lie on each other: defaults, then the file, then the environment.
//!
//! All keys are kept flat, by their full path: so every value keeps its own origin, and free tables may be written
//! with quoted keys or with dotted ones.

use super::known::{self, Known};
use super::problem::{Origin, Problem};
use super::rules::Rule;
use super::secrets::{is_secret, is_secret_file};
use schemas::secret::HIDDEN;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// Environment variables that begin so are read.
const PREFIX: &str = "TAILBACK_";
/// Top-level keys, which have no section to distinguish them from other programs' variables.
const TOP_LEVEL: &str = "model";

/// A value and where it was set.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value, in the form that its rule gives.
    pub value: Value,
    /// Where it was set.
    pub origin: Origin,
}

/// All values that are set, by path, and what was wrong while they were read.
#[derive(Debug, Default)]
pub struct Layers {
    /// Values that their rules allow.
    pub entries: BTreeMap<String, Entry>,
    /// Values that are not allowed, keys that there are not.
    pub problems: Vec<Problem>,
}

impl Layers {
    /// Lays a TOML text over what is there.
    pub fn add_text(&mut self, text: &str, origin_of: &dyn Fn(usize) -> Origin) {
        let line = |span: Range<usize>| text[..span.start.min(text.len())].matches('\n').count() + 1;
        let parsed = DeTable::parse(text).and_then(|spans| Ok((spans, toml::from_str::<Table>(text)?)));
        match parsed {
            Ok((spans, table)) => {
                self.walk("", spans.get_ref(), &table, &|span| origin_of(line(span)));
            }
            Err(error) => {
                let origin = origin_of(error.span().map_or(0, line));
                self.problem(
                    origin,
                    "",
                    format!("this is not TOML: {}", error.message().replace('\n', ", ")),
                );
            }
        }
    }

    /// Lays a file over what is there.
    pub fn add_file(&mut self, path: &Path) {
        let origin_of = |line| Origin::File { file: path.to_path_buf(), line };
        match std::fs::read_to_string(path) {
            Ok(text) => self.add_text(&text, &origin_of),
            Err(error) => self.problem(origin_of(0), "", format!("the file cannot be read: {error}")),
        }
    }

    /// Lays environment variables over what is there. Those without a section are not Tailback's: a service of that
    /// name in Kubernetes puts `TAILBACK_PORT` and others into every process.
    pub fn add_environment(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let mut variables: Vec<(String, String)> = variables.into_iter().collect();
        variables.sort();
        for (name, text) in variables {
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let path = rest.to_lowercase().replace("__", ".");
            if rest.contains("__") || path == TOP_LEVEL {
                self.add_variable(Origin::Environment(name.clone()), &path, &text);
            }
        }
    }

    fn add_variable(&mut self, origin: Origin, path: &str, text: &str) {
        if let Some((table, property)) = known::free_property(path) {
            let property = if property == "log_level" { property.into() } else { property.replace('_', ".") };
            return self.set(&format!("{table}.{property}"), None, &parsed(text, None), origin);
        }
        match known::what_is(path) {
            Known::Key(rule) => self.set(path, Some(rule), &parsed(text, Some(rule)), origin),
            Known::Section | Known::FreeTable => {
                self.problem(
                    origin,
                    path,
                    format!("{path} is a section: the variable must name a key in it"),
                );
            }
            Known::Nothing => {
                let variable = |key: &String| PREFIX.to_string() + &key.to_uppercase().replace('.', "__");
                let variables: Vec<String> = known::nearest_keys(path).iter().map(variable).collect();
                let hint = if variables.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", variables.join(" or "))
                };
                self.problem(origin, path, known::no_key(path) + &hint);
            }
        }
    }

    fn walk(
        &mut self,
        prefix: &str,
        spans: &DeTable<'_>,
        table: &Table,
        at: &dyn Fn(Range<usize>) -> Origin,
    ) {
        // In the order of the text, as a person reads it.
        let mut keys: Vec<_> = spans.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        for (key, spanned) in keys {
            let Some(value) = table.get(key.get_ref().as_ref()) else { continue };
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            self.visit(&path, at(key.span()), spanned, value, at);
        }
    }

    fn visit(
        &mut self,
        path: &str,
        origin: Origin,
        spanned: &Spanned<DeValue<'_>>,
        value: &Value,
        at: &dyn Fn(Range<usize>) -> Origin,
    ) {
        let tables = spanned.get_ref().as_table().zip(value.as_table());
        let free = known::free_property(path).is_some();
        match (known::what_is(path), tables) {
            (Known::Section | Known::FreeTable, Some((spans, table))) => self.walk(path, spans, table, at),
            (Known::Nothing, Some((spans, table))) if free => self.walk(path, spans, table, at),
            (Known::Section | Known::FreeTable, None) => {
                self.problem(origin, path, format!("{path} must be a section, [{path}], not a value"));
            }
            (Known::Key(rule), _) => self.set(path, Some(rule), value, origin),
            (Known::Nothing, None) if free => self.set(path, None, value, origin),
            (Known::Nothing, Some(_)) => self.problem(origin, path, known::no_section(path)),
            (Known::Nothing, None) => self.problem(origin, path, known::no_key(path)),
        }
    }

    /// Sets one key; properties of librdkafka have no rule, but are no lists.
    fn set(&mut self, path: &str, rule: Option<Rule>, value: &Value, origin: Origin) {
        let admitted = match rule {
            Some(rule) => rule.admit(value).ok_or_else(|| rule.allowed()),
            None => property_text(value).ok_or_else(|| "a string, a number, true or false".to_string()),
        };
        match admitted {
            Ok(value) if rule == Some(Rule::File) => {
                let path_of = |text: &str| match text {
                    "" => String::new(),
                    text => origin.resolve(text).to_string_lossy().into_owned(),
                };
                let value = Value::String(value.as_str().map_or(String::new(), path_of));
                self.entries.insert(path.to_string(), Entry { value, origin });
            }
            Ok(value) => {
                self.entries.insert(path.to_string(), Entry { value, origin });
            }
            Err(allowed) => {
                let given = shown(path, value);
                self.problem(origin, path, format!("{path} must be {allowed}, not {given}"));
            }
        }
    }

    /// Notes what is wrong.
    pub fn problem(&mut self, origin: Origin, key: &str, text: String) {
        self.problems.push(Problem { origin, key: key.to_string(), text });
    }

    /// Notes what is wrong with a key that is set.
    pub fn problem_of(&mut self, key: &str, text: String) {
        self.problem(self.origin(key), key, text);
    }

    /// Where a key was set.
    pub fn origin(&self, key: &str) -> Origin {
        self.entries.get(key).map_or(Origin::Default, |entry| entry.origin.clone())
    }

    /// A text that is set, else "".
    pub fn text(&self, key: &str) -> &str {
        self.entries.get(key).and_then(|entry| entry.value.as_str()).unwrap_or("")
    }

    /// A number that is set.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.entries.get(key)?.value.as_float()
    }

    /// A whole number that is set.
    pub fn whole(&self, key: &str) -> Option<i64> {
        self.entries.get(key)?.value.as_integer()
    }

    /// Whether a flag is set, if it is given.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.entries.get(key)?.value.as_bool()
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let items = self.entries.get(key).and_then(|entry| entry.value.as_array());
        items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_string)).collect()
    }

    /// As TOML tables again, for the typed sections.
    pub fn tables(&self) -> Table {
        let mut root = Table::new();
        for (path, entry) in &self.entries {
            let (section, key) = match known::free_property(path) {
                Some(split) => split,
                None => path.rsplit_once('.').unwrap_or(("", path)),
            };
            if let Some(table) = table_at(&mut root, section) {
                table.insert(key.to_string(), entry.value.clone());
            }
        }
        root
    }
}

/// The table of a section, made if it is not there.
fn table_at<'a>(table: &'a mut Table, section: &str) -> Option<&'a mut Table> {
    if section.is_empty() {
        return Some(table);
    }
    let (name, rest) = section.split_once('.').unwrap_or((section, ""));
    let inner = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
    table_at(inner.as_table_mut()?, rest)
}

/// A variable's text as TOML, else as it is. A text stays a text where one is expected, whatever it looks like.
fn parsed(text: &str, rule: Option<Rule>) -> Value {
    let as_toml =
        toml::from_str::<Table>(&format!("value = {text}")).ok().and_then(|mut table| table.remove("value"));
    let wants_text = matches!(
        rule,
        Some(
            Rule::Text
                | Rule::File
                | Rule::Address
                | Rule::Name(_)
                | Rule::Word(_)
                | Rule::Words(_)
                | Rule::Texts
        )
    );
    match as_toml {
        Some(value @ (Value::String(_) | Value::Array(_))) => value,
        Some(value) if !wants_text => value,
        _ => Value::String(text.to_string()),
    }
}

/// A property of librdkafka as text, which is what librdkafka takes.
fn property_text(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(Value::String(value.to_string())),
        Value::Array(_) | Value::Table(_) | Value::Datetime(_) => None,
    }
}

/// A value in a sentence: short, on one line, hidden where it may hold a secret.
fn shown(path: &str, value: &Value) -> String {
    const MOST: usize = 80;
    let secret = known::free_property(path).is_some_and(|(_, name)| is_secret(name));
    if secret || is_secret_file(path) || path.ends_with(".url") {
        return HIDDEN.to_string();
    }
    let text = value.to_string().replace('\n', " ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].to_string() + "…",
        None => text,
    }
}
