//! The truth to score against: `truth.jsonl` of `tailback simulate`, or labels that a site wrote by hand.
//!
//! A line is a series, `{"kind":"series","series":"…","contended":[{"start":…,"end":…}]}`, or a job,
//! `{"kind":"job","job_id":"…","slowdown_s":…}`; times in seconds since the epoch. A series may have several lines, one for each
//! time that it was contended. Other fields that the simulator writes may stand there and are not needed; any other is a mistake.

use super::stretches::Stretches;
use anyhow::Context;
use schemas::Time;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line: a series that was contended a hundred thousand times fits.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// What is true of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesLabel {
    /// When it was contended.
    pub contended: Stretches,
    /// Seconds lost in all of these stretches, where known.
    pub slowdown_s: Option<f64>,
    /// Where it stands first, from 1.
    pub line: usize,
}

/// What is true of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLabel {
    /// When it was contended; empty where only its loss is given.
    pub contended: Stretches,
    /// Seconds that it lost to others, at least 0; where known.
    pub slowdown_s: Option<f64>,
    /// Where it stands, from 1.
    pub line: usize,
}

/// A file of labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// The file, for messages.
    pub file: PathBuf,
    /// Series by name. One that is not here was never contended, unless only labelled ones count.
    pub series: BTreeMap<String, SeriesLabel>,
    /// Jobs by their numbers.
    pub jobs: BTreeMap<String, JobLabel>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Job(JobLine),
    Series(SeriesLine),
}

/// Fields with an underscore are the simulator's: they are allowed and not used.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobLine {
    job_id: Id,
    slowdown_s: Option<f64>,
    #[serde(default)]
    contended: Vec<Interval>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
    #[serde(rename = "user")]
    _user: Option<IgnoredAny>,
    #[serde(rename = "nodes")]
    _nodes: Option<IgnoredAny>,
    #[serde(rename = "start")]
    _start: Option<IgnoredAny>,
    #[serde(rename = "end")]
    _end: Option<IgnoredAny>,
    #[serde(rename = "contended_s")]
    _contended_s: Option<IgnoredAny>,
    #[serde(rename = "by")]
    _by: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesLine {
    series: String,
    contended: Vec<Interval>,
    slowdown_s: Option<f64>,
    #[serde(rename = "contended_s")]
    _contended_s: Option<IgnoredAny>,
    #[serde(rename = "by")]
    _by: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Interval {
    start: f64,
    end: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(u64),
}

impl Truth {
    /// Reads a file; empty lines are passed over.
    ///
    /// # Errors
    /// A sentence that names file, line and field: a label that is left out silently would be a wrong score.
    pub fn read(path: &Path) -> anyhow::Result<Truth> {
        let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut reader = BufReader::new(file);
        let mut truth = Truth { file: path.to_path_buf(), ..Truth::default() };
        let mut text = String::new();
        for line in 1.. {
            text.clear();
            let location = || format!("{}:{line}", path.display());
            if (&mut reader).take(LINE_BYTES_MAX).read_line(&mut text).with_context(location)? == 0 {
                break;
            }
            let content = text.trim_start_matches('\u{feff}').trim();
            if !content.is_empty() {
                truth.take(content, line).map_err(|problem| anyhow::anyhow!("{}: {problem}", location()))?;
            }
        }
        let labels = truth.series.len() + truth.jobs.len();
        anyhow::ensure!(labels > 0, "{}: the file has no line, so there is nothing to score", path.display());
        Ok(truth)
    }

    /// First and last moment of the labels.
    pub fn span(&self) -> Option<(Time, Time)> {
        let of_series = self.series.values().map(|label| &label.contended);
        let all = of_series.chain(self.jobs.values().map(|label| &label.contended));
        let ends = all.flat_map(Stretches::iter);
        ends.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))
    }

    fn take(&mut self, content: &str, line: usize) -> Result<(), String> {
        match serde_json::from_str(content).map_err(|error| in_words(&error))? {
            Line::Series(given) => {
                let contended = stretches(&given.contended)?;
                let label = SeriesLabel { contended, slowdown_s: loss(given.slowdown_s)?, line };
                let earlier = self.series.remove(&given.series);
                self.series.insert(given.series, label.with(earlier));
                Ok(())
            }
            Line::Job(given) => {
                let job_id = match given.job_id {
                    Id::Text(text) => text,
                    Id::Number(number) => number.to_string(),
                };
                let contended = stretches(&given.contended)?;
                let label = JobLabel { contended, slowdown_s: loss(given.slowdown_s)?, line };
                let earlier = self.jobs.insert(job_id, label);
                earlier.map_or(Ok(()), |label| Err(format!("job_id is that of line {} already", label.line)))
            }
        }
    }
}

impl SeriesLabel {
    /// Together with an earlier line of the same series. The loss is known if both lines give it.
    fn with(self, earlier: Option<SeriesLabel>) -> SeriesLabel {
        let Some(earlier) = earlier else { return self };
        SeriesLabel {
            contended: Stretches::of(earlier.contended.iter().chain(self.contended.iter()).collect()),
            slowdown_s: earlier.slowdown_s.zip(self.slowdown_s).map(|(before, now)| before + now),
            line: earlier.line,
        }
    }
}

/// The parser's words without its line: each line is parsed alone, so it always says line 1.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.rsplit_once(" at line ").map_or(text.as_str(), |(words, _)| words);
    format!("this is no line of truth: {words}")
}

fn stretches(given: &[Interval]) -> Result<Stretches, String> {
    /// The year 2255, until which microseconds are exact.
    const LATEST_S: f64 = 9e9;
    let mut stretches = Vec::new();
    for (at, Interval { start, end }) in given.iter().enumerate() {
        if start > end {
            return Err(format!("contended[{at}] ends at {end}, before it begins at {start}"));
        }
        if *start < 0.0 || *end > LATEST_S {
            return Err(format!("contended[{at}] from {start} to {end} is not in seconds since the epoch"));
        }
        stretches.push((Time::from_seconds(*start), Time::from_seconds(*end)));
    }
    Ok(Stretches::of(stretches))
}

fn loss(slowdown_s: Option<f64>) -> Result<Option<f64>, String> {
    match slowdown_s {
        Some(lost) if lost < 0.0 => Err(format!("slowdown_s must be at least 0, not {lost}")),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Truth, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        std::fs::write(&path, text).unwrap();
        Truth::read(&path)
            .map_err(|error| format!("{error:#}").replace(&format!("{}", path.display()), "labels.jsonl"))
    }

    #[test]
    fn labels_by_hand_need_few_fields() {
        let text = "{\"kind\":\"series\",\"series\":\"a/b\",\"contended\":[{\"start\":5,\"end\":7.5},{\"start\":7,\"end\":9}]}\n\n\
                    {\"kind\":\"job\",\"job_id\":12,\"slowdown_s\":3}\n";
        let truth = read(text).unwrap();
        assert_eq!(truth.series["a/b"].contended.seconds(), 4.0);
        assert_eq!((truth.series["a/b"].slowdown_s, truth.jobs["12"].slowdown_s), (None, Some(3.0)));
        assert_eq!(truth.span(), Some((Time(5_000_000), Time(9_000_000))));
    }

    #[test]
    fn lines_of_one_series_are_united() {
        let line = |start: u32, lost: &str| {
            format!(
                "{{\"kind\":\"series\",\"series\":\"a\",\"contended\":[{{\"start\":{start},\"end\":9}}]{lost}}}\n"
            )
        };
        let truth = read(&(line(5, ",\"slowdown_s\":1") + &line(3, ",\"slowdown_s\":2"))).unwrap();
        assert_eq!((truth.series["a"].contended.seconds(), truth.series["a"].slowdown_s), (6.0, Some(3.0)));
        assert_eq!(
            read(&(line(5, "") + &line(3, ",\"slowdown_s\":2"))).unwrap().series["a"].slowdown_s,
            None
        );
    }

    #[test]
    fn what_the_simulator_writes_is_taken_whole() {
        let (scenario, start) = (samplers::scenario::ior(25, 0.05).unwrap(), Time(1_700_000_000_000_000));
        let mut cluster = samplers::Cluster::new(scenario, start, 1).unwrap();
        while cluster.tick(&mut samplers::Rows::default()) {}
        let mut text = Vec::new();
        cluster.truth().write_jsonl(&mut text).unwrap();
        let truth = read(&String::from_utf8(text).unwrap()).unwrap();
        assert_eq!((truth.series.len(), truth.jobs.len()), (cluster.truth().series.len(), 2));
    }

    #[test]
    fn bad_line_is_reported_with_file_line_and_field() {
        let series = |rest: &str| format!("\n{{\"kind\":\"series\",\"series\":\"a\",{rest}}}");
        let job = "{\"kind\":\"job\",\"job_id\":\"7\"}\n";
        for (text, want) in [
            (
                series("\"contended\":[{\"start\":9,\"end\":7}]"),
                "labels.jsonl:2: contended[0] ends at 7, before",
            ),
            (
                series("\"contended\":[],\"slowdown_s\":-1"),
                "labels.jsonl:2: slowdown_s must be at least 0, not -1",
            ),
            (
                series("\"contended\":[],\"slowdwn_s\":1"),
                "labels.jsonl:2: this is no line of truth: unknown field `slowdwn_s`",
            ),
            (
                series("\"contented\":[]"),
                "labels.jsonl:2: this is no line of truth: unknown field `contented`",
            ),
            (
                series("\"contended\":[{\"start\":1.7e12,\"end\":1.8e12}]"),
                "labels.jsonl:2: contended[0] from",
            ),
            (
                "{\"kind\":\"link\"}".to_string(),
                "labels.jsonl:1: this is no line of truth: unknown variant `link`",
            ),
            ("nonsense".to_string(), "labels.jsonl:1: this is no line of truth: expected"),
            (job.repeat(2), "labels.jsonl:2: job_id is that of line 1 already"),
            ("\n".to_string(), "labels.jsonl: the file has no line"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.starts_with(want) && !error.contains('\n'), "{error}");
        }
    }
}
