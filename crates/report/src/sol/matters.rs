//! Everything that is asked of a system besides how fast it is.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Tokens, Watts};
use fizeau_roofline::{
    Disaggregation, HourlyRate, PowerDraw, PowerError, ServingGoal, Speculation,
};
use thiserror::Error;

use super::{SolExtra, SolServing, SolSubject};

/// Everything that is asked of a system besides how fast it is: by what mechanisms its requests are served, and what that costs.
#[derive(Debug, Default)]
pub struct SolMatters<'a> {
    /// Drafts, and how many tokens each has; 0 where the best length is to be found.
    pub drafts: Option<(Speculation, u32)>,
    /// Prefill and decode on instances of their own.
    pub apart: Option<Disaggregation<'a>>,
    /// What a device costs.
    pub rate: Option<HourlyRate>,
    /// How many tokens a pass has at the most, so that prompts are read in chunks.
    pub chunk: Option<Tokens>,
    /// What the devices draw, and the limit for each.
    pub power: Option<(PowerDraw, Watts)>,
    /// What is to be met.
    pub goal: Option<SolGoal>,
}

/// What is to be met, and by how much at the most.
#[derive(Debug, Clone)]
pub struct SolGoal {
    /// The goal.
    pub goal: ServingGoal,
    /// How many requests are in flight, where that is asked for.
    pub in_flight: Option<NonZeroU64>,
    /// The largest number of devices to try.
    pub most_devices: u64,
}

impl SolGoal {
    /// What it takes.
    #[must_use]
    pub fn extra(&self, of: &SolSubject<'_>) -> SolExtra {
        SolExtra::goal(of, &self.goal, self.in_flight, self.most_devices)
    }
}

/// Why a matter has no answer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SolMatterError {
    /// Chunks that leave no room beside the sequences that decode.
    #[error("give more tokens than there are sequences that decode, which are {batch:.0}")]
    Chunk {
        /// How many decode.
        batch: f64,
    },
    /// A limit below what the devices draw at rest, or the like.
    #[error(transparent)]
    Power(#[from] PowerError),
}

impl SolMatters<'_> {
    /// How requests are served. Drafts on instances apart have no account of their own: what else is asked is of plain serving then.
    #[must_use]
    pub fn serving(&self) -> SolServing<'_> {
        match (&self.drafts, &self.apart) {
            (Some((drafts, length)), None) => SolServing::Drafts(drafts, NonZeroU32::new(*length)),
            (None, Some(apart)) => SolServing::Apart(apart),
            _ => SolServing::Plain,
        }
    }

    /// The answers, those of how requests are served first; those that leave that out say so.
    ///
    /// # Errors
    /// If chunks or a limit of power are impossible.
    pub fn extras(&self, of: &SolSubject<'_>) -> Result<Vec<SolExtra>, SolMatterError> {
        let drafts = self.drafts.iter();
        let drafts = drafts.map(|(drafts, length)| SolExtra::speculation(of, drafts, *length));
        let apart = self.apart.iter().map(|apart| SolExtra::disaggregation(of, apart));
        let mut served: Vec<SolExtra> = drafts.chain(apart).collect();
        let serving = self.serving();
        let is_plain = matches!(serving, SolServing::Plain);
        let cost = self.rate.as_ref().map(|rate| SolExtra::cost(of, serving, rate));
        let (of_plain, of_served) = if is_plain { (cost, None) } else { (None, cost) };
        served.extend(of_served);
        let chunked = self.chunk.map(|budget| {
            let wrong = SolMatterError::Chunk { batch: of.batch };
            SolExtra::chunked_prefill(of, budget).ok_or(wrong)
        });
        let power = self.power.as_ref().map(|(draw, limit)| SolExtra::energy(of, draw, *limit));
        let mut plain: Vec<SolExtra> = chunked.transpose()?.into_iter().chain(of_plain).collect();
        plain.extend(power.transpose()?);
        plain.extend(self.goal.as_ref().map(|goal| goal.extra(of)));
        if let Some(note) = self.left_out() {
            plain = plain.into_iter().map(|extra| extra.noted(&note)).collect();
        }
        served.extend(plain);
        Ok(served)
    }

    /// What the answers of plain serving leave out.
    fn left_out(&self) -> Option<String> {
        let drafts = self.drafts.as_ref().map(|_| "without drafts");
        let apart = "with prefill and decode on the same devices";
        let apart = self.apart.as_ref().map(|_| apart);
        let words: Vec<&str> = drafts.into_iter().chain(apart).collect();
        (!words.is_empty()).then(|| format!("These figures are {}.", words.join(" and ")))
    }
}
