//! Seconds lost over the run, a lane for each of the worst resources, as SVG.

use crate::PostMortem;
use crate::labels::printable;
use crate::numbers::offset;
use schemas::Interval;
use schemas::html::escape;
use std::collections::BTreeMap;
use store::read::episodes::ResourceEpisode;

/// Lanes drawn.
const LANES: usize = 20;
/// Steps of the run in a lane.
const STEPS: usize = 120;
/// Width of the drawing, in units of its own as all sizes here.
const WIDTH: f64 = 1000.0;
/// Where lanes begin, right of their names.
const LEFT: f64 = 300.0;
/// Height of a lane: all of the time lost.
const LANE: f64 = 14.0;
/// Between two lanes.
const GAP: f64 = 6.0;

/// The drawing; empty where nothing was contended.
pub(crate) fn svg(facts: &PostMortem) -> String {
    let lanes = lanes(facts);
    if lanes.is_empty() || facts.run_s() <= 0.0 {
        return String::new();
    }
    let height = lanes.len() as f64 * (LANE + GAP) + 24.0;
    let step_s = facts.run_s() / STEPS as f64;
    let mut parts = vec![format!(
        "<section>\n<h2>When</h2>\n<p>Share of each {step_s:.1} s lost, for the resources that cost most.</p>\n\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"seconds lost over the run\">"
    )];
    for (at, (resource, episodes)) in lanes.iter().enumerate() {
        parts.push(lane(facts, resource, episodes, at as f64 * (LANE + GAP)));
    }
    parts.push(axis(facts.run_s(), height - 6.0));
    parts.push("</svg>\n</section>".to_string());
    parts.join("\n")
}

/// The resources that cost most by the lower end, each with its episodes, the worst first.
fn lanes(facts: &PostMortem) -> Vec<(&str, Vec<&ResourceEpisode>)> {
    let mut by_resource: BTreeMap<&str, Vec<&ResourceEpisode>> = BTreeMap::new();
    for episode in &facts.episodes {
        by_resource.entry(&episode.resource).or_default().push(episode);
    }
    let lost = |of: &[&ResourceEpisode]| of.iter().map(|e| facts.lost_in_run(e)).sum::<Interval>();
    let mut lanes: Vec<(Interval, &str, Vec<&ResourceEpisode>)> =
        by_resource.into_iter().map(|(resource, of)| (lost(&of), resource, of)).collect();
    lanes.sort_by(|a, b| b.0.by_lower_end(&a.0));
    lanes.truncate(LANES);
    lanes.into_iter().map(|(_, resource, of)| (resource, of)).collect()
}

fn lane(facts: &PostMortem, resource: &str, episodes: &[&ResourceEpisode], top: f64) -> String {
    let step_s = facts.run_s() / STEPS as f64;
    let width = (WIDTH - LEFT) / STEPS as f64;
    let mut parts = vec![
        format!("<text x=\"0\" y=\"{:.1}\">{}</text>", top + LANE - 3.0, escape(&printable(resource))),
        format!(
            "<rect class=\"lane\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{}\" height=\"1\"/>",
            top + LANE,
            WIDTH - LEFT
        ),
    ];
    for step in 0..STEPS {
        let from = facts.job.start.plus_seconds(step_s * step as f64);
        let to = facts.job.start.plus_seconds(step_s * (step + 1) as f64);
        let lost_s: f64 = episodes.iter().map(|e| e.episode.slowdown_between_s(from, to)).sum();
        let height = LANE * (lost_s / step_s).clamp(0.0, 1.0);
        if height > 0.0 {
            parts.push(format!(
                "<rect class=\"loss\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
                LEFT + width * step as f64,
                top + LANE - height,
            ));
        }
    }
    parts.join("\n")
}

fn axis(run_s: f64, y: f64) -> String {
    let mark = |share: f64, anchor: &str| {
        let x = LEFT + (WIDTH - LEFT) * share;
        format!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", offset(run_s * share))
    };
    [mark(0.0, "start"), mark(0.5, "middle"), mark(1.0, "end")].join("\n")
}
