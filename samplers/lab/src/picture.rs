//! A case as SVG: jobs as bars, below them how many links are contended in truth and how many are reported.

use super::outcome::CaseOutcome;
use super::play::{JobPlayed, Played};
use schemas::html::escape;
use std::fmt::Write;

/// Width of the drawing, in units of its own as all sizes here.
const WIDTH: f64 = 720.0;
/// Where time begins, right of the names.
const LEFT: f64 = 90.0;
/// Height of a job.
const BAR: f64 = 12.0;
/// Between two jobs.
const GAP: f64 = 4.0;
/// Jobs drawn.
const JOBS: usize = 12;
/// Height of the curves.
const CURVES: f64 = 90.0;
/// Below everything, for the axis.
const AXIS: f64 = 22.0;

/// The drawing of a case that was played.
pub(super) fn svg(case: &CaseOutcome, played: &Played) -> String {
    let jobs = &played.jobs[..played.jobs.len().min(JOBS)];
    let top = jobs.len() as f64 * (BAR + GAP) + GAP;
    let height = top + CURVES + AXIS;
    let scale = Scale { seconds: f64::from(played.seconds.max(1)) };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         font-family=\"sans-serif\" font-size=\"10\" role=\"img\" aria-label=\"{}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape(&case.name)
    );
    for (at, job) in jobs.iter().enumerate() {
        svg += &bar(job, &scale, GAP + at as f64 * (BAR + GAP));
    }
    svg += &curves(played, &scale, top);
    svg += &axis(&scale, top + CURVES);
    svg + "</svg>\n"
}

struct Scale {
    seconds: f64,
}

impl Scale {
    fn x(&self, second: f64) -> f64 {
        LEFT + (WIDTH - LEFT - 20.0) * second.clamp(0.0, self.seconds) / self.seconds
    }
}

/// The run of a job; what it takes alone is darker than what others add.
fn bar(job: &JobPlayed, scale: &Scale, top: f64) -> String {
    let end_s = job.end_s.unwrap_or(scale.seconds);
    let alone_s = (job.start_s + job.alone_s).min(end_s);
    let found = job.found.map_or("nothing".to_string(), |found| format!("{:.0} s", found.slowdown_s));
    let part = |from: f64, to: f64, fill: &str| {
        let (from, to) = (scale.x(from), scale.x(to));
        format!(
            "<rect x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{fill}\"/>\n",
            to - from
        )
    };
    let text = format!(
        "<text x=\"4\" y=\"{:.1}\">job {}</text>\n<title>job {}: lost {:.0} s to others, reported {found}</title>\n",
        top + BAR - 2.0,
        job.job_id,
        job.job_id,
        job.lost_others_s + job.lost_failover_s
    );
    format!("<g>{text}{}{}</g>\n", part(job.start_s, alone_s, "#3b6ea5"), part(alone_s, end_s, "#d9822b"))
}

fn curves(played: &Played, scale: &Scale, top: f64) -> String {
    let (truth, reported) = (&played.timeline.truth, &played.timeline.reported);
    let most = truth.iter().chain(reported).copied().max().unwrap_or(0).max(1);
    let y = |links: u32| top + CURVES - 8.0 - (CURVES - 24.0) * f64::from(links) / f64::from(most);
    let steps = |values: &[u32]| {
        let mut points = String::new();
        for (second, links) in values.iter().enumerate() {
            for x in [second, second + 1] {
                let _ = write!(points, "{:.1},{:.1} ", scale.x(x as f64), y(*links));
            }
        }
        points
    };
    let (left, right, base) = (scale.x(0.0), scale.x(scale.seconds), y(0));
    format!(
        "<polygon points=\"{left:.1},{base:.1} {}{right:.1},{base:.1}\" fill=\"#c9d7e6\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#c0392b\" stroke-width=\"1.5\"/>\n\
         <text x=\"4\" y=\"{:.1}\">contended</text>\n<text x=\"4\" y=\"{:.1}\">max {most}</text>\n\
         <text x=\"{left:.1}\" y=\"{:.1}\" fill=\"#5d7f9e\">filled: truth</text>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#c0392b\">line: reported by Tailback</text>\n",
        steps(truth),
        steps(reported),
        top + 26.0,
        top + 38.0,
        top + 11.0,
        left + 70.0,
        top + 11.0,
    )
}

fn axis(scale: &Scale, top: f64) -> String {
    let mut text = String::new();
    for part in 0..=6 {
        let second = scale.seconds * f64::from(part) / 6.0;
        let x = scale.x(second);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second:.0} s</text>",
            top + 12.0
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Timeline;

    #[test]
    fn names_are_escaped_and_an_empty_case_has_a_picture() {
        let case = CaseOutcome { name: "<script>".to_string(), played: None, adapted: None };
        let jobs = vec![JobPlayed { job_id: 1, end_s: Some(9.0), alone_s: 5.0, ..JobPlayed::default() }];
        let timeline = Timeline { truth: vec![0, 2, 2], reported: vec![0, 0, 1] };
        for played in [Played::default(), Played { seconds: 3, jobs, timeline, ..Played::default() }] {
            let svg = svg(&case, &played);
            assert!(
                svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("<script>"),
                "{svg}"
            );
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
