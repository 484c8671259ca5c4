//! Teams that stream over arrays, follow pointers, or do both at once.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};

use super::array::Array;
use super::chase::Cycle;
use super::isa::Isa;
use super::stream::{self, BLOCK, Streams};
use super::team::{TeamWork, TimedWork};
use crate::measurement::{MemoryKernel, PageAdvice, StoreKind};

/// Every thread streams over arrays of its own.
#[derive(Debug)]
pub(super) struct StreamTeam {
    pub(super) kernel: MemoryKernel,
    pub(super) run: fn(&mut Streams<'_>) -> f64,
    /// Of each array of each thread: whole blocks.
    pub(super) elements: usize,
    pub(super) pages: PageAdvice,
}

/// The arrays of a thread.
#[derive(Debug)]
pub(super) struct StreamPart {
    target: Array<f64>,
    first: Array<f64>,
    second: Array<f64>,
    summed: f64,
}

/// Elements of each array of each thread, so that `bytes` are spread over all of them.
pub(super) fn elements(kernel: MemoryKernel, bytes: f64, threads: usize) -> usize {
    let each = bytes / f64::from(kernel.array_count()) / threads.max(1) as f64 / 8.0;
    ((each as usize) / BLOCK).max(1) * BLOCK
}

impl TeamWork for StreamTeam {
    /// None where there was no room.
    type Own = Option<StreamPart>;
    /// How far the result was off.
    type Said = Option<f64>;

    fn prepare(&self, _rank: usize) -> Option<StreamPart> {
        let [target, first, second] = stream::uses(self.kernel);
        let array = |used: bool, value: fn(usize) -> f64| {
            Array::filled(if used { self.elements } else { 0 }, self.pages, value)
        };
        Some(StreamPart {
            target: array(target, stream::target_at)?,
            first: array(first, stream::first_at)?,
            second: array(second, stream::second_at)?,
            summed: 0.0,
        })
    }

    fn work(&self, own: &mut Option<StreamPart>, operations: u64) {
        let Some(own) = own else { return };
        for _ in 0..operations {
            let mut streams = own.streams();
            own.summed = (self.run)(hint::black_box(&mut streams));
        }
    }

    fn finish(&self, own: Option<StreamPart>) -> Option<f64> {
        let mut own = own?;
        let summed = own.summed;
        Some(stream::error(self.kernel, &own.streams(), summed))
    }
}

impl StreamPart {
    fn streams(&mut self) -> Streams<'_> {
        Streams { target: &mut self.target, first: &self.first, second: &self.second }
    }
}

/// One thread follows pointers; the others, if there are any, load memory meanwhile.
#[derive(Debug)]
pub(super) struct ChaseTeam {
    pub(super) bytes: usize,
    pub(super) pages: PageAdvice,
    /// Of those that load: what each loads from.
    pub(super) injected_elements: usize,
    /// Of those that load: turns of waiting between two bursts.
    pub(super) pause: u64,
    /// Rounds that the chaser has ended.
    rounds: AtomicU64,
    /// Bytes that were loaded beside.
    injected: AtomicU64,
}

/// What a thread has.
#[derive(Debug)]
pub(super) enum ChasePart {
    Chaser(Cycle),
    Injector { array: Array<f64>, at: usize, rounds: u64 },
}

/// Elements of one burst: 32 KiB.
const BURST: usize = 4096;

impl ChaseTeam {
    pub(super) const fn new(bytes: usize, pages: PageAdvice) -> Self {
        let (rounds, injected) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bytes, pages, injected_elements: BURST, pause: 0, rounds, injected }
    }

    /// Bytes that were loaded beside so far.
    pub(super) fn injected_bytes(&self) -> u64 {
        self.injected.load(Ordering::Acquire)
    }

    /// Loads burst after burst until the chaser has ended its round.
    fn inject(&self, array: &Array<f64>, at: &mut usize, rounds: u64) {
        let read = stream::kernel(Isa::widest(), MemoryKernel::Read, StoreKind::Ordinary);
        while self.rounds.load(Ordering::Acquire) < rounds {
            let first = &array[*at..*at + BURST];
            if let Some(read) = read {
                hint::black_box(read(&mut Streams { target: &mut [], first, second: &[] }));
            }
            self.injected.fetch_add((BURST * size_of::<f64>()) as u64, Ordering::AcqRel);
            *at = if *at + 2 * BURST > array.len() { 0 } else { *at + BURST };
            let mut waited = 0;
            while waited < self.pause && self.rounds.load(Ordering::Acquire) < rounds {
                hint::spin_loop();
                waited += 1;
            }
        }
    }
}

impl TeamWork for ChaseTeam {
    /// Those that load wait for the chaser's end: what they take to see it is no load of its.
    const TIMED: TimedWork = TimedWork::OfTheFirst;
    type Own = Option<ChasePart>;
    /// Whether the pointers were one cycle; of those that load, that they did. None where there was no room.
    type Said = Option<bool>;

    fn prepare(&self, rank: usize) -> Option<ChasePart> {
        if rank == 0 {
            return Some(ChasePart::Chaser(Cycle::through(self.bytes, self.pages, SEED)?));
        }
        let elements = (self.injected_elements / BURST).max(1) * BURST;
        let array = Array::filled(elements, PageAdvice::Huge, stream::first_at)?;
        Some(ChasePart::Injector { array, at: 0, rounds: 0 })
    }

    fn work(&self, own: &mut Option<ChasePart>, operations: u64) {
        match own {
            Some(ChasePart::Chaser(cycle)) => {
                cycle.follow(operations);
                self.rounds.fetch_add(1, Ordering::AcqRel);
            }
            Some(ChasePart::Injector { array, at, rounds }) => {
                *rounds += 1;
                self.inject(array, at, *rounds);
            }
            None => {
                self.rounds.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    fn finish(&self, own: Option<ChasePart>) -> Option<bool> {
        Some(match own? {
            ChasePart::Chaser(cycle) => cycle.is_whole(),
            ChasePart::Injector { .. } => true,
        })
    }
}

/// Of the order of pointers: any will do.
const SEED: u64 = 0x5eed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::clock::HostClock;
    use crate::cpu::team::in_step;

    /// With a pause that would take years.
    #[test]
    fn injectors_end_with_the_chaser_and_not_with_their_pause() {
        let mut team = ChaseTeam::new(1 << 16, PageAdvice::Default);
        team.pause = u64::MAX;
        let (_, said) = in_step(&[0, 0], (&team, &HostClock::start()), |run| {
            run(1000);
            run(1000)
        });
        assert_eq!(said, [Some(true); 2]);
    }
}
