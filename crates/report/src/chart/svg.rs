//! A writer of SVG text. Every foreign string goes through [`escape`]; every coordinate has one decimal, so
//! that the same drawing is the same bytes on every machine.

use std::fmt::{Display, Write};

/// A drawing in the making.
#[derive(Debug)]
pub(crate) struct Svg {
    out: String,
}

/// On which side of its place a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A place on the drawing: right of and below its upper left corner.
pub(crate) type Place = (f64, f64);

impl Svg {
    /// An empty drawing; `title` and `description` are what someone hears who cannot see it.
    pub(crate) fn new(class: &str, (width, height): Place, title: &str, description: &str) -> Self {
        let mut svg = Self { out: String::new() };
        svg.put(format_args!(
            "<svg class=\"{class}\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n<desc>{}</desc>\n",
            escape(title),
            escape(description)
        ));
        svg
    }

    /// An empty drawing that is a file of its own: with its looks, and paper under it.
    pub(crate) fn alone(
        (width, height): Place,
        title: &str,
        description: &str,
        style: &str,
    ) -> Self {
        let mut svg = Self { out: String::new() };
        svg.put(format_args!(
            "<svg role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n<desc>{}</desc>\n<style>\n{style}</style>\n\
             <rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n",
            escape(title),
            escape(description)
        ));
        svg
    }

    /// A straight line.
    pub(crate) fn line(&mut self, class: &str, (x1, y1): Place, (x2, y2): Place) {
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n"
        ));
    }

    /// A line through several places; nothing where there are fewer than two.
    pub(crate) fn polyline(&mut self, class: &str, places: &[Place]) {
        if places.len() < 2 {
            return;
        }
        let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.put(format_args!("<polyline class=\"{class}\" points=\"{points}\"/>\n"));
    }

    /// A dot or a ring. `tip` is shown by a browser when the pointer rests on it.
    pub(crate) fn circle(&mut self, class: &str, (x, y): Place, radius: f64, tip: &str) {
        let tip = escape(tip);
        self.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{tip}</title></circle>\n"
        ));
    }

    /// A line of text whose baseline is at `place`.
    pub(crate) fn text(&mut self, class: &str, (x, y): Place, anchor: Anchor, text: &str) {
        let (anchor, text) = (anchor.as_str(), escape(text));
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"
        ));
    }

    /// The finished text.
    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    fn put(&mut self, what: impl Display) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.out, "{what}");
    }
}

/// `text` with nothing left in it that means anything to HTML or XML, in content or in a quoted attribute. Control
/// characters, which XML forbids, become the replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::{Anchor, Svg, escape};

    #[test]
    fn a_drawing_is_well_formed_whatever_its_texts() {
        let mut svg = Svg::new("wide", (10.0, 20.0), "a<b", "\"&\"");
        svg.text("t", (1.0, 2.04), Anchor::Middle, "<script>");
        let expected = "<svg class=\"wide\" role=\"img\" viewBox=\"0 0 10 20\" \
            xmlns=\"http://www.w3.org/2000/svg\">\n<title>a&lt;b</title>\n<desc>&quot;&amp;&quot;</desc>\n\
            <text class=\"t\" x=\"1.0\" y=\"2.0\" text-anchor=\"middle\">&lt;script&gt;</text>\n</svg>\n";
        assert_eq!(svg.finish(), expected);
    }

    proptest! {
        #![proptest_config(Config {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            ..Config::default()
        })]
        #[test]
        fn escaped_text_has_no_markup(text in any::<String>()) {
            let escaped = escape(&text);
            let forbidden = |c: char| "<>\"'".contains(c) || c.is_control();
            prop_assert!(!escaped.contains(forbidden));
            let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            let known = entities.iter().map(|e| escaped.matches(e).count()).sum::<usize>();
            prop_assert_eq!(escaped.matches('&').count(), known);
        }
    }
}
