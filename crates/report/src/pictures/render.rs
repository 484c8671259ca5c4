//! From a sheet to a drawing, by plotters. Everything is drawn in quarters of a pixel, since plotters places things in whole
//! numbers and a smooth curve in whole pixels is not smooth.

mod frame;
mod key;
mod marks;
mod write;

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};

use super::ink::Ink;
use super::labels::Side;
use super::sheet::Sheet;
use super::text;

/// How many units there are to a pixel.
pub(super) const UNITS: f64 = 4.0;

/// The sizes of text in pixels.
const TITLE: f64 = 22.0;
const SUBTITLE: f64 = 15.0;
const AXIS: f64 = 15.0;
pub(super) const TICK: f64 = 14.0;

/// What is left free around everything.
const MARGIN: f64 = 24.0;

/// What the titles take, and what is left free around the key.
const HEAD: f64 = 72.0;
const UNDER: f64 = 14.0;

/// What a drawing gives where it fails.
type DrawResult<T, DB> = Result<T, DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// The whole picture, as plotters has it.
type Root<DB> = DrawingArea<DB, Shift>;

/// A whole number of units.
fn units(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

/// The size of the picture in pixels: the sheet's, or higher where a long key would leave too little for the plots.
pub(super) fn size(sheet: &Sheet) -> (u32, u32) {
    let (width, height) = sheet.size;
    let key = key::Key::of(sheet, f64::from(width) - 2.0 * MARGIN);
    let least = HEAD + frame::least_height(sheet) + key.height() + UNDER;
    (width, height.max(least.ceil() as u32))
}

/// Draws all of `sheet` on `backend`, whose size is [`size`] in units.
pub(super) fn draw<DB: DrawingBackend>(sheet: &Sheet, backend: DB) -> DrawResult<(), DB> {
    let root = backend.into_drawing_area();
    root.fill(&Ink::Paper.rgb())?;
    let (width, height) = size(sheet);
    let (width, height) = (f64::from(width), f64::from(height));
    let room = width - 2.0 * MARGIN;
    let title = text::fitted(&sheet.title, TITLE, room);
    write::text(&root, (MARGIN, 28.0), Side::Start, &title, TITLE, Ink::Text)?;
    let subtitle = text::fitted(&sheet.subtitle, SUBTITLE, room);
    write::text(&root, (MARGIN, 54.0), Side::Start, &subtitle, SUBTITLE, Ink::Soft)?;
    let key = key::Key::of(sheet, room);
    let below = height - key.height() - UNDER;
    frame::panels(sheet, &root, [MARGIN, HEAD, width - MARGIN, below])?;
    key.draw(&root, (MARGIN, below + 6.0))?;
    root.present()
}
