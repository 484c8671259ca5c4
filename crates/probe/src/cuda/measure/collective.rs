//! Collectives among all devices: the longest of the ranks' times, and results held against what each rank was given.

use fizeau_core::Nanos;

use super::{Failure, clock, fill, fits};
use crate::cuda::driver::Mark;
use crate::cuda::error::CudaError;
use crate::cuda::product::{Format, result};
use crate::cuda::ptx::Fill;
use crate::cuda::ranks::{Buffers, Exchange, Ranks};
use crate::measurement::{
    ByteConvention, CollectiveOp, CollectiveRegime, CollectiveShape, DataPattern, Dtype,
    LaunchCost, Measurement, Method, Operation, OperationWork, Provenance, RankRule, TimedBy,
    Verification, worse,
};
use crate::sampling::{Sampled, SamplingRule, sample_timed};
use crate::trial::ProbeTrial;

/// Collectives before the first whose time is taken: the library sets up its connections in the first, and clocks rise.
const WARM_UP: u64 = 5;
/// Elements of each rank's result that are looked at.
const CHECKED: u64 = 32;
/// Bytes of an element.
const ELEMENT: u64 = 2;
/// Rounding to bf16 is off by this part at most.
const ROUNDING: f64 = 1.0 / 512.0;

/// One trial among several devices, and with what it is measured.
#[derive(Debug)]
pub(in crate::cuda) struct Collecting<'a> {
    pub(in crate::cuda) ranks: &'a mut dyn Ranks,
    pub(in crate::cuda) device: &'a str,
    pub(in crate::cuda) time: Nanos,
    pub(in crate::cuda) trial: &'a ProbeTrial,
}

/// Elements that a rank is given, and that it has afterwards.
const fn lengths(Exchange { op, elements }: Exchange, ranks: u64) -> [u64; 2] {
    match op {
        CollectiveOp::AllGather => [elements, elements * ranks],
        CollectiveOp::ReduceScatter => [elements * ranks, elements],
        CollectiveOp::AllToAll => [elements * ranks; 2],
        _ => [elements; 2],
    }
}

/// What element `place` of `rank`'s result is the sum of: of which rank's elements, and which of them.
fn terms(exchange: Exchange, ranks: u64, rank: u64, place: u64) -> Vec<(u64, u64)> {
    let Exchange { op, elements } = exchange;
    match op {
        CollectiveOp::AllReduce => (0..ranks).map(|of| (of, place)).collect(),
        CollectiveOp::ReduceScatter => (0..ranks).map(|of| (of, rank * elements + place)).collect(),
        CollectiveOp::AllGather => vec![(place / elements, place % elements)],
        CollectiveOp::AllToAll => vec![(place / elements, rank * elements + place % elements)],
        _ => vec![(0, place)],
    }
}

/// What a rank is given, which is nothing of what another is. After all of them comes what results are overwritten with.
const fn operands(format: Format, rank: u64) -> Fill {
    format.fill.seeded((rank as u32 + 1).wrapping_mul(0x9e37_79b9))
}

impl Collecting<'_> {
    pub(in crate::cuda) fn collective(
        &mut self,
        shape: &CollectiveShape,
    ) -> Result<Measurement, Failure> {
        let (exchange, format) = self.exchange(shape)?;
        let (major, minor, patch) = self.ranks.library()?;
        let count = self.ranks.properties().len();
        let lengths = lengths(exchange, count as u64).map(|elements| ELEMENT * elements);
        for rank in 0..count {
            fits(self.ranks.device(rank), lengths.iter().sum())?;
        }
        self.ranks.connect()?;
        let mut buffers = Vec::new();
        let allocated = allocate(self.ranks, count, lengths, &mut buffers);
        let measured =
            allocated.and_then(|()| self.among(&buffers, exchange, (shape, format, lengths[0])));
        if measured.is_err() {
            // Before memory is given back, which would wait for what is queued.
            self.ranks.disconnect();
        }
        for (rank, Buffers { given, result }) in buffers.into_iter().enumerate() {
            let device = self.ranks.device(rank);
            [given, result].into_iter().filter(|at| *at != 0).for_each(|at| device.release(at));
        }
        let mut seen = measured?;
        seen.notes.push(format!(
            "NCCL {major}.{minor}.{patch}, the algorithm of its own choice; one thread of the host starts all ranks"
        ));
        Ok(seen)
    }

    /// What the library is asked for, if it can be.
    fn exchange(&self, shape: &CollectiveShape) -> Result<(Exchange, Format), Failure> {
        use CollectiveOp::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
        let (device, ranks) = (self.device, self.ranks.properties().len() as u64);
        let not_written = |what: String| Err(Failure::not_written(what));
        let CollectiveShape { op, message, .. } = shape;
        if !matches!(op, AllGather | AllReduce | AllToAll | Broadcast | ReduceScatter) {
            return not_written(format!("{op} is not written for GPUs"));
        }
        let dtype = self.trial.dtype;
        let Some(format) = Format::of(dtype).filter(|_| dtype == Dtype::Bf16) else {
            return not_written(format!(
                "collectives of {dtype} are not written, of bf16 they are"
            ));
        };
        if u64::from(shape.ranks) != ranks {
            let requested = shape.ranks;
            return not_written(format!(
                "collectives are measured among all {ranks} ranks of {device}, not among {requested}"
            ));
        }
        let parts = if matches!(op, AllReduce | Broadcast) { 1 } else { ranks };
        let elements = message.get() as u64 / ELEMENT;
        if elements == 0 || !elements.is_multiple_of(parts) {
            return not_written(format!(
                "{elements} elements are no whole part for each of {ranks} ranks"
            ));
        }
        Ok((Exchange { op: *op, elements: elements / parts }, format))
    }

    fn among(
        &mut self,
        buffers: &[Buffers],
        exchange: Exchange,
        (shape, format, given): (&CollectiveShape, Format, u64),
    ) -> Result<Measurement, CudaError> {
        let regime = shape.regime.unwrap_or(CollectiveRegime::Chained);
        for (rank, buffers) in buffers.iter().enumerate() {
            fill(self.ranks.device(rank), buffers.given, given, operands(format, rank as u64))?;
        }
        for _ in 0..WARM_UP {
            self.ranks.queue(exchange, buffers)?;
        }
        self.ranks.wait()?;
        let before = clock(self.ranks.device(0))?;
        let sampled = sampled(self.ranks, (regime, self.time), exchange, buffers)?;
        let clocks = [before, clock(self.ranks.device(0))?];
        let verification = verified(self.ranks, exchange, buffers, format)?;
        let mut operation = self.trial.operation.clone();
        if let Operation::Collective { shape, .. } = &mut operation {
            shape.regime = Some(regime);
            shape.rank_rule = Some(RankRule::Longest);
            shape.in_place = Some(false);
        }
        let mut seen =
            Measurement::new(self.device, operation, sampled.timing, Provenance::native());
        seen.dtype = Some(self.trial.dtype);
        seen.work = OperationWork::moved(shape.message, ByteConvention::Copy);
        [seen.circumstances.clock_before, seen.circumstances.clock_after] = clocks;
        seen.verification = verification;
        seen.method = Method {
            warm_up_operations: Some(WARM_UP + sampled.warm_up_operations),
            timed_by: Some(TimedBy::DeviceEvents),
            instructions: Some("nccl".to_owned()),
            data: Some(DataPattern::Uniform),
            launch: Some(LaunchCost::Inside),
            ..Method::default()
        };
        Ok(seen)
    }
}

/// Room for what each rank is given and gets. What there is of it is in `buffers` after an error too.
fn allocate(
    ranks: &mut dyn Ranks,
    count: usize,
    [given, result]: [u64; 2],
    buffers: &mut Vec<Buffers>,
) -> Result<(), CudaError> {
    for rank in 0..count {
        let device = ranks.device(rank);
        buffers.push(Buffers { given: device.allocate(given)?, result: 0 });
        let result = device.allocate(result)?;
        if let Some(last) = buffers.last_mut() {
            last.result = result;
        }
    }
    Ok(())
}

/// How long the slowest rank takes for `count` collectives back to back, from queues that are empty.
fn timed(
    ranks: &mut dyn Ranks,
    count: u64,
    exchange: Exchange,
    on: &[Buffers],
) -> Result<Nanos, CudaError> {
    (0..on.len()).try_for_each(|rank| ranks.device(rank).mark(Mark::Begin))?;
    (0..count).try_for_each(|_| ranks.queue(exchange, on))?;
    (0..on.len()).try_for_each(|rank| ranks.device(rank).mark(Mark::End))?;
    ranks.wait()?;
    let mut longest = Nanos::ZERO;
    for rank in 0..on.len() {
        longest = longest.max(ranks.device(rank).between_marks()?);
    }
    Ok(longest)
}

/// Samples of one collective each, or of as many as last.
fn sampled(
    ranks: &mut dyn Ranks,
    (regime, time): (CollectiveRegime, Nanos),
    exchange: Exchange,
    on: &[Buffers],
) -> Result<Sampled, CudaError> {
    let lasting = SamplingRule::lasting(time);
    let rule = match regime {
        CollectiveRegime::Chained => lasting,
        CollectiveRegime::FreshEntry => {
            SamplingRule { least_sample: Nanos::ZERO, fewest: 20, ..lasting }
        }
    };
    sample_timed(rule, &mut |count| timed(ranks, count, exchange, on))
}

/// Some elements of each rank's result, from the first to the last, against the host's own.
fn verified(
    ranks: &mut dyn Ranks,
    exchange: Exchange,
    on: &[Buffers],
    format: Format,
) -> Result<Verification, CudaError> {
    let count = on.len() as u64;
    let [_, length] = lengths(exchange, count);
    // What earlier collectives left must not be taken for what this one wrote.
    let other = operands(format, count);
    for (rank, buffers) in on.iter().enumerate() {
        fill(ranks.device(rank), buffers.result, ELEMENT * length, other)?;
    }
    ranks.queue(exchange, on)?;
    ranks.wait()?;
    let checked = CHECKED.min(length);
    let mut worst = 0.0_f64;
    for (rank, buffers) in on.iter().enumerate() {
        for number in 0..checked {
            let place = if checked > 1 { (length - 1) * number / (checked - 1) } else { 0 };
            let mut bytes = [0; ELEMENT as usize];
            ranks.device(rank).download(buffers.result + ELEMENT * place, &mut bytes)?;
            let found = result(Dtype::Bf16, u16::from_le_bytes(bytes));
            let (mut sum, mut sizes) = (0.0, 0.0);
            for (of, index) in terms(exchange, count, rank as u64, place) {
                let one = format.element(operands(format, of), index);
                sum += one;
                sizes += one.abs();
            }
            let error = (found - sum).abs() / sizes;
            worst = worse(worst, error);
        }
    }
    let is_sum = matches!(exchange.op, CollectiveOp::AllReduce | CollectiveOp::ReduceScatter);
    // Each addition may round once.
    let tolerance = if is_sum { count as f64 * ROUNDING } else { 0.0 };
    Ok(Verification::within(worst, tolerance))
}
