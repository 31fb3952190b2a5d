//! A post-mortem as one page of HTML: no scripts, nothing from elsewhere, every name escaped.

use crate::labels::{cause, kind, metric};
use crate::numbers::{change, offset, percent, utc};
use crate::{
    Comparison, PostMortem, Stamp, advice, breakdown, caused, headline, summary, timeline, unknowns,
};
use schemas::html::escape;
use schemas::{Cause, CauseShare, JobResult};

/// Resources in the table; JSON has all of them.
const ROWS: usize = 50;

/// Content of the page's style element.
pub const PAGE_STYLE: &str = concat!("\n", include_str!("page.css"));

impl PostMortem {
    /// The page; `compared` is a comparison with an earlier run.
    pub fn html(&self, compared: Option<&Comparison>, stamp: &Stamp) -> String {
        let mut parts = body(self);
        if let Some(with) = compared {
            let title = format!("Compared with job {}", escape(&with.b));
            parts.push(section(&title, &table(&with.cells())));
        }
        parts.push(footer(self, stamp));
        parts.retain(|part| !part.is_empty());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Job {}: what it lost to contention</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n{}\n</body>\n</html>\n",
            escape(self.job.job_id.as_str()),
            parts.join("\n")
        )
    }
}

fn body(facts: &PostMortem) -> Vec<String> {
    let mut body = vec![format!("<h1>{}</h1>", escape(&headline::headline(facts))), head(facts)];
    match facts.seen() {
        Some(result) => {
            body.push(list("What was lost", &[summary::lost(facts, result)]));
            body.push(timeline::svg(facts));
            body.push(causes(facts, result));
        }
        None => body.push(list(
            "What was lost",
            &["Unknown: no data of this job. Whether it met contention is unknown.".to_string()],
        )),
    }
    body.push(list("Breakdown", &breakdown::factors(facts)));
    body.push(regions(facts));
    body.push(episodes(facts));
    body.push(list("Caused: what it cost others", &caused::lines(facts)));
    body.push(list("Unknown", &unknowns::sentences(facts)));
    body.push(list("Advice", &advice::advice(facts)));
    body
}

/// The job's address on the page, version and date.
fn footer(facts: &PostMortem, stamp: &Stamp) -> String {
    let link = stamp.permalink(facts.job.job_id.as_str()).map_or_else(String::new, |link| {
        let link = escape(&link);
        format!("<a href=\"{link}\">{link}</a><br>")
    });
    format!("<footer>{link}{}</footer>", escape(&stamp.origin()))
}

fn section(title: &str, content: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n{content}\n</section>")
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("<p>{}</p>", escape(line))).collect();
    section(title, &lines.join("\n"))
}

/// The first row is the head.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let row = |cells: &[String; N], tag: &str| {
        let cells: Vec<String> = cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
        format!("<tr>{}</tr>", cells.concat())
    };
    let Some((head, body)) = rows.split_first() else {
        return String::new();
    };
    let body: Vec<String> = body.iter().map(|cells| row(cells, "td")).collect();
    format!("<table>\n<thead>{}</thead>\n<tbody>\n{}\n</tbody>\n</table>", row(head, "th"), body.join("\n"))
}

fn head(facts: &PostMortem) -> String {
    let job = &facts.job;
    let end = match job.end {
        Some(end) if job.end_presumed => format!("{} at the latest (end not reported)", utc(end)),
        Some(end) => utc(end),
        None => format!("no end by {}", utc(facts.until)),
    };
    let rows = [
        ["job", job.job_id.as_str()],
        ["name", &job.name],
        ["label", &job.label],
        ["user", &job.user],
        ["nodes", &summary::nodes(facts)],
        ["ran", &format!("{} to {end}, {:.0} s", utc(job.start), facts.run_s())],
    ];
    let known = rows.into_iter().filter(|[_, value]| !value.is_empty());
    let lines: Vec<String> =
        known.map(|[word, value]| format!("<dt>{word}</dt><dd>{}</dd>", escape(value))).collect();
    format!("<dl>\n{}\n</dl>", lines.join("\n"))
}

fn causes(facts: &PostMortem, result: &JobResult) -> String {
    if result.causes.is_empty() || result.slowdown_s <= 0.0 {
        return String::new();
    }
    let head = ["share", "seconds, 95%", "cause", "kind", "confidence"].map(String::from);
    let row = |c: &CauseShare| {
        let sure = facts.confidence(&c.series_or_job).map(percent).unwrap_or_default();
        [
            percent(c.share),
            result.lost_s().times(c.share).to_string(),
            if result.slowdown_lo_s > 0.0 || c.cause == Cause::Unknown {
                cause(c)
            } else {
                format!("suspected: {}", cause(c))
            },
            kind(c.kind).to_string(),
            sure,
        ]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(result.causes.iter().map(row)).collect();
    section("Causes", &table(&rows))
}

fn regions(facts: &PostMortem) -> String {
    if facts.regions.is_empty() {
        return String::new();
    }
    let head = ["from", "lasting", "region", "lost", "share", "cause", "kind", "seen"].map(String::from);
    let rows = breakdown::merged(&facts.regions).into_iter().map(|(r, made)| {
        let from = schemas::Time::from_seconds(r.from).seconds_since(facts.job.start);
        [
            offset(from),
            format!("{:.0} s{}", r.until - r.from, if r.open { "+" } else { "" }),
            r.name.clone(),
            r.lost().map_or_else(
                || "makes its load".to_string(),
                |lost| format!("{lost}{}", breakdown::makes_too(made)),
            ),
            percent(r.share),
            breakdown::largest_cause(r),
            kind(r.kind).to_string(),
            percent(r.completeness),
        ]
    });
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(rows).collect();
    section("Where", &table(&rows))
}

fn episodes(facts: &PostMortem) -> String {
    if facts.episodes.is_empty() {
        return String::new();
    }
    let head = ["from", "lasting", "resource", "what", "usual -> worst", "lost", "seen"].map(String::from);
    let rows = facts.worst_episodes(ROWS).into_iter().map(|of| {
        let e = &of.episode;
        [
            offset(e.start.seconds_since(facts.job.start)),
            format!("{:.0} s{}", e.duration_s(), if e.open { "+" } else { "" }),
            of.resource.clone(),
            metric(of.metric).to_string(),
            change(of.metric, e.baseline, e.peak),
            format!("{:.1} s [{:.1}, {:.1}]", e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s),
            percent(e.completeness),
        ]
    });
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(rows).collect();
    let more = facts.episodes.len().saturating_sub(ROWS);
    let rest = if more > 0 {
        format!("\n<p>and {more} that cost less; --json lists them all</p>")
    } else {
        String::new()
    };
    section("Episodes", &(table(&rows) + &rest))
}
