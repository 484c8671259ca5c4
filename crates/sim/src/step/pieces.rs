//! Step times in whole units, and runs of decode steps in closed form.
//!
//! A step takes the longest of some times: memory's, the arithmetic's. While the same sequences decode a token each, each of them
//! grows in a straight line with the contexts, but for the places where the mean context passes a window: layers behind it read
//! no more from there on. So between windows a decode step is the longest of a few straight lines, which are kept in
//! integers for each batch size: a step costs a few multiplications, and a run of them a division.

use std::cell::RefCell;
use std::sync::Arc;

use fizeau_core::{Nanos, Seconds};
use fizeau_roofline::{PassSums, System};

use super::sums;
use crate::engine::{LinearStepTimes, StepLoad};

/// One of the times of which a step takes the longest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Branch {
    /// What the devices take.
    pub(super) silicon: Seconds,
    /// What the host adds.
    pub(super) host: Nanos,
    /// Whether contexts that sequences share count once.
    pub(super) once: bool,
}

/// The most times that any step has.
const MOST: usize = 5;
/// As many as any step time has; those that it has not are zero.
pub(super) type Branches = [Branch; MOST];

/// Bits of a fraction of a nanosecond, as in [`LinearStepTimes`].
const FRACTION: u32 = 32;
/// What rounds down to the next nanosecond with this on top has been rounded up: no step is shorter than its time.
const ROUND_UP: u128 = (1 << FRACTION) - 1;
/// In the last piece, which has no end: mean contexts so far apart tell how steep it is.
const FAR: u64 = 1 << 20;
/// Batches whose lines are kept.
const KEPT: u64 = 256;

impl Branch {
    /// In 2^-32 ns, such that rounding down to nanoseconds rounds the time up.
    fn fine(&self) -> u128 {
        let nanos = self.silicon.get() * 1e9;
        // Saturates where it is beyond centuries, and a time is not negative. In two parts, since a conversion of a float to 128
        // bits takes longer than all the rest.
        let whole = nanos as u64;
        let part = round_up((nanos - whole as f64) * (1_u64 << FRACTION) as f64);
        let whole = u128::from(whole.saturating_add(self.host.as_nanos())) << FRACTION;
        whole.saturating_add(part.into()).saturating_add(ROUND_UP)
    }

    /// Rounded up.
    fn nanos(&self) -> u64 {
        round_up(self.silicon.get() * 1e9).saturating_add(self.host.as_nanos())
    }
}

/// `f64::ceil` without a call, where the processor need not have an instruction for it.
const fn round_up(value: f64) -> u64 {
    let whole = value as u64;
    whole.saturating_add(((whole as f64) < value) as u64)
}

/// The longest, rounded up.
pub(super) fn longest(branches: &Branches) -> Nanos {
    Nanos::from_nanos(branches.iter().map(Branch::nanos).max().unwrap_or(0))
}

fn rounded(fine: u128) -> Nanos {
    Nanos::from_nanos(u64::try_from(fine >> FRACTION).unwrap_or(u64::MAX))
}

/// The pieces of a system's decode steps, each made when it is first asked for.
#[derive(Debug, Clone)]
pub(super) struct StepPieces {
    /// Where layers stop reading more, in tokens, rising.
    windows: Arc<[u64]>,
    /// By the number of sequences, modulo [`KEPT`].
    kept: RefCell<Vec<Option<StepPiece>>>,
}

/// Decode steps of the same batch between two windows.
#[derive(Debug, Clone, Copy)]
struct StepPiece {
    decoding: u64,
    padded: u64,
    /// The contexts at its beginning and its end, summed over the batch; the end is not part of it.
    from: u64,
    to: u64,
    lines: [LinearTime; MOST],
    /// How many of them there are: one that is never the longest is left out.
    count: usize,
}

/// A time in 2^-32 ns: at the beginning of a piece, and growing by so much a token.
#[derive(Debug, Clone, Copy, Default)]
struct LinearTime {
    start: u128,
    slope: u64,
    /// [`Branch::once`].
    once: bool,
}

/// Where a batch is in a piece.
#[derive(Debug, Clone, Copy)]
struct WithinPiece {
    /// Its contexts beyond those of the beginning.
    beyond: u64,
    /// Of all its contexts, those that are shared and counted again.
    shared: u64,
}

impl StepPieces {
    pub(super) fn new(system: &System) -> Self {
        let mut windows: Vec<u64> = system.windows().collect();
        windows.sort_unstable();
        windows.dedup();
        Self { windows: windows.into(), kept: RefCell::new(Vec::new()) }
    }

    /// The length of a step whose times `of` knows.
    pub(super) fn step_time(&self, load: &StepLoad, of: impl Fn(&PassSums) -> Branches) -> Nanos {
        if !only_decodes(load) {
            return longest(&of_step(load, of));
        }
        self.with(load, of, |piece| rounded(piece.longest(piece.within(load)).1))
    }

    /// The lengths of this step and those behind it, if all it does is to decode.
    pub(super) fn pace(
        &self,
        load: &StepLoad,
        of: impl Fn(&PassSums) -> Branches,
    ) -> Option<LinearStepTimes> {
        only_decodes(load).then(|| self.with(load, of, |piece| piece.pace(load)))
    }

    /// Asks the piece that `load` lies in.
    fn with<T>(
        &self,
        load: &StepLoad,
        of: impl Fn(&PassSums) -> Branches,
        ask: impl Fn(&StepPiece) -> T,
    ) -> T {
        let mut kept = self.kept.borrow_mut();
        if kept.is_empty() {
            kept.resize(KEPT as usize, None);
        }
        match kept.get_mut((load.decode_sequences % KEPT) as usize) {
            Some(Some(piece)) if piece.holds(load) => ask(piece),
            Some(place) => ask(place.insert(self.piece(load, of))),
            None => ask(&self.piece(load, of)),
        }
    }

    fn piece(&self, load: &StepLoad, of: impl Fn(&PassSums) -> Branches) -> StepPiece {
        let (decoding, context) = (load.decode_sequences, load.decode_context_tokens.get());
        let all = |window: &u64| window.saturating_mul(decoding);
        let next = self.windows.partition_point(|window| all(window) <= context);
        let from = next.checked_sub(1).and_then(|last| self.windows.get(last)).map_or(0, all);
        let to = self.windows.get(next).map_or(u64::MAX, all);
        let end = to.min(from.saturating_add(decoding.saturating_mul(FAR)));
        let at = |context: u64| of(&PassSums { context: context as f64, ..sums(load) });
        let (first, last) = (at(from), at(end));
        let span = u128::from(end.saturating_sub(from).max(1));
        let mut piece = StepPiece {
            decoding,
            padded: load.padded_tokens,
            from,
            to,
            lines: <[LinearTime; MOST]>::default(),
            count: 0,
        };
        for (line, last) in first.iter().zip(&last) {
            let start = line.fine();
            let slope = last.fine().saturating_sub(start).div_ceil(span);
            let slope = u64::try_from(slope).unwrap_or(u64::MAX);
            piece.add(LinearTime { start, slope, once: line.once });
        }
        piece
    }
}

impl StepPiece {
    fn holds(&self, load: &StepLoad) -> bool {
        let context = load.decode_context_tokens.get();
        self.decoding == load.decode_sequences
            && self.padded == load.padded_tokens
            && (self.from..self.to).contains(&context)
    }

    /// Adds a line, unless another is always at least as long; drops those that it outdoes.
    fn add(&mut self, new: LinearTime) {
        let known = self.lines;
        let known = known.iter().take(self.count);
        if known.clone().any(|line| line.outdoes(&new)) {
            return;
        }
        let left = known.filter(|line| !new.outdoes(line));
        let mut lines = <[LinearTime; MOST]>::default();
        self.count = 0;
        for (place, line) in lines.iter_mut().zip(left.chain([&new])) {
            *place = *line;
            self.count += 1;
        }
        self.lines = lines;
    }

    fn lines(&self) -> impl Iterator<Item = &LinearTime> {
        self.lines.iter().take(self.count)
    }

    const fn within(&self, load: &StepLoad) -> WithinPiece {
        let beyond = load.decode_context_tokens.get().saturating_sub(self.from);
        WithinPiece { beyond, shared: load.decode_shared_tokens.get() }
    }

    /// The line that is longest with these contexts, of equals the steepest, and its value.
    fn longest(&self, within: WithinPiece) -> (LinearTime, u128) {
        let mut longest = (LinearTime::default(), 0);
        for line in self.lines() {
            let value = line.at(within);
            if (value, line.slope) > (longest.1, longest.0.slope) {
                longest = (*line, value);
            }
        }
        longest
    }

    /// Until another line overtakes, or the piece ends.
    fn pace(&self, load: &StepLoad) -> LinearStepTimes {
        let within = self.within(load);
        let (longest, first) = self.longest(within);
        let left = self.to.saturating_sub(load.decode_context_tokens.get());
        let mut steps = left.div_ceil(self.decoding.max(1));
        for other in self.lines().filter(|other| other.slope > longest.slope) {
            let gap = first.saturating_sub(other.at(within));
            let closing =
                u128::from(other.slope - longest.slope) * u128::from(self.decoding.max(1));
            steps = steps.min(u64::try_from(gap / closing).unwrap_or(u64::MAX).saturating_add(1));
        }
        let growth = u128::from(longest.slope) * u128::from(self.decoding);
        LinearStepTimes { steps: steps.max(1), first, growth }
    }
}

impl LinearTime {
    fn at(&self, WithinPiece { beyond, shared }: WithinPiece) -> u128 {
        let shared = if self.once { shared } else { 0 };
        let change = u128::from(self.slope) * u128::from(beyond.abs_diff(shared));
        if shared > beyond {
            self.start.saturating_sub(change)
        } else {
            self.start.saturating_add(change)
        }
    }

    /// Whether it is at least as long as `other` wherever both are asked. One that counts shared contexts once may be any less.
    const fn outdoes(&self, other: &Self) -> bool {
        self.start >= other.start && self.slope >= other.slope && (!self.once || other.once)
    }
}

/// The times of a step, with shared contexts once in those that count them so.
fn of_step(load: &StepLoad, of: impl Fn(&PassSums) -> Branches) -> Branches {
    let sums = sums(load);
    let mut branches = of(&sums);
    if load.decode_shared_tokens.get() > 0 {
        let context = sums.context - load.decode_shared_tokens.get() as f64;
        let once = of(&PassSums { context, ..sums });
        for (branch, once) in branches.iter_mut().zip(once).filter(|(branch, _)| branch.once) {
            *branch = once;
        }
    }
    branches
}

const fn only_decodes(load: &StepLoad) -> bool {
    load.decode_sequences > 0 && load.prefill_sequences == 0 && load.drafted_tokens == 0
}
