//! The cells of a row.

use fizeau_core::number::number;
use fizeau_core::{Bytes, BytesPerSec, Verdict};
use fizeau_probe::{
    Component, Figure, Measurement, Operation, PageAdvice, ProbeRow, TransferEngine,
};

/// What the columns are.
pub(super) const UNITS: &str = "best: the best of all samples, and its share of the data sheet (spec), of the units' peak at their clock (clock) and of the fastest row of its kind (seen); ? suspect, ! invalid";

/// The longest words of an operation on a line of 80 columns.
const WORDS: usize = 36;

/// The longest name of an operator that leaves room for its shape.
const OPERATOR: usize = 12;

/// Arithmetic of as many GFLOP/s is told in TFLOP/s.
const MANY: f64 = 1e14;

/// In what the figures of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Gigabytes,
    Gigaflops,
    Teraflops,
    Nanos,
    Micros,
}

/// Rows of one component whose figures are in one unit: a table.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) component: Component,
    pub(super) unit: Unit,
    pub(super) rows: Vec<&'a ProbeRow>,
}

/// `rows` in tables, in the order of the components.
pub(super) fn groups<'a>(rows: &[&'a ProbeRow]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for component in Component::ALL {
        let of: Vec<&ProbeRow> = rows
            .iter()
            .copied()
            .filter(|row| row.measured.operation.component() == component)
            .collect();
        let rate = |row: &&ProbeRow| Some(row.figures.arithmetic?.peak().get());
        let most = of.iter().filter_map(rate).fold(0.0, f64::max);
        let start = groups.len();
        for row in of {
            let unit = match usual_unit(row) {
                Unit::Gigaflops if most >= MANY => Unit::Teraflops,
                unit => unit,
            };
            match groups[start..].iter_mut().find(|group| group.unit == unit) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group { component, unit, rows: vec![row] }),
            }
        }
    }
    groups
}

fn usual_unit(row: &ProbeRow) -> Unit {
    match row.measured.operation.component() {
        Component::Memory | Component::Collective => Unit::Gigabytes,
        Component::Latency => Unit::Nanos,
        Component::Compute | Component::Gemm | Component::Attention => Unit::Gigaflops,
        // What a tool has a name of its own for has a time, or a rate alone.
        _ if row.figures.time.is_some() => Unit::Micros,
        _ if row.figures.bandwidth().is_some() => Unit::Gigabytes,
        _ if row.figures.arithmetic.is_some() => Unit::Gigaflops,
        _ => Unit::Micros,
    }
}

impl Group<'_> {
    /// The heads of the table.
    pub(super) fn head(&self) -> Vec<String> {
        let unit = match self.unit {
            Unit::Gigabytes => "GB/s",
            Unit::Gigaflops => "GFLOP/s",
            Unit::Teraflops => "TFLOP/s",
            Unit::Nanos => "ns",
            Unit::Micros => "us",
        };
        [self.component.as_str(), "threads", unit, "best", "spec", "clock", "seen", ""]
            .map(str::to_owned)
            .into()
    }
}

/// A row's cells, as many as its table has heads, its figures in `unit`.
pub(super) fn cells(row: &ProbeRow, unit: Unit) -> Vec<String> {
    let share = |percent: Option<f64>| {
        percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0} %"))
    };
    let figure = value(row, unit);
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

/// A row's figure in `unit`.
fn value(row: &ProbeRow, unit: Unit) -> Option<Figure<f64>> {
    let figures = &row.figures;
    let of_rate = |rate: Figure<BytesPerSec>| rate.map(|rate| rate.get() / 1e9);
    let arithmetic = |per: f64| figures.arithmetic.map(|rate| rate.map(|rate| rate.get() / per));
    let time = |per_milli: f64| figures.time.map(|time| time.map(|time| time.get() * per_milli));
    match (unit, row.measured.operation.component()) {
        (Unit::Gigabytes, Component::Collective) => figures.bus.or(figures.copy).map(of_rate),
        (Unit::Gigabytes, _) => figures.bandwidth().map(of_rate),
        (Unit::Gigaflops, _) => arithmetic(1e9),
        (Unit::Teraflops, _) => arithmetic(1e12),
        (Unit::Nanos, _) => time(1e6),
        (Unit::Micros, _) => time(1e3),
    }
}

/// How fast a row is among its kind; larger is faster.
pub(super) fn rate(row: &ProbeRow) -> f64 {
    let unit = usual_unit(row);
    let value = value(row, unit).map_or(0.0, |figure| figure.peak());
    match unit {
        Unit::Nanos | Unit::Micros => -value,
        _ => value,
    }
}

/// What it does, in one cell.
fn words(row: &ProbeRow) -> String {
    let (measured, operation) = (&row.measured, &row.measured.operation);
    let mut words = operation_words(measured);
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

fn operation_words(measured: &Measurement) -> String {
    let operation = &measured.operation;
    match operation {
        Operation::Attention { shape, .. } => {
            format!("{} of {} x {} on {}", shape.phase, shape.batch, shape.query_len, shape.kv_len)
        }
        Operation::Recurrence { shape, .. } => {
            let rule = shape.rule.as_str().replace('_', " ");
            format!("{rule}, {} x {} tokens", shape.sequences, shape.tokens)
        }
        Operation::Norm { shape, role } => {
            let name = role.as_deref().unwrap_or("norm").replace('_', " ");
            format!("{name}, {} x {}", shape.rows, shape.width)
        }
        Operation::Collective { shape, .. } => {
            let place = shape.in_place.map(|own| if own { " in place" } else { " out of place" });
            let place = place.unwrap_or_default();
            format!("{} {} x{}{place}", shape.op, size(shape.message), shape.ranks)
        }
        // Of which library, if another than the usual, and which operator of a model stand where they are not cut off.
        Operation::Gemm { role, .. } => {
            let words = operation.to_string().replace(" to f32", "");
            let operator = role.as_deref().and_then(|role| role.split(" of ").next());
            let operator = operator.filter(|name| name.chars().count() <= OPERATOR);
            let names = [measured.named_instructions(), operator].into_iter().flatten();
            let names = names.collect::<Vec<&str>>().join(" ");
            words.replacen("gemm", if names.is_empty() { "gemm" } else { &names }, 1)
        }
        // The traffic is what tells such rows apart; how long the others pause says nothing to a reader.
        Operation::LoadedLatency { .. } => match measured.circumstances.beside {
            Some(rate) => format!("loaded latency, beside {} GB/s", figure(rate.get() / 1e9)),
            None => operation.to_string(),
        },
        // That it is a latency says the head.
        Operation::Latency { working_set: None, path: Some(path) } => path.clone(),
        Operation::Transfer { from, to, engine, both_ways } => {
            let ways = if *both_ways { ", both ways" } else { "" };
            match engine {
                TransferEngine::NotReported => format!("{from} to {to}{ways}"),
                _ => format!("{from} to {to}, {}{ways}", engine.as_str().replace('_', " ")),
            }
        }
        Operation::Latency { .. } => {
            let is_small =
                measured.method.pages.is_some_and(|of| of.requested == PageAdvice::Small);
            format!("{operation}{}", if is_small { ", small pages" } else { "" })
        }
        other => other.to_string().replace("_temporal stores", "-temporal").replace(" stores", ""),
    }
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
