//! Staying below a level that is allowed and not worth it.

use crate::{Knee, StepRule, knee};

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
    let positive = |(_, level): &(usize, &[f64; 2])| level.iter().all(|&figure| figure > 0.0);
    let mut rest = levels.iter().enumerate().filter(positive);
    let (mut at, mut from) = rest.next()?;
    while let Some((beyond, to)) = rest.next() {
        let step = Knee { at, beyond, gain: to[0] / from[0] - 1.0, cost: to[1] / from[1] };
        let is_dip = rest.clone().any(|(_, later)| later[0] >= to[0] && later[1] <= to[1]);
        if step.gain < rule.least_gain && step.cost >= rule.most_cost && !is_dip {
            return Some(step);
        }
        (at, from) = (beyond, to);
    }
    None
}
