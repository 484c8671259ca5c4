//! The steps of an engine, each held against its bound.

mod host_bound;

pub use host_bound::HostBoundSteps;

use std::collections::BTreeSet;
use std::sync::Arc;

use fizeau_core::{Millis, Seconds, Stamp, document};
use fizeau_roofline::System;

use crate::forward_pass::{ForwardPass, ForwardPasses};

document! {
    /// The forward passes of one engine over a window, each held against the bound of just what it worked on: times that nobody had to
    /// estimate a batch for.
    #[non_exhaustive]
    pub struct StepsAssessment {
        /// How many there were.
        pub steps: u64,
        /// The data-parallel ranks of workers that they are of, each held against its own share of what serves.
        pub ranks: u64,
        /// Records that did not come: of a level those of it, else since the subscription began.
        pub lost: u64,
        /// What the times are of, by the engine's word; absent where it does not say, and then from scheduling to output.
        pub timing_scope?: String,
        /// The time of all of them together.
        pub wall as "wall_ms": Millis,
        /// The least time of all of them together.
        pub bound as "bound_ms": Millis,
        /// The one over the other.
        pub share: f64,
        /// Likewise of the steps that only decode; absent where there was none.
        pub decode_share?: f64,
        /// Likewise of the steps with prompts among them.
        pub prefill_share?: f64,
        /// That they wait for the host, and how long; absent where they do not, or nobody can tell.
        pub host_bound?: HostBoundSteps,
    }
}

/// A worker, and which data-parallel rank of it.
type Rank = (Arc<str>, u32);

/// One step beside its bound.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JudgedStep {
    /// When its record was read.
    pub at: Stamp,
    /// How long it took.
    pub wall: Seconds,
    /// The least time that what it worked on takes.
    pub bound: Seconds,
    /// The share of its tokens that are of prompts, 0 to 1.
    pub prefill_share: f64,
    /// What a calibrated engine takes; none where none is known.
    calibrated: Option<Seconds>,
    /// What of the bound is arithmetic, whatever else takes longer.
    arithmetic: Seconds,
    /// Whether it waits for no other rank's.
    is_alone: bool,
    /// Requests in decode.
    requests: u64,
    /// The engine's own count.
    counter: u64,
    rank: Rank,
    scope: Option<Arc<str>>,
}

impl JudgedStep {
    /// A pass whose record was read `at` that instant, held against `system`, which has one stage. Of a rank that is one of several
    /// attention groups it is the least time of a step with just that rank's batch, whatever the others have
    /// ([`System::bound_group`]).
    #[must_use]
    pub fn of(at: Stamp, pass: &ForwardPass, system: &System) -> Self {
        let sums = pass.scheduled_requests.least_sums(system.model().max_context);
        let bound = system.bound_sums(&sums);
        Self {
            at,
            wall: pass.wall_time,
            bound: system.bound_group(&sums),
            is_alone: system.deployment().attention_groups() == 1,
            prefill_share: pass.prefill_share().unwrap_or(0.0),
            calibrated: None,
            arithmetic: bound.arithmetic(),
            requests: pass.scheduled_requests.num_decode_requests,
            counter: pass.counter_id,
            rank: (Arc::clone(&pass.worker_id), pass.dp_rank),
            scope: pass.timing_scope.clone(),
        }
    }

    /// The same, of which is known what a calibrated engine takes.
    #[must_use]
    pub fn predicted(self, calibrated: Option<Seconds>) -> Self {
        Self { calibrated, ..self }
    }

    /// Whether it only decodes, and so few requests that more of them would hardly take longer, and waits for nobody.
    fn is_small_decode(&self) -> bool {
        self.is_alone
            && self.requests > 0
            && self.prefill_share <= 0.0
            && self.arithmetic <= self.bound * 0.5
    }
}

#[derive(Default, Clone, Copy)]
struct Times {
    wall: Seconds,
    bound: Seconds,
}

impl Times {
    fn plus(self, wall: Seconds, bound: Seconds) -> Self {
        Self { wall: self.wall + wall, bound: self.bound + bound }
    }

    fn share(self) -> Option<f64> {
        Some(self.bound / self.wall).filter(|share| share.is_finite())
    }
}

impl StepsAssessment {
    /// The passes that were read since `from`, held against `system` as [`JudgedStep::of`] does. None where there were none.
    #[must_use]
    pub fn of(passes: &ForwardPasses, from: Stamp, system: &System) -> Option<Self> {
        let late = passes.passes.iter().filter(|(at, _)| *at >= from);
        let judged: Vec<JudgedStep> =
            late.map(|(at, pass)| JudgedStep::of(*at, pass, system)).collect();
        Self::of_judged(&judged, passes.lost)
    }

    /// Steps that were held against their bounds, of which so many records were `lost`; none where there were none.
    #[must_use]
    pub fn of_judged<'a>(
        judged: impl IntoIterator<Item = &'a JudgedStep> + Clone,
        lost: u64,
    ) -> Option<Self> {
        let host_bound = HostBoundSteps::of(judged.clone());
        let (mut steps, mut decode, mut prefill) = (0, Times::default(), Times::default());
        let (mut ranks, mut scope) = (BTreeSet::new(), None);
        for step in judged {
            let kind = if step.prefill_share > 0.0 { &mut prefill } else { &mut decode };
            *kind = kind.plus(step.wall, step.bound);
            ranks.insert(&step.rank);
            scope = step.scope.as_ref().or(scope);
            steps += 1;
        }
        let all = decode.plus(prefill.wall, prefill.bound);
        Some(Self {
            steps,
            ranks: ranks.len() as u64,
            lost,
            timing_scope: scope.map(ToString::to_string),
            wall: all.wall.to_millis(),
            bound: all.bound.to_millis(),
            share: all.share()?,
            decode_share: decode.share(),
            prefill_share: prefill.share(),
            host_bound,
        })
    }
}

/// Why the steps of an engine of several pipeline `stages` are held against nothing: vLLM times the model on one device of the last
/// stage (`vllm/v1/metrics/forward_pass_metrics.py` at commit 17b07c04), SGLang on one of a stage (`fpm_timing.py` at 2ff518f3), and
/// how layers are divided is nowhere said.
pub(crate) fn why_unbounded(stages: u32) -> String {
    format!("of {stages} pipeline stages an engine times one, and does not say which layers it has")
}
