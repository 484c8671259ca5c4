//! Where more load stops paying, and where to stay below a level that is allowed and not worth it.

use std::fmt;
use std::str::FromStr;

/// When a level is not worth what it costs over a lower one: [`StepRule::KNEE`] where a server saturates,
/// [`StepRule::default`] where to stay below what is allowed.
///
/// Written `2x:10%`: at least 2 times the latency for under 10 % more throughput.
///
/// ```
/// use fizeau_pareto::StepRule;
/// assert_eq!("2x:10%".parse(), Ok(StepRule::default()));
/// assert_eq!(StepRule { most_cost: 1.5, least_gain: 0.2 }.to_string(), "1.5x:20%");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRule {
    /// What latency is multiplied by, from where on it is too much; above 1.
    pub most_cost: f64,
    /// The least relative gain in throughput that pays for that: 0.10 is 10 %; from 0 on.
    pub least_gain: f64,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: write FACTORx:GAIN%, such as 2x:10%, with a factor above 1 and a gain from 0 on")]
pub struct StepRuleError(String);

impl StepRule {
    /// Less than 10 % more throughput for more than 1.5 times the latency. Under saturation, where requests only queue,
    /// throughput stands still and latency grows with the load (Little's law), so a doubling of the load costs twice the
    /// latency; half of that leaves room for noise.
    pub const KNEE: Self = Self { most_cost: 1.5, least_gain: 0.10 };
}

impl Default for StepRule {
    /// Twice the latency for under 10 % more throughput: what is allowed is given up only for what nobody would pay.
    fn default() -> Self {
        Self { most_cost: 2.0, least_gain: 0.10 }
    }
}

impl FromStr for StepRule {
    type Err = StepRuleError;

    fn from_str(text: &str) -> Result<Self, StepRuleError> {
        let parse = || {
            let (cost, gain) = text.split_once(':')?;
            let most_cost: f64 = cost.trim().strip_suffix('x')?.trim().parse().ok()?;
            let percent: f64 = gain.trim().strip_suffix('%')?.trim().parse().ok()?;
            let is_sound =
                most_cost > 1.0 && most_cost.is_finite() && percent >= 0.0 && percent.is_finite();
            is_sound.then_some(Self { most_cost, least_gain: percent / 100.0 })
        };
        parse().ok_or_else(|| StepRuleError(text.to_owned()))
    }
}

impl fmt::Display for StepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // To a millionth of a percent: 0.07 * 100 is no whole number of floats.
        let percent = (self.least_gain * 1e8).round() / 1e6;
        write!(f, "{}x:{percent}%", self.most_cost)
    }
}

/// Where more load stops paying.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Knee {
    /// The index of the last level that pays.
    pub at: usize,
    /// The index of the first level after it that costs too much.
    pub beyond: usize,
    /// The relative gain in throughput from `at` to `beyond`; negative if there is less.
    pub gain: f64,
    /// What latency is multiplied by from `at` to `beyond`.
    pub cost: f64,
}

/// The first level after which no level, however high, gives a gain that pays, while some level costs too much, by
/// `rule`; none if there is no such level.
///
/// All later levels count, not only the next one, because throughput need not rise evenly: a dip between two levels is
/// no knee if it is made good later. `levels` are throughput and latency, in order of rising load. Levels where either is
/// not positive (NaN included) are passed over.
///
/// ```
/// use fizeau_pareto::{StepRule, knee};
/// let levels = [[3.4, 1_190.0], [12.6, 1_290.0], [40.1, 1_610.0], [40.2, 3_180.0]];
/// let knee = knee(&levels, StepRule::KNEE).ok_or("the last step doubles latency for nothing")?;
/// assert_eq!((knee.at, knee.beyond), (2, 3));
/// assert!(knee.gain < 0.01 && knee.cost > 1.9);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn knee(levels: &[[f64; 2]], rule: StepRule) -> Option<Knee> {
    let levels: Vec<KneeLevel<'_>> = positive(levels).collect();
    let knees = levels.iter().enumerate().map(|(i, level)| {
        let mut later = levels.iter().skip(i + 1).map(|other| step(*level, *other));
        let pays = later.clone().any(|knee| knee.gain >= rule.least_gain);
        later.find(|knee| !pays && knee.cost > rule.most_cost)
    });
    knees.flatten().next()
}

/// A level and its place.
type KneeLevel<'a> = (usize, &'a [f64; 2]);

/// The levels of which both figures are positive.
fn positive(levels: &[[f64; 2]]) -> impl Iterator<Item = KneeLevel<'_>> + Clone {
    let is_positive = |(_, level): &KneeLevel<'_>| level.iter().all(|&figure| figure > 0.0);
    levels.iter().enumerate().filter(is_positive)
}

fn step((at, from): KneeLevel<'_>, (beyond, to): KneeLevel<'_>) -> Knee {
    Knee { at, beyond, gain: to[0] / from[0] - 1.0, cost: to[1] / from[1] }
}

/// Where to stay, of levels that are all allowed: the first for which more load does not pay, by `rule`; none if the last is
/// worth it.
///
/// More load does not pay if the very next level costs too much for what it gains, whatever comes after it; or if no later level
/// gives a gain that pays, while some later level costs too much: so fine steps do not hide what they cost together. The latter
/// is a [`knee`] among the levels, where a latency that just reaches the rule's factor is too much already.
///
/// `levels` are throughput and latency, in order of rising load. A next level that a later one beats in both is a dip by chance,
/// and by itself stops nothing. Levels where either figure is not positive are passed over.
///
/// ```
/// use fizeau_pareto::{StepRule, back_off};
/// // Requests per second and ms, each within a goal of 500 ms.
/// let levels = [[30.0, 210.0], [40.0, 220.0], [42.0, 460.0]];
/// let stay = back_off(&levels, StepRule::default()).ok_or("5 % more for 2.1 times the latency")?;
/// assert_eq!((stay.at, stay.beyond), (1, 2));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn back_off(levels: &[[f64; 2]], rule: StepRule) -> Option<Knee> {
    let StepRule { most_cost, least_gain } = rule;
    let together = knee(levels, StepRule { least_gain, most_cost: most_cost.next_down() });
    let steps = [next_step(levels, rule), together].into_iter().flatten();
    steps.min_by_key(|stay| stay.at)
}

/// The first step to a next level that by itself breaks the rule.
fn next_step(levels: &[[f64; 2]], rule: StepRule) -> Option<Knee> {
    let mut rest = positive(levels);
    let mut from = rest.next()?;
    while let Some(level) = rest.next() {
        let (step, to) = (step(from, level), level.1);
        let is_dip = rest.clone().any(|(_, later)| later[0] >= to[0] && later[1] <= to[1]);
        if step.gain < rule.least_gain && step.cost >= rule.most_cost && !is_dip {
            return Some(step);
        }
        from = level;
    }
    None
}
