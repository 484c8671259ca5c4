//! How many instances to give to each phase.

use std::num::NonZeroU32;

use super::{DisaggregatedFigures, Disaggregation};
use crate::{Figures, UniformLoad};

/// The best way to divide a number of devices, and what they would do undivided.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DeviceSplit {
    /// Instances that read prompts.
    pub prefill_instances: NonZeroU32,
    /// Instances that decode.
    pub decode_instances: NonZeroU32,
    /// What that does.
    pub answer: DisaggregatedFigures,
    /// What as many of the decoding instances as the devices allow are expected to do when each does both, the load
    /// shared among them.
    pub together: Figures,
    /// Requests per second over theirs.
    pub gain: f64,
}

impl Disaggregation<'_> {
    /// The numbers of instances on at most `devices` that are expected to serve most requests of `load` per second; of
    /// equals those with the lower time per token, then with fewer devices. [`Disaggregation`]'s own numbers do not
    /// matter. None where the devices do not suffice for one instance of each, or no sequence fits.
    #[must_use]
    pub fn best_split(&self, load: &UniformLoad, devices: u64) -> Option<DeviceSplit> {
        let each_prefill = self.prefill.deployment().devices();
        let each_decode = self.decode.deployment().devices();
        let mut best: Option<(Self, DisaggregatedFigures)> = None;
        for prefill in 1..=devices.saturating_sub(each_decode) / each_prefill {
            // More decoding instances never hurt: they share the sequences.
            let decode = (devices - prefill * each_prefill) / each_decode;
            let (Some(prefill_instances), Some(decode_instances)) = (count(prefill), count(decode))
            else {
                continue;
            };
            let tried = Self { prefill_instances, decode_instances, ..*self };
            let answer = tried.answer(load);
            if best.as_ref().is_none_or(|(_, known)| is_better(&answer, known)) {
                best = Some((tried, answer));
            }
        }
        let (split, answer) = best?;
        if answer.expected.batch <= 0.0 {
            return None;
        }
        let together = self.together(load, devices / each_decode)?;
        Some(DeviceSplit {
            prefill_instances: split.prefill_instances,
            decode_instances: split.decode_instances,
            gain: answer.expected.requests_per_s / together.requests_per_s,
            answer,
            together,
        })
    }

    /// As many decoding instances doing both phases, each with its share of the concurrency.
    fn together(&self, load: &UniformLoad, instances: u64) -> Option<Figures> {
        let instances = count(instances)?;
        let many = f64::from(instances.get());
        let batch = (load.concurrency.get() as f64 / many).min(self.decode.max_batch(load));
        let one = self.decode.figures_at(crate::EstimateKind::Expected, load, batch);
        Some(Figures {
            output_tokens_per_s: one.output_tokens_per_s * many,
            requests_per_s: one.requests_per_s * many,
            batch: batch * many,
            ..one
        })
    }
}

fn is_better(one: &DisaggregatedFigures, other: &DisaggregatedFigures) -> bool {
    // Rates closer than this are the same: a search settles them.
    let same = 1.0 + 1e-9;
    let (rate, known) = (one.expected.requests_per_s, other.expected.requests_per_s);
    rate > known * same || (rate * same >= known && one.expected.step < other.expected.step)
}

fn count(instances: u64) -> Option<NonZeroU32> {
    NonZeroU32::new(u32::try_from(instances).ok()?)
}
