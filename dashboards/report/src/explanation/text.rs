//! An explanation as text.

use super::AROUND_S;
use crate::Explanation;
use crate::labels::{cause, cause_word, kind, metric, printable};
use crate::numbers::{change, figure, offset, percent, utc};
use crate::wrapping::fitted;
use schemas::{Evidence, Time};
use store::read::episodes::MissingData;

impl Explanation {
    /// The rule that decided, in sentences with its numbers.
    pub fn why(&self) -> Vec<String> {
        why(self)
    }

    /// The facts about the episode that are missing, in sentences.
    pub fn unknown(&self) -> Vec<String> {
        missing(self)
    }

    /// What a terminal of `width` columns shows.
    pub fn text(&self, width: usize) -> String {
        let mut lines: Vec<String> = head(self).iter().flat_map(|line| fitted(line, width)).collect();
        for (title, part) in [
            ("Why", why(self)),
            ("Samples around the onset", samples(self)),
            ("Causes, by share of the loss on this series", causes(self)),
            ("Region", region(self)),
            ("Unknown", missing(self)),
        ] {
            if !part.is_empty() {
                lines.extend([String::new(), title.to_string()]);
                lines.extend(part.into_iter().flat_map(|line| fitted(&format!("  {line}"), width)));
            }
        }
        lines.join("\n") + "\n"
    }
}

fn at(seconds: f64) -> String {
    utc(Time::from_seconds(seconds))
}

fn head(facts: &Explanation) -> Vec<String> {
    let end = if facts.open {
        format!("and is ongoing at {}", at(facts.end))
    } else {
        format!("to {}", at(facts.end))
    };
    let mut lines = vec![
        format!("Episode {}  {}  {}", facts.episode, printable(&facts.series), metric(facts.metric)),
        format!("  lasted {} {end}, {:.0} s", at(facts.start), facts.end - facts.start),
        format!(
            "  lost   {:.1} s [{:.1}, {:.1}], completeness {}",
            facts.slowdown_s,
            facts.slowdown_lo_s,
            facts.slowdown_hi_s,
            percent(facts.completeness)
        ),
    ];
    if let (Some(baseline), Some(peak)) = (facts.baseline, facts.peak) {
        lines.push(format!("  mean   {} (usual -> worst)", change(facts.metric, baseline, peak)));
    }
    lines
}

/// The rule that decided, in words, with its numbers.
fn why(facts: &Explanation) -> Vec<String> {
    let Some(sample) = facts.decided() else {
        return vec!["Which sample decided is not known: none of the onset is kept.".to_string()];
    };
    let (way, side) = if facts.falls() { ("fell to", "below") } else { ("rose to", "above") };
    let word = |value: Option<f64>| value.map_or_else(|| "?".to_string(), |v| figure(facts.metric, v));
    let mut lines = vec![
        format!(
            "The rule: contended from when the windowed mean lies {side} its bound until it returns beyond the bound that ends it."
        ),
        match sample.bound {
            Some(_) => format!(
                "At {} the mean {way} {}, {side} the bound of {}; usual is {}.",
                at(sample.time),
                word(sample.mean),
                word(sample.bound),
                word(sample.baseline)
            ),
            None => format!(
                "At {} the mean over the longer window, of four times as many readings, passed its bound; that of the short one is {}, \
                 usual is {}.",
                at(sample.time),
                word(sample.mean),
                word(sample.baseline)
            ),
        },
    ];
    let before_s = sample.time - facts.start;
    if before_s > 1.5 {
        lines.push(format!("Its start was dated back by {before_s:.0} s to the change point."));
    }
    lines
}

fn samples(facts: &Explanation) -> Vec<String> {
    if facts.samples.is_empty() {
        return Vec::new();
    }
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |v| figure(facts.metric, v));
    let mut rows = vec![["from onset", "reading", "mean", "usual", "bound", "state"].map(String::from)];
    rows.extend(facts.samples.iter().map(|s| {
        let ticks = if s.ticks > 1 { format!(" ({} ticks)", s.ticks) } else { String::new() };
        let from_onset = offset(s.time - facts.start);
        [
            from_onset,
            figure(s.value),
            figure(s.mean),
            figure(s.baseline),
            figure(s.bound),
            s.state.clone() + &ticks,
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

fn causes(facts: &Explanation) -> Vec<String> {
    let line = |c: &schemas::CauseShare| {
        let gainers = facts.region.iter().flat_map(|region| &region.gainers);
        let sure = gainers.filter(|g| g.series_or_job == c.series_or_job && !c.series_or_job.is_empty());
        let sure = sure.map(|g| format!(", confidence {}", percent(g.confidence))).next().unwrap_or_default();
        format!("{:>4}  {} ({}{sure})", percent(c.share), cause(c), kind(c.kind))
    };
    facts.causes.iter().take(10).map(line).collect()
}

fn region(facts: &Explanation) -> Vec<String> {
    let Some(of) = &facts.region else {
        return Vec::new();
    };
    let source = of
        .gainers
        .first()
        .map_or_else(|| of.cause.name().to_string(), |g| cause_word(g.cause, &g.series_or_job));
    let sure = percent(of.confidence);
    let mut lines = vec![format!(
        "{}: {}, {} links at most, {}; largest source {source}, confidence {sure}",
        of.id,
        printable(&of.name),
        of.links_most,
        kind(of.kind),
    )];
    lines.extend(of.gainers.iter().map(|g| {
        let evidence: Vec<String> = g.evidence.iter().map(|e| evidence(*e)).collect();
        let (share, sure) = (percent(g.share), percent(g.confidence));
        let of = cause_word(g.cause, &g.series_or_job);
        format!("{share:>4}  {of}, confidence {sure}: {}", evidence.join("; "))
    }));
    lines
}

/// Evidence in words, with whether it was measured.
fn evidence(of: Evidence) -> String {
    let words = match of {
        Evidence::NodesOnRouter => "its nodes hang on a switch of the region",
        Evidence::FlowsCross => "its flows cross the links",
        Evidence::LustreBytes => "its nodes write to Lustre",
        Evidence::IoEndpoint => "links of I/O servers are among them",
        Evidence::ChangePoint => "its traffic rose when the region began",
        Evidence::ForeignTraffic => "adaptive routing takes foreign traffic through the group",
        Evidence::LinkDown => "a parallel link went down before",
        Evidence::LinkNarrowed => "it stalls while it carries less than before",
    };
    format!("{words} ({})", if of.is_measured() { "measured" } else { "inferred" })
}

fn missing(facts: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    if facts.completeness < 1.0 {
        let share = percent(1.0 - facts.completeness);
        lines.push(format!("{share} of its ticks are missing; what was lost during them is not counted."));
    }
    lines.extend(facts.silences.iter().map(silence));
    if facts.samples.is_empty() {
        lines.push(format!("No sample within {AROUND_S:.0} s of its onset is kept any more."));
    }
    let named: f64 =
        facts.causes.iter().filter(|c| c.cause != schemas::Cause::Unknown).map(|c| c.share).sum();
    if named < 0.995 {
        lines.push(format!("The cause of {} of its loss is unknown.", percent(1.0 - named.clamp(0.0, 1.0))));
    }
    if facts.region.is_none() {
        lines.push("It belongs to no region that is known.".to_string());
    }
    lines
}

fn silence(of: &MissingData) -> String {
    let until = of.until.map_or_else(|| "and still does".to_string(), |until| format!("until {}", at(until)));
    format!("{} sent no {} from {} {until}.", printable(&of.producer), printable(&of.schema), at(of.from))
}
