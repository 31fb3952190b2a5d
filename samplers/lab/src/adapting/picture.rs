//! The first seed of a case with jobs that ask, as SVG: two bars a job, without asking and with.

use super::saved::{Activity, Adapted, Word};
use schemas::html::escape;

/// Width of the drawing, in units of its own as all sizes here.
const WIDTH: f64 = 720.0;
/// Where time begins, right of the names.
const LEFT: f64 = 110.0;
/// Height of a bar.
const BAR: f64 = 12.0;
/// From one bar to the next.
const LINE: f64 = 15.0;
/// Above the first bar, for the key.
const TOP: f64 = 20.0;
/// Below the last one, for the axis.
const AXIS: f64 = 22.0;
/// What jobs do, by colour.
const KEY: [(Word, &str, &str); 4] = [
    (Word::Computes, "#c9d7e6", "computes"),
    (Word::Owes, "#8fb58a", "a write is set aside"),
    (Word::Writes, "#3b6ea5", "writes"),
    (Word::Contended, "#d9822b", "writes, contended in truth"),
];

/// The drawing of a case.
pub fn svg(name: &str, adapted: &Adapted) -> String {
    let ends = adapted.first.iter().flatten().flatten().map(|activity| activity.to_s);
    let seconds = f64::from(ends.max().unwrap_or(1));
    let x = |second: u32| LEFT + (WIDTH - LEFT - 20.0) * f64::from(second) / seconds;
    let bottom = TOP + LINE * 2.0 * adapted.first.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" width=\"{WIDTH}\" \
         font-family=\"sans-serif\" font-size=\"10\" role=\"img\" aria-label=\"{}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        bottom + AXIS,
        escape(name)
    );
    for (place, (_, fill, words)) in KEY.iter().enumerate() {
        let left = LEFT + 150.0 * place as f64;
        svg += &format!(
            "<rect x=\"{left}\" y=\"5\" width=\"9\" height=\"9\" fill=\"{fill}\"/><text x=\"{}\" y=\"13\">{words}</text>\n",
            left + 13.0
        );
    }
    for (at, ways) in adapted.first.iter().enumerate() {
        let job_id = adapted.jobs.get(at).map_or(0, |job| job.job_id);
        for (way, (activities, words)) in ways.iter().zip(["", ", asking"]).enumerate() {
            let top = TOP + LINE * (2 * at + way) as f64;
            svg += &format!("<text x=\"4\" y=\"{:.1}\">job {job_id}{words}</text>\n", top + BAR - 2.0);
            svg += &activities.iter().map(|activity| bar(activity, &x, top)).collect::<String>();
        }
    }
    for part in 0..=6 {
        let second = (seconds * f64::from(part) / 6.0) as u32;
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second} s</text>\n",
            x(second),
            bottom + 14.0
        );
    }
    svg + "</svg>\n"
}

fn bar(activity: &Activity, x: &impl Fn(u32) -> f64, top: f64) -> String {
    let fill = KEY.iter().find(|(word, ..)| *word == activity.word).map_or("#000", |(_, fill, _)| *fill);
    let (from, to) = (x(activity.from_s), x(activity.to_s));
    format!(
        "<rect x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{fill}\"/>\n",
        to - from
    )
}
