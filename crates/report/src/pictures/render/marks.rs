//! Lines, dots and boxes at places in pixels.

use plotters::backend::DrawingBackend;
use plotters::element::{Circle, DashedPathElement, PathElement, Polygon, Rectangle};
use plotters::style::{Color, ShapeStyle};

use super::{DrawResult, Root, units};
use crate::pictures::ink::Ink;
use crate::pictures::labels::PixelPoint;
use crate::pictures::sheet::{DotShape, Stroke};

/// A place in units.
fn place((x, y): PixelPoint) -> (i32, i32) {
    (units(x), units(y))
}

fn stroke(ink: Ink, width: f64) -> ShapeStyle {
    ink.rgb().stroke_width(units(width).unsigned_abs())
}

/// A line; nothing where there are fewer than two places.
pub(super) fn path<DB: DrawingBackend>(
    root: &Root<DB>,
    through: &[PixelPoint],
    look: Stroke,
) -> DrawResult<(), DB> {
    if through.len() < 2 {
        return Ok(());
    }
    let places: Vec<(i32, i32)> = through.iter().copied().map(place).collect();
    let style = stroke(look.ink, look.width);
    match look.dash.lengths() {
        None => root.draw(&PathElement::new(places, style)),
        Some((dash, gap)) => {
            root.draw(&DashedPathElement::new(places, units(dash), units(gap), style))
        }
    }
}

/// A dot, a circle or a ring.
pub(super) fn circle<DB: DrawingBackend>(
    root: &Root<DB>,
    at: PixelPoint,
    ink: Ink,
    shape: DotShape,
) -> DrawResult<(), DB> {
    let radius = units(shape.radius());
    match shape {
        DotShape::Full | DotShape::Small => {
            // Paper around a dot keeps it apart from the line that it lies on.
            root.draw(&Circle::new(place(at), radius + units(1.5), Ink::Paper.rgb().filled()))?;
            root.draw(&Circle::new(place(at), radius, ink.rgb().filled()))
        }
        DotShape::Point => root.draw(&Circle::new(place(at), radius, ink.rgb().mix(0.6).filled())),
        DotShape::Hollow => {
            root.draw(&Circle::new(place(at), radius, Ink::Paper.rgb().filled()))?;
            root.draw(&Circle::new(place(at), radius, stroke(ink, 2.0)))
        }
        DotShape::Ring => root.draw(&Circle::new(place(at), radius, stroke(ink, 2.5))),
    }
}

/// The box between two corners; a whisker with ends where it has no width or no height.
pub(super) fn interval<DB: DrawingBackend>(
    root: &Root<DB>,
    from: PixelPoint,
    to: PixelPoint,
    ink: Ink,
) -> DrawResult<(), DB> {
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    let line = stroke(ink, 1.25);
    let draw =
        |a: PixelPoint, b: PixelPoint| root.draw(&PathElement::new(vec![place(a), place(b)], line));
    if right - left < 0.5 {
        let x = f64::midpoint(left, right);
        draw((x, top), (x, bottom))?;
        draw((x - 4.0, top), (x + 4.0, top))?;
        return draw((x - 4.0, bottom), (x + 4.0, bottom));
    }
    if bottom - top < 0.5 {
        let y = f64::midpoint(top, bottom);
        draw((left, y), (right, y))?;
        draw((left, y - 4.0), (left, y + 4.0))?;
        return draw((right, y - 4.0), (right, y + 4.0));
    }
    let corners = [place((left, top)), place((right, bottom))];
    root.draw(&Rectangle::new(corners, ink.rgb().mix(0.14).filled()))?;
    let [a, b, c, d] = [(left, top), (right, top), (right, bottom), (left, bottom)].map(place);
    root.draw(&PathElement::new(vec![a, b, c, d, a], ink.rgb().mix(0.7).stroke_width(4)))
}

/// An area that is filled.
pub(super) fn area<DB: DrawingBackend>(
    root: &Root<DB>,
    corners: impl IntoIterator<Item = PixelPoint>,
    ink: Ink,
) -> DrawResult<(), DB> {
    let corners: Vec<(i32, i32)> = corners.into_iter().map(place).collect();
    root.draw(&Polygon::new(corners, ink.rgb().filled()))
}
