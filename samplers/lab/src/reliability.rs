//! A reliability diagram as SVG: how often intervals should hold the truth, and how often they do.

use super::calibration::{LEVELS, Line};
use std::fmt::Write;

/// Side of the square of shares, in units of its own as all sizes here.
const SIDE: f64 = 280.0;
/// Left of the square, for its labels.
const LEFT: f64 = 64.0;
const TOP: f64 = 14.0;
/// Below the square.
const BELOW: f64 = 44.0;
/// Right of the square, for the legend.
const RIGHT: f64 = 210.0;

/// The diagram: a dot for each kind and level, and all of them with a 95% interval. Above the diagonal intervals are
/// wider than they need to be, below it they promise too much.
pub(super) fn svg(lines: &[Line]) -> String {
    let (width, height) = (LEFT + SIDE + RIGHT, TOP + SIDE + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         font-family=\"sans-serif\" font-size=\"11\" role=\"img\" aria-label=\"Reliability of intervals\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    svg += &frame();
    for line in lines {
        for (level, (said, _)) in LEVELS.iter().enumerate() {
            if let Some([held, ..]) = line.calibration.share(level) {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"#3b6ea5\" fill-opacity=\"0.35\"><title>{}</title></circle>",
                    x(*said),
                    y(held),
                    schemas::html::escape(&format!(
                        "{}: {:.0}% of {}",
                        line.kind,
                        100.0 * held,
                        line.calibration.intervals
                    ))
                );
            }
        }
    }
    svg + &all(&Line::all(lines)) + &legend() + "</svg>\n"
}

fn x(share: f64) -> f64 {
    LEFT + SIDE * share
}

fn y(share: f64) -> f64 {
    TOP + SIDE * (1.0 - share)
}

/// Axes, grid at the levels, and the diagonal.
fn frame() -> String {
    let mut svg = format!(
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#9ca3af\"/>\n\
         <line x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{2:.1}\" y2=\"{3:.1}\" stroke=\"#6b7280\" stroke-dasharray=\"4 3\"/>\n",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0)
    );
    for (said, _) in LEVELS {
        let (at_x, at_y) = (x(said), y(said));
        let _ = write!(
            svg,
            "<path d=\"M{at_x:.1} {:.1}V{:.1}M{LEFT} {at_y:.1}H{:.1}\" stroke=\"#e5e7eb\"/>\n\
             <text x=\"{at_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{said:.0}%</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{said:.0}%</text>\n",
            y(0.0),
            y(1.0),
            x(1.0),
            y(0.0) + 15.0,
            LEFT - 6.0,
            at_y + 4.0,
            said = 100.0 * said,
        );
    }
    let middle = TOP + SIDE / 2.0;
    svg + &format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">said to hold the truth</text>\n\
         <text x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle:.1})\">hold the truth</text>\n",
        x(0.5),
        y(0.0) + 34.0
    )
}

/// All kinds together: a line through the levels, and the interval of each share.
fn all(line: &Line) -> String {
    let mut points = String::new();
    let mut marks = String::new();
    for (level, (said, _)) in LEVELS.iter().enumerate() {
        if let Some([held, lo, hi]) = line.calibration.share(level) {
            let (at, held_y) = (x(*said), y(held));
            let _ = write!(points, "{at:.1},{held_y:.1} ");
            let _ = write!(
                marks,
                "<path d=\"M{at:.1} {:.1}V{:.1}\" stroke=\"#c0392b\" stroke-width=\"2\"/>\n\
                 <circle cx=\"{at:.1}\" cy=\"{held_y:.1}\" r=\"4.5\" fill=\"#c0392b\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#c0392b\">{:.0}%</text>\n",
                y(lo),
                y(hi),
                at - 8.0,
                held_y + 4.0,
                100.0 * held
            );
        }
    }
    format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"#c0392b\"/>\n{marks}")
}

fn legend() -> String {
    let left = x(1.0) + 14.0;
    let text = |row: f64, fill: &str, words: &str| {
        format!("<text x=\"{left:.1}\" y=\"{:.1}\" fill=\"{fill}\">{words}</text>\n", TOP + 16.0 * row)
    };
    text(1.0, "#c0392b", "all kinds, with 95% interval")
        + &text(2.0, "#3b6ea5", "a dot for each kind")
        + &text(3.0, "#6b7280", "dashed: held as often as said")
        + &text(4.0, "#6b7280", "above: wider than needed")
        + &text(5.0, "#6b7280", "below: promises too much")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibration;

    #[test]
    fn kinds_are_escaped_and_a_diagram_without_intervals_is_drawn() {
        let calibration = Calibration { intervals: 4, held: [2, 3, 4], ..Calibration::default() };
        for lines in [Vec::new(), vec![Line { kind: "<b>".to_string(), calibration }]] {
            let svg = svg(&lines);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("<b>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
