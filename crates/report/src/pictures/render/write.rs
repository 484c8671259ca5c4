//! Text on a picture.

use plotters::backend::DrawingBackend;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

use super::{DrawResult, Root, UNITS, units};
use crate::pictures::ink::Ink;
use crate::pictures::labels::{LabelPlace, Lines, PixelPoint, Side};
use crate::pictures::text::{FAMILY, clean, width};

/// plotters takes a size for that of a line, and writes its em into a drawing.
const LINE_PER_EM: f64 = 1.24;

/// The style of texts whose em is `size` pixels.
pub(super) fn style(size: f64, ink: Ink) -> TextStyle<'static> {
    let style = TextStyle::from((FAMILY, size * UNITS * LINE_PER_EM).into_font());
    TextStyle { color: ink.rgb().to_backend_color(), ..style }
}

/// A line of text whose middle is as high as `at`.
pub(super) fn text<DB: DrawingBackend>(
    root: &Root<DB>,
    at: PixelPoint,
    side: Side,
    text: &str,
    size: f64,
    ink: Ink,
) -> DrawResult<(), DB> {
    let across = match side {
        Side::Start => HPos::Left,
        Side::Middle => HPos::Center,
        Side::End => HPos::Right,
    };
    let style = style(size, ink).pos(Pos::new(across, VPos::Center));
    let text: String = text.chars().map(clean).collect();
    root.draw(&Text::new(text, (units(at.0), units(at.1)), style))
}

/// A label; with paper behind it where it lies on a line.
pub(super) fn label<DB: DrawingBackend>(
    root: &Root<DB>,
    LabelPlace { spot: (x, y), side, lines }: LabelPlace,
    words: &str,
    size: f64,
    ink: Ink,
) -> DrawResult<(), DB> {
    if lines == Lines::Covered {
        let wide = width(words, size);
        let left = match side {
            Side::Start => x,
            Side::Middle => x - wide / 2.0,
            Side::End => x - wide,
        };
        let corners = [(left - 1.0, y - size / 2.0), (left + wide + 1.0, y + size / 2.0)];
        let corners = corners.map(|(x, y)| (units(x), units(y)));
        root.draw(&Rectangle::new(corners, Ink::Paper.rgb().mix(0.75).filled()))?;
    }
    text(root, (x, y), side, words, size, ink)
}
