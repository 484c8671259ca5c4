//! The steps of an engine, each held against its bound.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use fizeau_core::{Seconds, Stamp};
use fizeau_roofline::{PassSums, System};

use super::StepsAssessment;
use crate::forward_pass::{ForwardPass, ForwardPassSubscriber, ForwardPasses, ScheduledWork};

/// One step beside its bound.
#[derive(Debug, Clone)]
struct Judged {
    at: Stamp,
    wall: Seconds,
    bound: Seconds,
    has_prompts: bool,
    rank: (Arc<str>, u32),
    scope: Option<Arc<str>>,
}

impl Judged {
    fn of(at: Stamp, pass: &ForwardPass, system: &System) -> Self {
        Self {
            at,
            wall: pass.wall_time,
            bound: system.bound_sums(&sums(&pass.scheduled_requests)).total,
            has_prompts: pass.scheduled_requests.num_prefill_requests > 0,
            rank: (Arc::clone(&pass.worker_id), pass.dp_rank),
            scope: pass.timing_scope.clone(),
        }
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
    /// The passes that were read since `from`, held against `system`: the devices of one rank, one stage. None where there were none.
    #[must_use]
    pub fn of(passes: &ForwardPasses, from: Stamp, system: &System) -> Option<Self> {
        let late = passes.passes.iter().filter(|(at, _)| *at >= from);
        let judged: Vec<Judged> = late.map(|(at, pass)| Judged::of(*at, pass, system)).collect();
        Self::of_judged(&judged, passes.lost)
    }

    fn of_judged<'a>(judged: impl IntoIterator<Item = &'a Judged>, lost: u64) -> Option<Self> {
        let (mut steps, mut decode, mut prefill) = (0, Times::default(), Times::default());
        let (mut ranks, mut scope) = (BTreeSet::new(), None);
        for step in judged {
            let kind = if step.has_prompts { &mut prefill } else { &mut decode };
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
        })
    }
}

/// The steps of an engine that is watched, each held against its bound once, when it has come.
#[derive(Debug)]
pub(super) struct WatchedSteps {
    pub(super) subscriber: ForwardPassSubscriber,
    judged: Mutex<VecDeque<Judged>>,
}

/// Steps of a window: 4 minutes at 1,000 a second.
const MOST_JUDGED: usize = 1 << 18;

impl WatchedSteps {
    pub(super) const fn new(subscriber: ForwardPassSubscriber) -> Self {
        Self { subscriber, judged: Mutex::new(VecDeque::new()) }
    }

    /// Those since `from`; what was before is forgotten.
    pub(super) fn since(&self, from: Stamp, system: &System) -> Option<StepsAssessment> {
        // Nobody who reads the stream waits while bounds are computed.
        let new = self.subscriber.take_passes();
        let new = new.iter().map(|(at, pass)| Judged::of(*at, pass, system));
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        judged.extend(new.filter(|step| step.at >= from));
        let early = judged.partition_point(|step| step.at < from);
        let most = judged.len().saturating_sub(MOST_JUDGED);
        judged.drain(..early.max(most));
        let lost = self.subscriber.look(|passes| passes.lost);
        StepsAssessment::of_judged(&*judged, lost)
    }
}

/// The least that a pass over `work` can be: of several prompts only sums are known, and each attends at least to itself.
fn sums(work: &ScheduledWork) -> PassSums {
    let even = work.even_sums();
    if work.num_prefill_requests == 1 {
        return even;
    }
    let nothing_before = ScheduledWork { sum_prefill_kv_tokens: 0, ..*work };
    PassSums { prompt_pairs: nothing_before.even_sums().prompt_pairs, ..even }
}
