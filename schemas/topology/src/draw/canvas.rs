//! SVG text. All words are escaped here and nowhere else.

use std::fmt::Write;

/// Colours of classes and surfaces; light, printable, apart for every kind of colour vision.
pub(super) mod colour {
    pub const GROUND: &str = "#f6f8fa";
    pub const PANEL: &str = "#ffffff";
    pub const EDGE: &str = "#b9c4ce";
    pub const TEXT: &str = "#12222f";
    pub const MUTED: &str = "#5a6b79";
    pub const HOST: &str = "#dde6ee";
    pub const SWITCH: &str = "#1f5a8c";
    pub const SPINE: &str = "#6d5aa8";
    pub const EMPTY: &str = "#eef1f4";
    pub const GREEN: &str = "#2f8f4e";
    pub const BLACK: &str = "#2b2f33";
    pub const BLUE: &str = "#2c7be5";
    pub const LINE: &str = "#7c93a8";
}

/// A rectangle: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub(super) fn new(x: f64, y: f64, width: f64, height: f64) -> Area {
        Area { x, y, width, height }
    }

    pub(super) fn middle(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A picture in the making.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

impl Canvas {
    pub(super) fn rect(&mut self, area: Area, radius: f64, fill: &str, stroke: &str, title: &str) {
        let Area { x, y, width, height } = area;
        let _ = write!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}" fill="{fill}" stroke="{stroke}">"#
        );
        if !title.is_empty() {
            let _ = write!(self.body, "<title>{}</title>", escaped(title));
        }
        self.body.push_str("</rect>\n");
    }

    pub(super) fn line(&mut self, a: (f64, f64), b: (f64, f64), stroke: &str, width: f64, opacity: f64) {
        let _ = writeln!(
            self.body,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{stroke}" stroke-width="{width}" stroke-opacity="{opacity}"/>"#,
            a.0, a.1, b.0, b.1
        );
    }

    /// A bow from `a` to `b` that bends towards `bend`.
    pub(super) fn bow(&mut self, a: (f64, f64), bend: (f64, f64), b: (f64, f64), stroke: &str, width: f64) {
        let _ = writeln!(
            self.body,
            r#"<path d="M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}" fill="none" stroke="{stroke}" stroke-width="{width}" stroke-opacity="0.45"/>"#,
            a.0, a.1, bend.0, bend.1, b.0, b.1
        );
    }

    /// A surface for links too many to draw.
    pub(super) fn band(&mut self, corners: [(f64, f64); 4], fill: &str, title: &str) {
        let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            r#"<polygon points="{}" fill="{fill}" fill-opacity="0.22"><title>{}</title></polygon>"#,
            points.join(" "),
            escaped(title)
        );
    }

    /// `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: &str, fill: &str, words: &str) {
        let _ = writeln!(
            self.body,
            r#"<text x="{:.1}" y="{:.1}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{}</text>"#,
            at.0,
            at.1,
            escaped(words)
        );
    }

    /// The whole picture; `title` is what it shows, for screen readers.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, sans-serif\" role=\"img\" aria-label=\"{}\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{}</svg>\n",
            escaped(title),
            colour::GROUND,
            self.body
        )
    }
}

/// `text` such that it is nothing but text.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_leave_their_place() {
        assert_eq!(escaped("a<b>&\"'\u{7}"), "a&lt;b&gt;&amp;&quot;&#39; ");
    }
}
