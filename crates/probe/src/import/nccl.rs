//! What the text and the document of nccl-tests have in common.
//!
//! Columns, units and what `size` and `count` are: <https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md>.

use fizeau_core::Bytes;

use super::cell;
use super::reading::Reading;
use super::tells::Tells;
use crate::measurement::{
    ByteConvention, CollectiveOp, CollectiveRegime, CollectiveShape, Operation, RankRule, TimedBy,
    Verification, size,
};

/// What holds for all rows of one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub(super) op: Option<CollectiveOp>,
    pub(super) ranks: Option<u32>,
    pub(super) nodes: Option<u32>,
    pub(super) regime: Option<CollectiveRegime>,
    pub(super) rank_rule: Option<RankRule>,
    pub(super) warm_up: Option<u64>,
    /// Over how many operations a time is a mean.
    pub(super) operations: Option<u64>,
    /// How many operations an iteration is.
    pub(super) aggregated: Option<u64>,
    pub(super) device: Option<String>,
    pub(super) notes: Vec<String>,
}

/// One half of a row: out of place, or in place. Times in microseconds, rates in GB/s.
#[derive(Debug, Clone, Default)]
pub(super) struct Half {
    pub(super) size: u64,
    pub(super) dtype: String,
    pub(super) in_place: Option<bool>,
    pub(super) time: Option<f64>,
    /// Whether the time is that of the host's calls.
    pub(super) is_cpu_time: bool,
    pub(super) algorithm_bandwidth: Option<f64>,
    pub(super) bus_bandwidth: Option<f64>,
    pub(super) verification: Option<Verification>,
    pub(super) algorithm: Option<String>,
    /// Whether it reduces, as by `sum`.
    pub(super) reduces: bool,
}

/// Which collective a program's name says: `./build/all_reduce_perf`.
pub(super) fn op(program: &str) -> Option<CollectiveOp> {
    let name = program.rsplit(['/', '\\']).next()?;
    let name = name.split("_perf").next().filter(|short| short.len() < name.len())?;
    Some(match name {
        "all_reduce" => CollectiveOp::AllReduce,
        "all_gather" => CollectiveOp::AllGather,
        "reduce_scatter" => CollectiveOp::ReduceScatter,
        "alltoall" => CollectiveOp::AllToAll,
        "alltoallv" => CollectiveOp::AllToAllV,
        "gather" => CollectiveOp::Gather,
        "scatter" => CollectiveOp::Scatter,
        "broadcast" => CollectiveOp::Broadcast,
        "reduce" => CollectiveOp::Reduce,
        "sendrecv" => CollectiveOp::SendRecv,
        "hypercube" => CollectiveOp::HyperCube,
        _ => return None,
    })
}

/// What the count of elements that are `wrong` says, and that of bits which a repetition of the same operation had otherwise.
pub(super) fn verified(wrong: Option<f64>, different_bits: Option<f64>) -> Option<Verification> {
    let how = match (wrong, different_bits) {
        (Some(count), _) if count != 0.0 => format!("{count} elements are wrong"),
        (_, Some(count)) if count != 0.0 => format!("{count} bits differ in a repetition"),
        (wrong, _) => return wrong.map(|_| Verification::within(0.0, 0.0)),
    };
    Some(Verification::Wrong { error: None, what: how })
}

/// That results differ from what they should be, as what a tool says behind its table.
pub(super) const OUT_OF_BOUNDS: &str = "out of bounds";

/// That results of one collective differ, as what a tool says behind its table.
pub(super) const NOT_THE_SAME: &str = "not the same bit by bit";

/// Where a tool says `how` results are wrong and no row has it, it may be any of them.
pub(super) fn distrust<'a>(how: &str, rows: impl Iterator<Item = &'a mut Verification>) {
    let mut rows: Vec<_> = rows.collect();
    if !rows.iter().any(|row| matches!(row, Verification::Wrong { .. })) {
        let what = format!("the tool reports results {how}, and not in which rows");
        for row in &mut rows {
            **row = Verification::Wrong { error: None, what: what.clone() };
        }
    }
}

/// So many ranks are thought of where nobody says how many there were.
const MOST_RANKS: u32 = 1024;

/// How far off bus over algorithm bandwidth may be, both being rounded to hundredths.
fn rounding(algorithm: f64, ratio: f64) -> f64 {
    0.005 / algorithm * (1.0 + ratio)
}

/// How many ranks bus over algorithm bandwidth can only come from, where it can come from one number alone.
pub(super) fn ranks(op: CollectiveOp, algorithm: f64, bus: f64) -> Option<u32> {
    let ratio = bus / algorithm;
    let fits = |ranks: &u32| (op.bus_factor(*ranks) - ratio).abs() <= rounding(algorithm, ratio);
    let mut fitting = (2..=MOST_RANKS).filter(fits);
    let ranks = fitting.next()?;
    fitting.next().is_none().then_some(ranks)
}

/// Which reduction it is, where bus over algorithm bandwidth leaves one only: no other collective reduces.
pub(super) fn reduction(ranks: Option<u32>, algorithm: f64, bus: f64) -> Option<CollectiveOp> {
    let ratio = bus / algorithm;
    let fits = |op: CollectiveOp, ranks: u32| {
        (op.bus_factor(ranks) - ratio).abs() <= rounding(algorithm, ratio)
    };
    let may_be = |op: &CollectiveOp| match ranks {
        Some(ranks) => fits(*op, ranks),
        None => (2..=MOST_RANKS).any(|ranks| fits(*op, ranks)),
    };
    let all = [CollectiveOp::AllReduce, CollectiveOp::ReduceScatter, CollectiveOp::Reduce];
    let mut fitting = all.into_iter().filter(may_be);
    let op = fitting.next()?;
    fitting.next().is_none().then_some(op)
}

/// Adds half a row.
pub(super) fn measured<'r>(
    reading: &'r mut Reading<'_>,
    place: usize,
    run: &Run,
    half: &Half,
    more: Tells,
) -> Option<&'r mut crate::measurement::Measurement> {
    use crate::measurement::SampleStatistic::Mean;
    let message = Bytes::new(half.size as f64);
    let operation = operation(run, half, message);
    let giga = |rate: Option<f64>| rate.map(|rate| rate * 1e9);
    // Of what is no known collective nobody could tell the bus bandwidth from the time.
    let is_unknown = matches!(operation, Operation::Other { .. });
    let untold = giga(half.bus_bandwidth).filter(|_| is_unknown);
    let time = half.time.filter(|_| !half.is_cpu_time);
    let tells = match time {
        Some(time) => more.micros(Mean, Some(time)).bus(Mean, untold),
        None => more
            .typical()
            .bandwidth(ByteConvention::Copy, Mean, giga(half.algorithm_bandwidth))
            .bus(Mean, giga(half.bus_bandwidth)),
    };
    let device = run.device.as_deref().unwrap_or("gpus");
    let seen = reading.measured(place, device, operation, tells)?;
    seen.dtype = cell::dtype(&half.dtype);
    seen.work.bytes.copy = Some(message);
    seen.method.warm_up_operations = run.warm_up;
    seen.method.timed_by = Some(TimedBy::Host);
    seen.notes.clone_from(&run.notes);
    seen.notes.extend(notes(half, seen.dtype.is_some(), time));
    let unchecked = || Verification::not_checked("the tool was run without a check of its results");
    seen.verification = half.verification.clone().unwrap_or_else(unchecked);
    Some(seen)
}

/// What was done with a message of that size.
fn operation(run: &Run, half: &Half, message: Bytes) -> Operation {
    let (Some(op), Some(ranks)) = (run.op, run.ranks) else {
        let op = run.op.map_or("unnamed collective", CollectiveOp::as_str);
        let place = match half.in_place {
            Some(true) => ", in place",
            Some(false) => ", out of place",
            None => "",
        };
        return Operation::Other { name: format!("{op}, {}{place}", size(message)) };
    };
    let mut shape = CollectiveShape::new(op, ranks, message);
    shape.nodes = run.nodes;
    shape.in_place = half.in_place;
    shape.regime = run.regime;
    shape.rank_rule = run.rank_rule;
    shape.algorithm.clone_from(&half.algorithm);
    Operation::Collective { shape, role: None }
}

/// What a reader ought to know of half a row that took `time` microseconds.
fn notes(half: &Half, has_dtype: bool, time: Option<f64>) -> Vec<String> {
    let mut notes = Vec::new();
    if !has_dtype {
        notes.push(format!("elements are of the type `{}`", half.dtype));
    }
    if half.is_cpu_time {
        notes.push("the file has the times of the host's calls; the rates are those that the tool reported".into());
    }
    let counted = time.map(|time| half.size as f64 / time / 1e3);
    if let (Some(told), Some(counted)) = (half.algorithm_bandwidth, counted)
        && (told - counted).abs() > 0.02 * counted + 0.01
    {
        notes.push(format!(
            "the tool reports {told} GB/s, but size over time gives {counted:.2} GB/s"
        ));
    }
    notes
}
