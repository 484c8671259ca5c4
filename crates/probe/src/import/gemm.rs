//! What importers of products of matrices have in common.

use crate::measurement::{Dtype, GemmShape, Measurement, Operation};

/// What tools call GB/s and count in GiB/s.
pub(super) const GIBIBYTE: f64 = 1_073_741_824.0;

/// The product of `shape` whose result is `output`.
pub(super) const fn operation(shape: GemmShape, output: Dtype) -> Operation {
    Operation::Gemm { shape, output, role: None }
}

/// Says on the row that its column `name` of `told` is not in the unit that it names.
pub(super) fn note_gibibytes(seen: &mut Measurement, name: &str, told: f64) {
    let corrected = told * GIBIBYTE / 1e9;
    seen.notes
        .push(format!("the tool's `{name}` counts in GiB/s: {told} there is {corrected:.1} GB/s"));
}

/// Says on the row that a tool counts otherwise than this crate, where the two are further apart than rounding explains.
pub(super) fn note_difference(
    seen: &mut Measurement,
    what: &str,
    told: Option<f64>,
    counted: Option<f64>,
) {
    if let (Some(told), Some(counted)) = (told, counted)
        && told > 0.0
        && (told / counted - 1.0).abs() > 0.02
    {
        seen.notes.push(format!(
            "the tool reports {told:.4e} {what}, but its shape and time give {counted:.4e}"
        ));
    }
}
