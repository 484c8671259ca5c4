//! A figure that is used as it was printed, though the print says that it is another one's.

use crate::device::PublishedFigure;
use crate::device::quantity::FigureQuantity;

/// What a sheet says of figures that are not those of one device, dense and one direction.
const CLAIMS: [&str; 8] = [
    "sparsity",
    "sparse",
    "both directions",
    "bidirectional",
    "duplex",
    "for two",
    "for four",
    "for eight",
];

pub(super) fn doubt(cell: &PublishedFigure) -> Option<String> {
    let printed = cell.printed.as_deref()?;
    let said = about_the_first(printed);
    let claim = CLAIMS.into_iter().find(|claim| said.contains(claim))?;
    let value = first_quantity(said)?;
    ((value / cell.number - 1.0).abs() < 1e-3).then(|| {
        format!("{} is {}, which is printed as \"{printed}\": {claim}", cell.field, cell.value)
    })
}

/// `312 TFLOP/s, 624 with sparsity` says nothing of 312; `900 GB/s, both directions` does of 900.
fn about_the_first(printed: &str) -> &str {
    match printed.split_once(", ") {
        Some((first, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => first,
        _ => printed,
    }
}

/// The number and unit that a text begins with, in base units.
fn first_quantity(text: &str) -> Option<f64> {
    let mut words = text.split([' ', ',', ':']);
    let quantity = format!("{} {}", words.next()?, words.next()?);
    let measures = [
        FigureQuantity::Memory,
        FigureQuantity::Bandwidth,
        FigureQuantity::Rate,
        FigureQuantity::Power,
    ];
    measures.into_iter().find_map(|measure| measure.read(&quantity))
}
