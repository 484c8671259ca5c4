//! The cells of a row.

use fizeau_core::number::number;
use fizeau_core::{Bytes, BytesPerSec, Verdict};
use fizeau_probe::{Component, Figure, Operation, ProbeRow};

/// What the columns are.
pub(super) const UNITS: &str = "best: the best of all samples, and its share of the data sheet (spec), of the units' peak at their clock (clock) and of the fastest row of its kind (seen); ? suspect, ! invalid";

/// The longest words of an operation on a line of 80 columns.
const WORDS: usize = 36;

/// The heads of a component's table.
pub(super) fn head(component: Component) -> Vec<String> {
    let unit = unit(component);
    [component.as_str(), "threads", unit, "best", "spec", "clock", "seen", ""]
        .map(str::to_owned)
        .into()
}

const fn unit(component: Component) -> &'static str {
    match component {
        Component::Memory | Component::Collective => "GB/s",
        Component::Latency => "ns",
        Component::Compute | Component::Gemm | Component::Attention => "GFLOP/s",
        _ => "us",
    }
}

/// A row's cells, as many as [`head`] has.
pub(super) fn cells(row: &ProbeRow) -> Vec<String> {
    let share = |percent: Option<f64>| {
        percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0} %"))
    };
    let figure = value(row);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), self::figure);
    let threads = row.measured.method.threads;
    let mark = match row.verdict {
        Verdict::Valid => "",
        Verdict::Suspect => "?",
        Verdict::Invalid => "!",
    };
    vec![
        words(row),
        threads.map_or_else(|| "-".to_owned(), |threads| threads.to_string()),
        shown(figure.map(|figure| figure.typical)),
        shown(figure.map(|figure| figure.peak())),
        share(row.shares.percent_of_specification),
        share(row.shares.percent_of_clock_peak),
        share(row.shares.percent_of_best_seen),
        mark.to_owned(),
    ]
}

/// A row's figure in the unit of its component.
fn value(row: &ProbeRow) -> Option<Figure<f64>> {
    let figures = &row.figures;
    let giga = |rate: Figure<BytesPerSec>| rate.map(|rate| rate.get() / 1e9);
    match row.measured.operation.component() {
        Component::Compute | Component::Gemm | Component::Attention => {
            figures.arithmetic.map(|rate| rate.map(|rate| rate.get() / 1e9))
        }
        Component::Memory => figures.bandwidth().map(giga),
        Component::Collective => figures.bus.or(figures.copy).map(giga),
        Component::Latency => figures.time.map(|time| time.map(|time| time.get() * 1e6)),
        _ => figures.time.map(|time| time.map(|time| time.get() * 1e3)),
    }
}

/// How fast a row is among its kind; larger is faster.
pub(super) fn rate(row: &ProbeRow) -> f64 {
    let value = value(row).map_or(0.0, |figure| figure.peak());
    match row.measured.operation.component() {
        Component::Latency | Component::Launch | Component::Other => -value,
        _ => value,
    }
}

/// What it does, in one cell.
fn words(row: &ProbeRow) -> String {
    let (measured, operation) = (&row.measured, &row.measured.operation);
    let mut words = match operation {
        Operation::Attention { shape, .. } => {
            format!("{} of {} x {} on {}", shape.phase, shape.batch, shape.query_len, shape.kv_len)
        }
        Operation::Collective { shape, .. } => {
            let place = shape.in_place.map(|own| if own { " in place" } else { " out of place" });
            let place = place.unwrap_or_default();
            format!("{} {} x{}{place}", shape.op, size(shape.message), shape.ranks)
        }
        // Of which library, if another than the usual, stands where it is not cut off.
        Operation::Gemm { .. } => {
            let words = operation.to_string().replace(" to f32", "");
            let library = measured.named_instructions().unwrap_or("gemm");
            words.replacen("gemm", library, 1)
        }
        other => other.to_string().replace("_temporal stores", "-temporal").replace(" stores", ""),
    };
    let has_kinds = !matches!(
        operation.component(),
        Component::Memory | Component::Latency | Component::Collective
    );
    if let Some(dtype) = measured.dtype.filter(|_| has_kinds) {
        words = format!("{words} {dtype}");
    }
    if let (Operation::Peak, Some(instructions)) = (operation, measured.named_instructions()) {
        words = format!("{words} {instructions}");
    }
    cut(&words, WORDS)
}

/// As much of `words` as there is room for, with three dots where they are cut.
pub(super) fn cut(words: &str, room: usize) -> String {
    match words.chars().count() > room {
        true => words.chars().take(room.saturating_sub(3)).chain("...".chars()).collect(),
        false => words.to_owned(),
    }
}

/// Three digits.
pub(super) fn figure(value: f64) -> String {
    number(value)
}

/// `32 KiB`.
pub(super) fn size(bytes: Bytes) -> String {
    let (mut value, mut unit) = (bytes.get(), "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    match value.fract() == 0.0 {
        true => format!("{value} {unit}"),
        false => format!("{} {unit}", number(value)),
    }
}
