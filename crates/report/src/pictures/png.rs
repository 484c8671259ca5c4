//! A sheet as a PNG file: drawn by plotters in quarters of a pixel, then two by two units to a dot, which smooths all edges.

mod canvas;

use std::borrow::Cow;

use canvas::Canvas;

use super::render::{self, UNITS};
use super::sheet::Sheet;

/// How many units each way make a dot.
const PER_DOT: usize = 2;

/// The bytes of a unit: red, green, blue.
const COLOURS: usize = 3;

/// The file.
///
/// # Errors
/// What plotters or the encoder said; both write into memory, so none is expected.
pub(super) fn png(sheet: &Sheet) -> Result<Vec<u8>, String> {
    let per_pixel = UNITS as u32;
    let (wide, high) = render::size(sheet);
    let (wide, high) = (wide * per_pixel, high * per_pixel);
    let mut units = vec![0; wide as usize * high as usize * COLOURS];
    render::draw(sheet, Canvas::new(&mut units, (wide, high))?).map_err(|e| e.to_string())?;
    let (width, height) = (wide / PER_DOT as u32, high / PER_DOT as u32);
    let dots = smoothed(&units, wide as usize);
    encoded(&dots, width, height, sheet).map_err(|error| error.to_string())
}

/// The mean of each square of units.
fn smoothed(units: &[u8], wide: usize) -> Vec<u8> {
    let mut dots = Vec::with_capacity(units.len() / (PER_DOT * PER_DOT));
    for rows in units.chunks_exact(wide * COLOURS * PER_DOT) {
        let (upper, lower) = rows.split_at(wide * COLOURS);
        let squares =
            upper.chunks_exact(COLOURS * PER_DOT).zip(lower.chunks_exact(COLOURS * PER_DOT));
        for (above, below) in squares {
            let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (above, below) else { continue };
            let mean = |four: [&u8; 4]| {
                (four.into_iter().map(|part| u16::from(*part)).sum::<u16>().div_ceil(4)).min(255)
                    as u8
            };
            dots.extend([mean([a, d, g, j]), mean([b, e, h, k]), mean([c, f, i, l])]);
        }
    }
    dots
}

fn encoded(
    dots: &[u8],
    width: u32,
    height: u32,
    sheet: &Sheet,
) -> Result<Vec<u8>, ::png::EncodingError> {
    let mut file = Vec::new();
    let mut info = ::png::Info::with_size(width, height);
    info.color_type = ::png::ColorType::Rgb;
    info.bit_depth = ::png::BitDepth::Eight;
    // What a program reads aloud or indexes; both keywords are the standard's own (PNG, 11.3.3).
    for (keyword, text) in [("Title", &sheet.title), ("Description", &sheet.description)] {
        let chunk = ::png::text_metadata::ITXtChunk::new(keyword, text.clone());
        info.utf8_text.push(chunk);
    }
    info.palette = None::<Cow<'_, [u8]>>;
    let mut encoder = ::png::Encoder::with_info(&mut file, info)?;
    encoder.set_compression(::png::Compression::Balanced);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(dots)?;
    writer.finish()?;
    Ok(file)
}
