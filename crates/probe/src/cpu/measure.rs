//! One trial on the processor: its team, its samples, and what is kept beside them.

mod operators;

use std::convert::Infallible;

use fizeau_core::{Bytes, BytesPerSec, Clock, Nanos};

use super::clock::{HostClock, cycles_per_second};
use super::isa::Isa;
use super::memory::{ChaseTeam, StreamTeam, elements};
use super::team::{TeamWork, in_step};
use super::{available, peak, stream, system};
use crate::measurement::{
    ArrayPages, CacheState, Circumstances, DataPattern, Dtype, FirstTouch, LaunchCost, Measurement,
    MemoryKernel, Method, OperationWork, Provenance, StoreKind, TimedBy, Verification, worse,
};
use crate::sampling::{Sampled, SamplingRule, sample_timed};
use crate::trial::{ProbeTrial, Unavailable};

/// One trial, and with what it is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measuring<'a> {
    pub(super) cpus: &'a [u32],
    pub(super) clock: HostClock,
    pub(super) time: Nanos,
    pub(super) trial: &'a ProbeTrial,
    /// The last caches of all processors together.
    pub(super) last_cache: Option<Bytes>,
}

/// What was sampled, and what went on meanwhile.
#[derive(Debug)]
struct Observed {
    sampled: Sampled,
    around: Circumstances,
    huge: Option<f64>,
}

/// Arrays take no more than this part of the memory that can be had.
const OF_AVAILABLE: f64 = 0.7;

impl Measuring<'_> {
    /// A team at work: samples, clocks around them, and what each thread says.
    fn observe<W: TeamWork>(&self, team: &W, after: impl Fn(Nanos)) -> (Observed, Vec<W::Said>) {
        in_step(self.cpus, (team, &self.clock), |operations| {
            let clock_before = cycles_per_second(&self.clock);
            let ticks = system::ticks(self.cpus);
            let huge = system::huge_bytes();
            let begun = self.clock.now();
            let mut timed = |count: u64| Ok::<Nanos, Infallible>(operations(count));
            let sampled = match sample_timed(SamplingRule::lasting(self.time), &mut timed) {
                Ok(sampled) => sampled,
                Err(never) => match never {},
            };
            after(self.clock.now().saturating_since(begun));
            let shares =
                system::ticks(self.cpus).zip(ticks).and_then(|(now, then)| now.shares_since(&then));
            let around = Circumstances {
                clock_before,
                clock_after: cycles_per_second(&self.clock),
                steal_share: shares.map(|(steal, _)| steal),
                others_share: shares.map(|(_, others)| others),
                beside: None,
            };
            Observed { sampled, around, huge }
        })
    }

    fn watch<W: TeamWork>(&self, team: &W) -> (Observed, Vec<W::Said>) {
        self.observe(team, |_| {})
    }

    fn fits(&self, bytes: f64) -> Result<(), Unavailable> {
        match available::available_bytes() {
            Some(there) if bytes > OF_AVAILABLE * there => Err(Unavailable::because(format!(
                "it needs {} of memory, and {} are available",
                crate::measurement::size(Bytes::new(bytes)),
                crate::measurement::size(Bytes::new(there))
            ))),
            _ => Ok(()),
        }
    }

    /// The measurement, but for what only its kind knows.
    fn measurement(&self, observed: Observed, arrays: f64, work: OperationWork) -> Measurement {
        let Observed { sampled, around, huge } = observed;
        let ProbeTrial { operation, dtype, pages, .. } = self.trial;
        let mut seen =
            Measurement::new("cpu", operation.clone(), sampled.timing, Provenance::native());
        seen.dtype = Some(*dtype);
        seen.work = work;
        seen.circumstances = around;
        seen.method = Method {
            warm_up_operations: Some(sampled.warm_up_operations),
            threads: Some(self.cpus.len() as u32),
            cpus: if system::HOLDS_THREADS { self.cpus.to_vec() } else { Vec::new() },
            first_touch: Some(FirstTouch::OwnThread),
            timed_by: Some(TimedBy::Host),
            launch: Some(LaunchCost::NothingLaunched),
            cache: Some(CacheState::Warm),
            pages: (arrays > 0.0).then_some(ArrayPages {
                requested: *pages,
                huge: huge.map(Bytes::new),
                arrays: Bytes::new(arrays),
            }),
            ..Method::default()
        };
        seen
    }

    pub(super) fn memory(
        &self,
        kernel: MemoryKernel,
        stores: Option<StoreKind>,
        working_set: Bytes,
    ) -> Result<Measurement, Unavailable> {
        let stores = stores.unwrap_or(StoreKind::Ordinary);
        let isa = Isa::widest();
        let run = stream::kernel(isa, kernel, stores).ok_or_else(|| {
            Unavailable::because(format!("{} has no {kernel} with {stores} stores", isa.as_str()))
        })?;
        let elements = elements(kernel, working_set.get(), self.cpus.len());
        let array_count = f64::from(kernel.array_count());
        let bytes = 8.0 * array_count * (elements * self.cpus.len()) as f64;
        self.fits(bytes)?;
        let team = StreamTeam { kernel, run, elements, pages: self.trial.pages };
        let (observed, said) = self.watch(&team);
        let work = kernel.work((elements * self.cpus.len()) as u64, Dtype::F64, stores);
        let mut seen = self.measurement(observed, bytes, work);
        seen.verification = worst(said, stream::TOLERANCE)?;
        // A write stores one constant everywhere.
        let is_constant = kernel == MemoryKernel::Write;
        let data = if is_constant { DataPattern::Constant } else { DataPattern::Uniform };
        seen.method.data = Some(data);
        seen.method.instructions = Some(isa.as_str().to_owned());
        seen.method.load_width_bytes = Some(isa.width_bytes());
        seen.method.unroll = stream::unroll(isa, kernel);
        if self.last_cache.is_some_and(|cache| working_set.get() >= 4.0 * cache.get()) {
            seen.method.cache = Some(CacheState::ColdBySize);
        }
        Ok(seen)
    }

    pub(super) fn chase(
        &self,
        working_set: Bytes,
        pause: u64,
        injected: f64,
    ) -> Result<Measurement, Unavailable> {
        let injectors = self.cpus.len() - 1;
        // All of them together load more than caches hold.
        let injected = injected / injectors.max(1) as f64;
        let bytes = working_set.get() + injected * injectors as f64;
        self.fits(bytes)?;
        let mut team = ChaseTeam::new(working_set.get() as usize, self.trial.pages);
        team.injected_elements = (injected / 8.0) as usize;
        team.pause = pause;
        let rate = std::cell::Cell::new(None);
        let after = |took: Nanos| {
            let rate_now = team.injected_bytes() as f64 / took.as_secs_f64();
            rate.set(Some(BytesPerSec::new(rate_now)));
        };
        let (observed, said) = self.observe(&team, after);
        let mut seen = self.measurement(observed, bytes, OperationWork::default());
        let whole = said.into_iter().collect::<Option<Vec<bool>>>().ok_or_else(no_room)?;
        seen.verification = match whole.iter().all(|is_whole| *is_whole) {
            true => Verification::within(0.0, 0.0),
            false => {
                Verification::Wrong { error: None, what: "the pointers are not one cycle".into() }
            }
        };
        seen.method.data = Some(DataPattern::Pointers);
        seen.method.load_width_bytes = Some(8);
        seen.circumstances.beside = rate.get().filter(|_| injectors > 0);
        Ok(seen)
    }

    pub(super) fn peak(&self) -> Result<Measurement, Unavailable> {
        let ProbeTrial { dtype, instructions, .. } = self.trial;
        let fits = |found: &&peak::PeakLoop| {
            found.dtype == *dtype
                && instructions.as_ref().is_none_or(|wanted| wanted == found.instructions)
        };
        let loops = peak::loops();
        let found = loops.iter().find(fits).ok_or_else(|| {
            let by = instructions.as_deref().unwrap_or("any instructions");
            Unavailable::because(format!("this processor has no loop for {dtype} by {by}"))
        })?;
        let (observed, said) = self.watch(&PeakTeam(found.run));
        let threads = self.cpus.len() as f64;
        let flops = fizeau_core::Flops::new(found.flops * TURNS as f64 * threads);
        let work = OperationWork { flops: Some(flops), ..OperationWork::default() };
        let mut seen = self.measurement(observed, 0.0, work);
        seen.verification = Verification::within(said.into_iter().fold(0.0, worse), 1e-5);
        seen.method.data = Some(DataPattern::Constant);
        seen.method.instructions = Some(found.instructions.to_owned());
        seen.method.load_width_bytes = Some(found.width_bytes);
        seen.method.unroll = Some(found.unroll);
        Ok(seen)
    }
}

fn no_room() -> Unavailable {
    Unavailable::because("the system has no room for the arrays")
}

/// The worst of what threads say of their results.
fn worst(said: Vec<Option<f64>>, tolerance: f64) -> Result<Verification, Unavailable> {
    let errors = said.into_iter().collect::<Option<Vec<f64>>>().ok_or_else(no_room)?;
    Ok(Verification::within(errors.into_iter().fold(0.0, worse), tolerance))
}

/// Turns of a loop in registers that one operation is.
const TURNS: u64 = 10_000;

/// Every thread runs the same loop.
#[derive(Debug)]
struct PeakTeam(fn(u64) -> f64);

impl TeamWork for PeakTeam {
    type Own = f64;
    type Said = f64;

    fn prepare(&self, _rank: usize) -> f64 {
        0.0
    }

    fn work(&self, own: &mut f64, operations: u64) {
        for _ in 0..operations {
            *own = worse(*own, (self.0)(TURNS));
        }
    }

    fn finish(&self, own: f64) -> f64 {
        own
    }
}
