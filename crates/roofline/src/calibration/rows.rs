//! What measurements say, as the solver takes them.

use super::account::TimeAccount;
use super::constant_shares::{ConstantShares, StepValues, TokenShares};
use super::constants::Constant;
use super::sample::CalibrationSample;
use super::solve::PredictedValue;

/// The constants that passes tell of: those of a step; and what a request takes beside its pass, without which a prompt
/// read by itself would say too much.
pub(super) const OF_PASS: [Constant; 13] = {
    let mut all = [Constant::PerRequest; 13];
    let mut at = 0;
    while at < Constant::STEP.len() {
        all[at] = Constant::STEP[at];
        at += 1;
    }
    all
};

/// One time that tells of passes.
pub(super) enum PassRow {
    /// Time per output token.
    Token(TimeAccount),
    /// Time to first token of requests that are alone: the prompt's own pass.
    Lone(TimeAccount),
}

impl PassRow {
    /// Everything that `sample` says of passes.
    pub(super) fn all(sample: &CalibrationSample) -> impl Iterator<Item = (Self, f64)> {
        let token = (Self::Token(sample.account), sample.tpot);
        let lone = sample.ttft.filter(|_| sample.account.is_lone());
        std::iter::once(token).chain(lone.map(|ttft| (Self::Lone(sample.account), ttft)))
    }
}

impl TimeAccount {
    /// Whether a request has the engine for itself, and its prompt is long enough that reading weights does not show.
    fn is_lone(&self) -> bool {
        let Self { running, waiting, prompt, .. } = self;
        let is_alone = *running <= 1.0 && *waiting <= 0.0 && prompt.abreast <= 1.0;
        is_alone && prompt.all_arithmetic() > 2.0 * prompt.memory
    }
}

impl PredictedValue<13> for PassRow {
    fn predict(&self, values: &[f64; 13]) -> (f64, [f64; 13]) {
        let step: StepValues = std::array::from_fn(|at| values[at]);
        let request = values[step.len()];
        let (total, of_step, beside) = match self {
            Self::Token(account) => {
                let shares = TokenShares::new(account, &step);
                (shares.total(), shares.slopes(), 0.0)
            }
            Self::Lone(account) => {
                let shares = ConstantShares::of_lone_prompt(account, &step);
                (shares.total(), shares.slopes(), request)
            }
        };
        let slopes = std::array::from_fn(|at| of_step.get(at).copied().unwrap_or(beside));
        (total + beside, slopes)
    }
}

/// Time to first token: the front end, the first step, the prompt itself beside those who decode, the prompts of others
/// that came before, and, where not all fit, the wait for a place.
///
/// `a + tpot + q D P + f (B - 1) P + (C - B) O tpot / B` with the time `P` that a prompt takes of all devices.
pub(super) struct FirstTokenRow {
    /// The step, and the wait for a place.
    fixed: f64,
    /// The prompt on the devices that it runs on.
    own: f64,
    others: f64,
}

impl FirstTokenRow {
    /// Of a load whose time per output token is `tpot` by the same constants.
    pub(super) fn new(account: &TimeAccount, step: &StepValues, tpot: f64) -> Self {
        let prompt = ConstantShares::of_prompt(&account.prompt, step).total();
        let wait = account.waiting * account.output * tpot / account.running;
        Self {
            fixed: tpot + wait,
            own: prompt * account.prompt.abreast,
            others: prompt * (account.running - 1.0),
        }
    }
}

impl PredictedValue<{ Constant::FIRST_TOKEN.len() }> for FirstTokenRow {
    fn predict(&self, values: &[f64; 3]) -> (f64, [f64; 3]) {
        let [request, slowdown, queue] = *values;
        let parts = [request, slowdown * self.own, queue * self.others];
        (self.fixed + parts.iter().sum::<f64>(), parts)
    }
}
