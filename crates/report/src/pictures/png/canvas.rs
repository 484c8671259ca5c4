//! plotters' bitmap with text of its own: plotters has fonts of the system or none, and sets letters to whole pixels.

use ab_glyph::{Font, Glyph, ScaleFont, point};
use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

use crate::pictures::text;

/// plotters takes a size for that of a line, as its SVG has it.
const LINE_PER_EM: f64 = 1.24;

/// How high above a baseline a text's middle is, in ems, as plotters' SVG has it: half of an x-height.
const MIDDLE: f64 = 0.26;

/// A bitmap that plotters draws on.
pub(super) struct Canvas<'a> {
    bitmap: BitMapBackend<'a>,
}

impl<'a> Canvas<'a> {
    /// Over `units`, three bytes each.
    ///
    /// # Errors
    /// If there are too few.
    pub(super) fn new(units: &'a mut [u8], size: (u32, u32)) -> Result<Self, String> {
        let bitmap = BitMapBackend::with_buffer_and_format(units, size);
        Ok(Self { bitmap: bitmap.map_err(|error| error.to_string())? })
    }
}

type Outcome<'a> = Result<(), DrawingErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

impl<'a> DrawingBackend for Canvas<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.bitmap.get_size()
    }

    fn ensure_prepared(&mut self) -> Outcome<'a> {
        self.bitmap.ensure_prepared()
    }

    fn present(&mut self) -> Outcome<'a> {
        self.bitmap.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Outcome<'a> {
        self.bitmap.draw_pixel(at, colour)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Outcome<'a> {
        self.bitmap.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome<'a> {
        self.bitmap.draw_rect(from, to, style, fill)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Outcome<'a> {
        let size = style.size() / LINE_PER_EM;
        let width = text::width(text, size);
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Right => -width,
            HPos::Center => -width / 2.0,
        };
        let baseline = match style.anchor().v_pos {
            VPos::Top => 0.76 * size,
            VPos::Center => MIDDLE * size,
            VPos::Bottom => -MIDDLE * size,
        };
        let from = (f64::from(x) + left, f64::from(y) + baseline);
        self.letters(text, size, from, style.color())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        let size = style.size() / LINE_PER_EM;
        Ok((text::width(text, size).ceil() as u32, size.ceil() as u32))
    }
}

impl<'a> Canvas<'a> {
    /// Sets `text` from the left end of its baseline.
    fn letters(
        &mut self,
        text: &str,
        size: f64,
        from: (f64, f64),
        ink: BackendColor,
    ) -> Outcome<'a> {
        let Some(font) = text::font() else { return Ok(()) };
        let scale = text::scale(font, size);
        let scaled = font.as_scaled(scale);
        let mut x = from.0;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            let glyph = Glyph { id, scale, position: point(x as f32, from.1 as f32) };
            x += if id.0 == 0 { size } else { f64::from(scaled.h_advance(id)) };
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            let mut covered = Vec::new();
            outline.draw(|right, down, share| covered.push((right, down, share)));
            for (right, down, share) in covered {
                let at = (corner.x as i32 + right as i32, corner.y as i32 + down as i32);
                let alpha = ink.alpha * f64::from(share.clamp(0.0, 1.0));
                if alpha > 0.0 && at.0 >= 0 && at.1 >= 0 {
                    self.draw_pixel(at, BackendColor { alpha, ..ink })?;
                }
            }
        }
        Ok(())
    }
}
