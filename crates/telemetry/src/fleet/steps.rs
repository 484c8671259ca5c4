//! The steps of an engine, each held against its bound.

use fizeau_core::{Millis, Stamp};
use fizeau_roofline::{PassSums, System};
use serde::{Deserialize, Serialize};

use crate::forward_pass::{ForwardPass, ForwardPasses, ScheduledWork};

/// The forward passes of one engine over a window, each held against the bound of just what it worked on: times that nobody had to
/// estimate a batch for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StepsAssessment {
    /// How many there were.
    pub steps: u64,
    /// Records that did not come, since the subscription began.
    pub lost: u64,
    /// What the times are of, by the engine's word; absent where it does not say, and then from scheduling to output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_scope: Option<String>,
    /// The time of all of them together.
    pub wall_ms: Millis,
    /// The least time of all of them together.
    pub bound_ms: Millis,
    /// The one over the other.
    pub share: f64,
    /// Likewise of the steps that only decode; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode_share: Option<f64>,
    /// Likewise of the steps with prompts among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill_share: Option<f64>,
}

/// Times in seconds.
#[derive(Default, Clone, Copy)]
struct Times {
    wall: f64,
    bound: f64,
}

impl Times {
    fn add(&mut self, wall: f64, bound: f64) {
        self.wall += wall;
        self.bound += bound;
    }

    fn share(self) -> Option<f64> {
        Some(self.bound / self.wall).filter(|share| share.is_finite())
    }
}

impl StepsAssessment {
    /// The passes that were read since `from`, held against `system`: the devices of one rank, one stage. None where there were none.
    #[must_use]
    pub fn of(passes: &ForwardPasses, from: Stamp, system: &System) -> Option<Self> {
        let late = passes.passes.iter().rev().take_while(|(at, _)| *at >= from);
        let (mut steps, mut decode, mut prefill) = (0, Times::default(), Times::default());
        let mut timing_scope = None;
        for (_, ForwardPass { wall_time, scheduled_requests, timing_scope: scope, .. }) in late {
            let bound = system.bound_sums(&sums(scheduled_requests)).total.get();
            let kind = match scheduled_requests.num_prefill_requests {
                0 => &mut decode,
                _ => &mut prefill,
            };
            kind.add(*wall_time, bound);
            timing_scope = timing_scope.or_else(|| scope.clone());
            steps += 1;
        }
        let (wall, bound) = (decode.wall + prefill.wall, decode.bound + prefill.bound);
        Some(Self {
            steps,
            lost: passes.lost,
            timing_scope,
            wall_ms: Millis::new(wall * 1e3),
            bound_ms: Millis::new(bound * 1e3),
            share: Times { wall, bound }.share()?,
            decode_share: decode.share(),
            prefill_share: prefill.share(),
        })
    }
}

/// The least that a pass over `work` can be: of several prompts only sums are known, and each attends at least to itself.
fn sums(work: &ScheduledWork) -> PassSums {
    let [prompts, tokens, before] =
        [work.num_prefill_requests, work.sum_prefill_tokens, work.sum_prefill_kv_tokens]
            .map(|count| count as f64);
    let each = if prompts > 0.0 { tokens / prompts } else { 0.0 };
    let earlier = if work.num_prefill_requests == 1 { tokens * before } else { 0.0 };
    PassSums {
        decoding: work.num_decode_requests as f64,
        context: work.sum_decode_kv_tokens as f64,
        prompts,
        prompt_tokens: tokens,
        prompt_context: tokens + before,
        prompt_pairs: tokens * (each + 1.0) / 2.0 + earlier,
        ..PassSums::default()
    }
}
