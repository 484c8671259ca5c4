//! The chart of products of matrices and of attention: arithmetic against what they compute with each byte.

use fizeau_core::{BytesPerSec, FlopsPerSec};
use fizeau_probe::{
    AttentionShape, Component, Dtype, GemmShape, Operation, Peak, ProbeDocument, ProbeRow,
};

use super::memory::described;
use super::{DRAWN, Gathered, point, prefix};
use crate::Shown;
use crate::pictures::{
    CurveAxis, CurveChart, CurveLimit, CurvePanel, CurvePoint, CurveSeries, CurveStyle,
};
use crate::probe::cells;

/// Rates from here on are said in TFLOP/s.
const LARGE: f64 = 2e13;

/// Products and attention by their shapes.
pub(super) fn products(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let rates = of
        .believed()
        .filter(|row| is_product(row))
        .filter_map(|row| row.figures.arithmetic.map(|rate| rate.peak().get()));
    let (per, unit) =
        if rates.fold(0.0, f64::max) >= LARGE { (1e12, "TFLOP/s") } else { (1e9, "GFLOP/s") };
    let mut gathered = Gathered::default();
    for row in of.believed().filter(|row| is_product(row)) {
        let (Some(rate), Some(at)) = (row.figures.arithmetic, intensity(row)) else { continue };
        let what = row.measured.operation.component();
        let dtype = row.measured.dtype.map(|dtype| format!(" {dtype}")).unwrap_or_default();
        let name = format!("{}{what}{dtype}", prefix(of, row));
        let place = point(at, rate.map(|rate| rate.get() / per));
        gathered.add(name, CurvePoint { label: label(row), ..place });
    }
    let mut series = gathered.series(1, CurveStyle::Apart);
    if series.is_empty() {
        return None;
    }
    let description = described("Arithmetic by shape", &series);
    let roof = roof(of, &series, (per, unit));
    let has_roof = roof.is_some();
    series.extend(roof);
    let mut notes = vec![DRAWN.to_owned()];
    notes.extend(has_roof.then(|| {
        "What operands in memory allow at this machine's best bandwidth and best arithmetic; those in a cache may be above it."
            .to_owned()
    }));
    Some(CurveChart {
        title: "Products of matrices and attention by shape".to_owned(),
        subtitle: of.subject(),
        description,
        panels: vec![CurvePanel {
            across: CurveAxis::Ratio("FLOP for each byte of the operands".to_owned()),
            up: CurveAxis::Suited(format!("Arithmetic, {unit}")),
            series,
            limits: printed(of, per, unit),
        }],
        notes,
    })
}

/// What it computes with each byte of its operands; of a tool that tells no amounts, by what it tells of rates.
fn intensity(row: &ProbeRow) -> Option<f64> {
    let work = &row.measured.work;
    match (work.flops, work.bytes.stream) {
        (Some(flops), Some(bytes)) => Some(flops.get() / bytes.get()),
        _ => Some(row.figures.arithmetic?.typical.get() / row.figures.stream?.typical.get()),
    }
}

fn is_product(row: &ProbeRow) -> bool {
    matches!(row.measured.operation.component(), Component::Gemm | Component::Attention)
}

fn label(row: &ProbeRow) -> Option<String> {
    match &row.measured.operation {
        Operation::Gemm { role: Some(role), .. }
        | Operation::Attention { role: Some(role), .. }
        | Operation::Recurrence { role: Some(role), .. } => Some(role.clone()),
        Operation::Gemm { shape: GemmShape { m, n, k, batch, .. }, .. } => {
            let batch = if *batch == 1 { String::new() } else { format!("{batch} x ") };
            Some(format!("{batch}{m} x {n} x {k}"))
        }
        Operation::Attention { shape, .. } => {
            let AttentionShape { phase, batch, query_len, kv_len, .. } = shape;
            Some(format!("{phase} {batch} x {query_len} on {kv_len}"))
        }
        _ => None,
    }
}

/// What memory and arithmetic allow as they were measured; none where either was not.
fn roof(
    of: &Shown<'_, ProbeDocument>,
    drawn: &[CurveSeries],
    (per, unit): (f64, &str),
) -> Option<CurveSeries> {
    let best = |component: Component, of_row: fn(&ProbeRow) -> Option<f64>| {
        let rows = of.believed().filter(|row| row.measured.operation.component() == component);
        rows.filter_map(of_row).max_by(f64::total_cmp)
    };
    let memory = of
        .believed()
        .filter(|row| is_large(row))
        .filter_map(|row| Some(row.figures.bandwidth()?.peak().get()));
    let memory = memory.max_by(f64::total_cmp)?;
    let peak = best(Component::Compute, |row| {
        row.figures.arithmetic.map(|rate| rate.peak()).map(FlopsPerSec::get)
    })?;
    let xs = || drawn.iter().flat_map(|series| &series.points).map(|point| point.at.0);
    let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let ridge = peak / memory;
    let mut at = vec![low, high.max(1.01 * low)];
    at.extend((low < ridge && ridge < high).then_some(ridge));
    at.sort_by(f64::total_cmp);
    let height = |x: f64| (x * memory).min(peak) / per;
    let points = at.into_iter().map(|x| CurvePoint { at: (x, height(x)), ends: None, label: None });
    let peak = cells::figure(peak / per);
    let memory = cells::figure(BytesPerSec::new(memory).get() / 1e9);
    Some(CurveSeries {
        name: format!("roofline as measured: {memory} GB/s, {peak} {unit} at most"),
        index: 0,
        style: CurveStyle::Bound,
        points: points.collect(),
        levels: Vec::new(),
    })
}

/// A stream over more than caches hold.
fn is_large(row: &ProbeRow) -> bool {
    row.measured.operation.component() == Component::Memory
        && row.measured.method.cache == Some(fizeau_probe::CacheState::ColdBySize)
}

/// What a data sheet prints for the types that were measured.
fn printed(of: &Shown<'_, ProbeDocument>, per: f64, unit: &str) -> Vec<CurveLimit> {
    let mut dtypes: Vec<Dtype> = Vec::new();
    for row in of.believed().filter(|row| is_product(row)) {
        dtypes.extend(row.measured.dtype.filter(|dtype| !dtypes.contains(dtype)));
    }
    let limit = |dtype: Dtype| {
        let is_it = |peak: &Peak, of: Option<Dtype>| {
            matches!(peak, Peak::Arithmetic(_)) && of == Some(dtype)
        };
        let (rate, source) = of.printed(is_it)?;
        let rate = rate / per;
        let text = format!("data sheet, {dtype}: {} {unit} ({source})", cells::figure(rate));
        Some(CurveLimit { at: rate, text })
    };
    dtypes.into_iter().filter_map(limit).collect()
}
