//! What a stored run tells of one replica, for a plan.

use fizeau_core::{Arrival, Channel, Stamp, Tape, Tokens};

use super::{MeanLengths, PlanLevel};
use crate::{LevelReport, ReadRun, SpeedOfLightCurve, SpeedOfLightReference};

/// What a stored run tells of one replica.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TestedReplica {
    /// The levels that tell what it carries.
    pub levels: Vec<PlanLevel>,
    /// Those that may not be used, each with the reason.
    pub left_out: Vec<String>,
    /// How long requests were: the means over the completed ones of all levels.
    pub lengths: MeanLengths,
    /// How regular the arrivals were, where all open levels had them alike: 1 is Poisson, below 1 burstier.
    pub burstiness: Option<f64>,
}

impl TestedReplica {
    /// Of a run that was read again.
    #[must_use]
    pub fn of(run: &ReadRun) -> Self {
        let (mut levels, mut left_out) = (Vec::new(), Vec::new());
        for level in tested(run) {
            match PlanLevel::measured(level) {
                Ok(usable) => levels.push(usable),
                Err(reason) => left_out.push(format!("{}: {reason}", level.load)),
            }
        }
        let (lengths, burstiness) = (lengths(&run.levels), burstiness(&run.levels));
        Self { levels, left_out, lengths, burstiness }
    }
}

/// Of a search the long levels outrank the short ones that lie as high: near its capacity a queue looks shorter in a short level than
/// it gets.
fn tested(run: &ReadRun) -> Vec<&LevelReport> {
    if !run.is_search {
        return run.levels.iter().collect();
    }
    let is_outranked = |level: &LevelReport| {
        let same = |long: &&LevelReport| {
            std::mem::discriminant(&long.load) == std::mem::discriminant(&level.load)
        };
        let load = level.load.value();
        let long = || run.sustained.iter().filter(same).map(|long| long.load.value());
        long().any(|low| low <= load) && long().any(|high| load <= high)
    };
    let short = run.levels.iter().filter(|level| !is_outranked(level));
    short.chain(&run.sustained).collect()
}

fn lengths(levels: &[LevelReport]) -> MeanLengths {
    let sum = |of: &dyn Fn(&LevelReport) -> Option<f64>| {
        levels.iter().map(of).try_fold(0.0, |sum, one| Some(sum + one?))
    };
    let done = sum(&|level| Some(level.summary.requests.completed as f64)).filter(|n| *n > 0.0);
    let mean = |tokens: Option<f64>| Some(tokens? / done?).filter(|mean| *mean > 0.0);
    MeanLengths {
        input: mean(sum(&|level| Some(level.summary.tokens.input?.get() as f64))),
        output: mean(sum(&|level| Some(level.summary.tokens.output.get() as f64))),
    }
}

fn burstiness(levels: &[LevelReport]) -> Option<f64> {
    let open = levels.iter().filter_map(|level| level.asked.arrivals?.cv_squared);
    let all: Vec<f64> = open.map(|cv_squared| 1.0 / cv_squared).collect();
    let (first, others) = all.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

impl MeanLengths {
    /// The speed of light of requests that are all alike and so long; none where a length is not known, or they do not fit.
    #[must_use]
    pub fn speed_of_light_curve(
        self,
        reference: &SpeedOfLightReference,
    ) -> Option<SpeedOfLightCurve> {
        let (input, output) = (self.input?.round() as u64, self.output?.round() as u32);
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.arrivals.push(Arrival::tokens(Stamp::EPOCH, output.max(1), Channel::Visible));
        let mut all = reference.clone().for_prompts_of(Tokens::new(input.max(1))).lengths();
        all.add(&tape);
        SpeedOfLightCurve::over(reference.reference(), &all, &[]).ok()
    }

    /// Both in whole tokens, at least one each; none where one is not known.
    #[must_use]
    pub fn whole(self) -> Option<[Tokens; 2]> {
        let whole = |mean: f64| Tokens::new((mean.round() as u64).max(1));
        Some([whole(self.input?), whole(self.output?)])
    }
}
