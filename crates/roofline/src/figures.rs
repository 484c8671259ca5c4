//! The figures of a load: the bound's, and the expected.

mod evenly_routed;
mod phase_costs;

pub use phase_costs::TokenTime;
pub(crate) use phase_costs::{PhaseCosts, decoding_beside, mixed_pass};

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds};

use crate::memory::fullest_stage;
use crate::pass::Pass;
use crate::serving::Prefix;
use crate::span::ContextSpan;
use crate::system::System;
use crate::{PassTime, UniformLoad};

/// The figures of a load by one estimate: bound, expected or calibrated. The words are those of the
/// measured metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Time to first token of a prompt that does not wait for others.
    pub ttft: Seconds,
    /// Time per output token with [`Figures::batch`] sequences running: [`Figures::step`], and none where requests end
    /// with their first token.
    pub tpot: Option<Seconds>,
    /// A decode step with [`Figures::batch`] sequences running, and what it waits for others' prompts.
    pub step: Seconds,
    /// From sending to the last token: `ttft + (O - 1) step`, and as expected at least what requests are in flight for by
    /// Little's law: what is more waits for its first token.
    pub e2el: Seconds,
    /// Generated tokens per second, of all replicas.
    pub output_tokens_per_s: PerSec,
    /// Completed requests per second, of all replicas.
    pub requests_per_s: PerSec,
    /// The sequences that run at once, of all replicas: the concurrency, or what fits.
    pub batch: f64,
}

impl Figures {
    /// Figures from their parts.
    pub(crate) fn new(
        load: &UniformLoad,
        batch: f64,
        ttft: Seconds,
        step: Seconds,
        requests: PerSec,
    ) -> Self {
        Self::of(load.lengths().1, batch, ttft, step, requests)
    }

    /// The same of requests with so many tokens.
    pub(crate) fn of(
        output: f64,
        batch: f64,
        ttft: Seconds,
        step: Seconds,
        requests_per_s: PerSec,
    ) -> Self {
        Self {
            ttft,
            tpot: (output > 1.0).then_some(step),
            step,
            e2el: ttft + step * (output - 1.0),
            output_tokens_per_s: requests_per_s * output,
            requests_per_s,
            batch,
        }
    }

    /// The same with so many requests in flight, which wait for one another's prompts and for places.
    pub(crate) fn with_wait(self, requests: NonZeroU64) -> Self {
        let least = Seconds::new(requests.get() as f64 / self.requests_per_s.get());
        Self { e2el: self.e2el.max(least), ..self }
    }

    /// Generated tokens per second that each user sees, `1 / tpot`; none where there is no [`Figures::tpot`].
    #[must_use]
    pub fn tokens_per_s_per_user(&self) -> Option<PerSec> {
        self.tpot.map(|tpot| PerSec::new(1.0 / tpot.get()))
    }

    /// Generated tokens per second for each device of `system`.
    #[must_use]
    pub fn tokens_per_s_per_device(&self, system: &System) -> PerSec {
        self.output_tokens_per_s * (1.0 / system.deployment().devices() as f64)
    }
}

/// How prefills and decode steps share the devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PhaseSchedule {
    /// Prompts are read in the passes that decode, which read the weights once for both: `TPOT = td(B) + s (tm - td(B))`, with
    /// `tm` the pass that reads `k` prompts ([`System::prompts_of_pass`]) beside the sequences that decode, `td(B)` the one that
    /// reads none, and `s = (B / k - 1) / (O - 1)`, at most 1, the share of a request's passes in which others' prompts come in;
    /// `RPS = B / (B / k tm + (O - B / k) td(B))`, and `k / tm` where each pass reads prompts. As engines do that chunk prompts.
    Mixed,
    /// They alternate, and each step waits for the prompts of the others that come in meanwhile:
    /// `TPOT = td(B) + (B - k) / O Cp`, `RPS = B / (B Cp + (O - 1) td(B))`, with `td(B)` the decode step, `k` the prompts that a
    /// pass reads at once ([`System::prompts_of_pass`]) and `Cp` the share of such a pass that each of them has.
    Serial,
    /// One's memory traffic goes on under the other's arithmetic, perfectly: `TPOT = td(B)`, and
    /// `RPS = 1 / max(Cp + O f / F, O (W / B + k c) / BW)`, with `f` the arithmetic of a token, `W` the weights and `k c`
    /// the cache that it reads.
    Overlapped,
}

impl System {
    /// What nothing can beat under `load`: prefill and decode overlap perfectly, as do memory and arithmetic.
    ///
    /// The time per token is that of [`System::running_batch`] sequences; the rates are those of
    /// [`System::ideal_max_batch`], so that no other use of the memory beats them.
    ///
    /// Llama-3.1-8B in bf16 on one H100 SXM, prompts of 2,048 and outputs of 256 tokens:
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, PhaseSchedule, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    /// let at = |batch: f64| {
    ///     let serial = system.bound_at(&load, batch, PhaseSchedule::Serial);
    ///     let overlapped = system.bound_at(&load, batch, PhaseSchedule::Overlapped);
    ///     (serial.requests_per_s.get(), overlapped.requests_per_s.get(), serial.step.to_millis().get())
    /// };
    /// let printed = |(serial, overlapped, tpot): (f64, f64, f64)| {
    ///     format!("{serial:.1} or {overlapped:.1} requests/s, {tpot:.1} ms")
    /// };
    /// assert_eq!(printed(at(32.0)), "11.6 or 17.4 requests/s, 10.7 ms");
    /// assert_eq!(printed(at(128.0)), "16.7 or 30.1 requests/s, 29.8 ms");
    ///
    /// let (serial, overlapped, tpot) = at(1.0);
    /// assert_eq!(format!("{serial:.2} or {overlapped:.2}, {tpot:.1} ms"), "0.84 or 0.86, 4.6 ms");
    ///
    /// // With 256 at once the caches take 73 GB: they do not fit beside the weights.
    /// let (serial, overlapped, tpot) = at(256.0);
    /// assert_eq!(format!("{serial:.1} or {overlapped:.1}, {tpot:.0} ms"), "18.1 or 30.1, 55 ms");
    /// assert_eq!(format!("{:.0}", system.memory_use(&load, 256.0).cache.get() / 1e9), "73");
    /// assert!(system.ideal_max_batch(&load) < 256.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bound_figures(&self, load: &UniformLoad) -> Figures {
        self.bound_running(load, self.running_batch(load))
    }

    /// [`System::bound_figures`] with exactly `batch` sequences running, fitting or not: the time per token is theirs, the rates
    /// are those of as many as memory could hold of those in flight, and no fewer than run.
    #[must_use]
    pub fn bound_running(&self, load: &UniformLoad, batch: f64) -> Figures {
        let phases = self.bound_phases(load, batch);
        let (local, active) = self.local(self.bound_rate_batch(load, batch));
        let busy = self.busy(load, &PhaseCosts { local, active, ..phases }).longest();
        let requests = PerSec::new(active / busy.get());
        Figures::new(load, batch, phases.alone.total, phases.step.total, requests)
    }

    /// The sequences of which the bound's rates are where `batch` run, so that no other use of the memory beats them.
    pub(crate) fn bound_rate_batch(&self, load: &UniformLoad, batch: f64) -> f64 {
        (load.concurrency.get() as f64).min(self.ideal_max_batch(load)).max(batch)
    }

    /// What the roofline model expects under `load`: prompts are read in the passes that decode
    /// ([`PhaseSchedule::Mixed`]), which take longer for them.
    #[must_use]
    pub fn expected_figures(&self, load: &UniformLoad) -> Figures {
        let figures = self.expected_at(load, self.running_batch(load), PhaseSchedule::Mixed);
        figures.with_wait(load.concurrency)
    }

    /// The ideal passes of `load` with exactly `batch` sequences running, fitting or not, under a schedule.
    #[must_use]
    pub fn bound_at(&self, load: &UniformLoad, batch: f64, schedule: PhaseSchedule) -> Figures {
        let phases = self.bound_phases(load, batch);
        self.figures(load, batch, &phases, schedule, 1.0)
    }

    /// The expected passes of `load` with exactly `batch` sequences running, fitting or not, under a schedule.
    #[must_use]
    pub fn expected_at(&self, load: &UniformLoad, batch: f64, schedule: PhaseSchedule) -> Figures {
        let phases = self.expected_phases(load, batch);
        self.figures(load, batch, &phases, schedule, self.unevenness())
    }

    /// The expected decode step of `load` with `batch` sequences running, part by part.
    #[must_use]
    pub fn expected_decode(&self, load: &UniformLoad, batch: f64) -> PassTime {
        self.expected_pass(&self.decode_pass(load, batch))
    }

    /// The bound of that step.
    pub(crate) fn bound_decode(&self, load: &UniformLoad, batch: f64) -> PassTime {
        self.bound_pass(&self.decode_pass(load, batch))
    }

    /// A micro-batch's decode step: an even share of the replicas' and the stages', with the contexts that sequences
    /// have while they decode.
    #[must_use]
    pub fn decode_pass(&self, load: &UniformLoad, batch: f64) -> Pass {
        let (input, output, _) = load.lengths();
        let (local, _) = self.local(batch);
        let stages = f64::from(self.deployment().pipeline());
        let contexts = ContextSpan::between(input + 1.0, input + output - 1.0);
        Pass::decode((local / stages).max(local.min(1.0)), contexts).with_shared(self.shared(load))
    }

    /// The pass over one prompt of `load`.
    #[must_use]
    pub fn prefill_pass(&self, load: &UniformLoad) -> Pass {
        let (input, _, cached) = load.lengths();
        Pass::prefill(input, cached).with_shared(self.shared(load))
    }

    /// Tokens that all sequences of `load` begin with.
    pub(crate) fn shared(&self, load: &UniformLoad) -> f64 {
        match self.serving().prefix {
            Prefix::Shared => load.lengths().2,
            Prefix::Own => 0.0,
        }
    }

    /// The sequences of each replica that has any, and how many have.
    pub(crate) fn local(&self, batch: f64) -> (f64, f64) {
        let active = f64::from(self.deployment().replicas()).min(batch.max(1.0));
        (batch / active, active)
    }

    /// How much longer the slowest stage takes than the mean one.
    pub(crate) fn unevenness(&self) -> f64 {
        let stages = f64::from(self.deployment().pipeline());
        fullest_stage(self.model(), self.deployment()) * stages
    }

    pub(crate) fn figures(
        &self,
        load: &UniformLoad,
        batch: f64,
        phases: &PhaseCosts,
        schedule: PhaseSchedule,
        unevenness: f64,
    ) -> Figures {
        let ttft = phases.alone.total;
        match schedule {
            PhaseSchedule::Mixed | PhaseSchedule::Serial => {
                let (_, output, _) = load.lengths();
                let times = self.request_times(schedule, phases, output, unevenness);
                let requests = PerSec::new(batch / times.whole.total.get());
                Figures::new(load, batch, ttft, times.token.whole().total, requests)
            }
            PhaseSchedule::Overlapped => {
                let busy = self.busy(load, phases).longest() * unevenness;
                let requests = PerSec::new(phases.active / busy.get());
                let tpot = phases.step.total * unevenness;
                Figures::new(load, batch, ttft, tpot, requests)
            }
        }
    }
}
