//! The key below the panels, and the notes below that.

use plotters::backend::DrawingBackend;
use plotters::element::Rectangle;
use plotters::style::Color;

use super::marks::{self, circle};
use super::{DrawResult, Root, TICK, units, write};
use crate::pictures::ink::Ink;
use crate::pictures::labels::{PixelPoint, Side};
use crate::pictures::sheet::{KeyEntry, Sheet, Sign};
use crate::pictures::text::{fitted, span, wrapped};

/// The height of a line, the width of a sign with its gap, and the gap between entries.
const LINE: f64 = 22.0;
const SIGN: f64 = 36.0;
const GAP: f64 = 24.0;

/// Signs and texts with their places, from the upper left corner of the key.
#[derive(Debug)]
pub(super) struct Key {
    entries: Vec<(PixelPoint, Sign, String)>,
    notes: Vec<(PixelPoint, String)>,
    lines: usize,
}

impl Key {
    /// The key of `sheet` in lines of `room` pixels.
    pub(super) fn of(sheet: &Sheet, room: f64) -> Self {
        let (mut x, mut line) = (0.0, 0);
        let mut entries = Vec::new();
        for KeyEntry { sign, text } in &sheet.key {
            let text = fitted(text, TICK, room - SIGN);
            let wide = SIGN + span(&text, TICK);
            if x > 0.0 && x + wide > room {
                (x, line) = (0.0, line + 1);
            }
            entries.push(((x, height_of(line)), *sign, text));
            x += wide + GAP;
        }
        let mut lines = if entries.is_empty() { 0 } else { line + 1 };
        let mut notes = Vec::new();
        for text in sheet.notes.iter().flat_map(|note| wrapped(note, TICK, room)) {
            notes.push(((0.0, height_of(lines)), text));
            lines += 1;
        }
        Self { entries, notes, lines }
    }

    /// What it takes, in pixels.
    pub(super) fn height(&self) -> f64 {
        self.lines as f64 * LINE
    }

    /// Draws it with its upper left corner at `corner`.
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        root: &Root<DB>,
        corner: PixelPoint,
    ) -> DrawResult<(), DB> {
        let moved = |at: PixelPoint| (corner.0 + at.0, corner.1 + at.1);
        for (at, sign, text) in &self.entries {
            let (x, y) = moved(*at);
            draw_sign(root, (x, y), *sign)?;
            write::text(root, (x + SIGN, y), Side::Start, text, TICK, Ink::Text)?;
        }
        for (at, text) in &self.notes {
            write::text(root, moved(*at), Side::Start, text, TICK, Ink::Soft)?;
        }
        Ok(())
    }
}

/// The middle of a line.
fn height_of(line: usize) -> f64 {
    (line as f64 + 0.5) * LINE
}

fn draw_sign<DB: DrawingBackend>(
    root: &Root<DB>,
    (x, y): PixelPoint,
    sign: Sign,
) -> DrawResult<(), DB> {
    let wide = SIGN - 8.0;
    match sign {
        Sign::Line(stroke) => marks::path(root, &[(x, y), (x + wide, y)], stroke),
        Sign::Dot(ink, shape) => circle(root, (x + wide / 2.0, y), ink, shape),
        Sign::Box(ink) => marks::interval(root, (x + 4.0, y - 6.0), (x + wide - 4.0, y + 6.0), ink),
        Sign::Area(ink) => {
            let corners = [(units(x), units(y - 7.0)), (units(x + wide), units(y + 7.0))];
            root.draw(&Rectangle::new(corners, ink.rgb().filled()))
        }
    }
}
