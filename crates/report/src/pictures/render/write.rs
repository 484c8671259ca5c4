//! Text on a picture.

use plotters::backend::DrawingBackend;
use plotters::element::Text;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

use super::{Drawn, Root, UNITS, units};
use crate::pictures::ink::Ink;
use crate::pictures::labels::{Side, Spot};
use crate::pictures::text::{FAMILY, clean};

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
    at: Spot,
    side: Side,
    (text, size, ink): (&str, f64, Ink),
) -> Drawn<(), DB> {
    let across = match side {
        Side::Start => HPos::Left,
        Side::Middle => HPos::Center,
        Side::End => HPos::Right,
    };
    let style = style(size, ink).pos(Pos::new(across, VPos::Center));
    let text: String = text.chars().map(clean).collect();
    root.draw(&Text::new(text, (units(at.0), units(at.1)), style))
}
