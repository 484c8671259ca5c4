//! Where more load stops paying.

use crate::StepRule;

/// Where more load stops paying.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    let positive = |(_, level): &(usize, &[f64; 2])| level.iter().all(|&figure| figure > 0.0);
    let levels: Vec<(usize, &[f64; 2])> = levels.iter().enumerate().filter(positive).collect();
    let step = |(at, from): &(usize, &[f64; 2]), (beyond, to): &(usize, &[f64; 2])| Knee {
        at: *at,
        beyond: *beyond,
        gain: to[0] / from[0] - 1.0,
        cost: to[1] / from[1],
    };
    let knees = levels.iter().enumerate().map(|(i, level)| {
        let mut later = levels.iter().skip(i + 1).map(|other| step(level, other));
        let pays = later.clone().any(|knee| knee.gain >= rule.least_gain);
        later.find(|knee| !pays && knee.cost > rule.most_cost)
    });
    knees.flatten().next()
}
