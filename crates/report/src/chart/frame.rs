//! The plot's frame: grid, axes, tick labels and titles.

use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Size, ticks};

/// A plot's two axes and what to call them.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// Left to right.
    pub(crate) x: Scale,
    /// Bottom to top.
    pub(crate) y: Scale,
    /// What the horizontal axis shows, with its unit; none for a panel that shares the axis of the one below.
    pub(crate) x_title: Option<&'a str>,
    /// What the vertical axis shows, with its unit; it stands above the axis, where it can be read without
    /// turning.
    pub(crate) y_title: &'a str,
    /// Values to mark on the horizontal axis with their labels; round ones if there are none.
    pub(crate) x_marks: Vec<(f64, String)>,
}

impl Frame<'_> {
    /// Draws the frame; what it frames comes on top of it.
    pub(crate) fn draw(&self, svg: &mut Svg, size: Size) {
        let (left, right) = self.x.range();
        let (bottom, top) = self.y.range();
        svg.text("axis-title", (6.0, top - 12.0), Anchor::Start, self.y_title);
        for value in ticks::ticks(&self.y, 5) {
            let y = self.y.place(value);
            svg.line("grid", (left, y), (right, y));
            svg.text("tick", (left - 6.0, y + 4.0), Anchor::End, &ticks::label(value));
        }
        let marks = self.marks(size);
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &marks {
            let x = self.x.place(*value);
            svg.line("grid", (x, bottom), (x, top));
            let half = label.chars().count() as f64 * 3.8;
            if self.x_title.is_some() && x - half >= free_from {
                svg.text("tick", (x, bottom + 16.0), Anchor::Middle, label);
                free_from = x + half + 4.0;
            }
        }
        svg.line("axis", (left, bottom), (right, bottom));
        if let Some(title) = self.x_title {
            let middle = f64::midpoint(left, right);
            svg.text("axis-title", (middle, bottom + 36.0), Anchor::Middle, title);
        }
    }

    fn marks(&self, size: Size) -> Vec<(f64, String)> {
        if !self.x_marks.is_empty() {
            return self.x_marks.clone();
        }
        let round = ticks::ticks(&self.x, size.steps()).into_iter();
        round.map(|value| (value, ticks::label(value))).collect()
    }
}
