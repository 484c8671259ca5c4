//! A sheet as an SVG file.

use plotters::backend::SVGBackend;

use super::ink::dark_rules;
use super::render::{self, UNITS};
use super::sheet::Sheet;
use crate::escape::escape;

/// The file; `class` is added to that of every picture, for a page that has more than one size of it.
///
/// # Errors
/// What plotters said; it writes into memory, so none is expected.
pub(super) fn svg(sheet: &Sheet, class: &str) -> Result<String, String> {
    let (width, height) = render::size(sheet);
    let per_pixel = UNITS as u32;
    let (wide, high) = (width * per_pixel, height * per_pixel);
    let mut drawn = String::new();
    render::draw(sheet, SVGBackend::with_string(&mut drawn, (wide, high)))
        .map_err(|error| error.to_string())?;
    // plotters' own first tag has the size in units; what describes the picture and colours it belongs right behind it.
    let content = drawn.split_once(">\n").map_or("", |(_, content)| content);
    let class = if class.is_empty() { String::new() } else { format!(" {class}") };
    Ok(format!(
        "<svg class=\"fizeau-picture{class}\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {wide} {high}\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <style>\n{}</style>\n{content}",
        escape(&sheet.title),
        escape(&sheet.description),
        dark_rules(),
    ))
}
