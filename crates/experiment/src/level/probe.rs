//! A thin stream of small requests beside the load.

use fizeau_core::PerSec;
use fizeau_transport::Target;
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec, Salt};

use crate::input::{Blame, InputError, InputField};
use crate::workload::{ContextLimit, WorkloadSpec, words_or_ids};

/// A thin stream of small requests beside the load, with figures of its own: what somebody else meets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProbeSpec {
    /// How many a second, at equal distances.
    pub rate: PerSec,
    /// The tokens of each prompt.
    pub input: u64,
    /// The tokens of each output.
    pub output: u64,
}

/// The most probes a second.
const MOST: f64 = 1000.0;

/// Which child of the run's seed the probes have.
const PROBE: u64 = u64::MAX;

impl ProbeSpec {
    /// Probes of 32 tokens in and 8 out at such a rate.
    #[must_use]
    pub const fn new(rate: PerSec) -> Self {
        Self { rate, input: 32, output: 8 }
    }

    /// The stream beside a load of `workload`, which has this `salt`: as many as there is time for.
    pub(super) fn plan(
        self,
        target: &Target,
        workload: &WorkloadSpec,
        salt: Salt,
    ) -> Result<Plan, InputError> {
        let Self { rate, input, output } = self;
        if !(rate.get() > 0.0 && rate.get() <= MOST) {
            let right = format!(
                "give requests per second above 0, at most {MOST}: probes are a small addition to the load"
            );
            return Err(InputError::new(InputField::ProbeRate, right).given(rate.get()));
        }
        let lengths =
            [(InputField::ProbePromptLength, input), (InputField::ProbeOutputLength, output)];
        if let Some((field, _)) = lengths.into_iter().find(|(_, tokens)| *tokens == 0) {
            return Err(InputError::new(field, "give at least 1 token").given(0));
        }
        let spec = PlanSpec {
            arrivals: ArrivalLaw::Constant { rate },
            lengths: Lengths::fixed(input, output),
            content: words_or_ids(target),
            // None of the load's prompts, and those of another run only where the load's are.
            seed: workload.seed.child(PROBE),
            salt: workload.salt.of_probes(salt),
            ..PlanSpec::new(u64::MAX).blame(InputField::ProbeRate)?
        };
        Plan::new(spec).blame(InputField::ProbeRate)
    }
}

/// Refuses probes that are longer than `limit`.
pub(super) fn check(probe: &Plan, limit: &ContextLimit) -> Result<(), InputError> {
    let longest = probe.spec().lengths.longest();
    limit.check(longest.input, longest.output, |message| {
        InputError::new(InputField::ProbeLengths, message)
    })
}
