//! Where more load stops paying.

/// When a further level of load is not worth its latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneeRule {
    /// The least relative gain in throughput that pays: 0.10 is 10 %.
    pub least_gain: f64,
    /// The most that latency may be multiplied by without such a gain.
    pub most_cost: f64,
}

impl Default for KneeRule {
    /// Less than 10 % more throughput for more than 1.5 times the latency. Under saturation, where requests only queue,
    /// throughput stands still and latency grows with the load (Little's law), so a doubling of the load costs twice the
    /// latency; half of that leaves room for noise.
    fn default() -> Self {
        Self {
            least_gain: 0.10,
            most_cost: 1.5,
        }
    }
}

/// Where more load stops paying.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The index of the last level that pays.
    pub at: usize,
    /// The relative gain in throughput of the level after it; negative if it has less.
    pub gain: f64,
    /// What the level after it multiplies latency by.
    pub cost: f64,
}

/// The first level whose successor is not worth its latency, by `rule`; none if every level pays.
///
/// `levels` are throughput and latency, in order of rising load. Both must be positive: a level where either is not
/// (NaN included) is not compared.
///
/// ```
/// use fizeau_pareto::{KneeRule, knee};
/// let levels = [[3.4, 1_190.0], [12.6, 1_290.0], [40.1, 1_610.0], [40.2, 3_180.0]];
/// let knee = knee(&levels, KneeRule::default()).ok_or("the last step doubles latency for nothing")?;
/// assert_eq!(knee.at, 2);
/// assert!(knee.gain < 0.01 && knee.cost > 1.9);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn knee(levels: &[[f64; 2]], rule: KneeRule) -> Option<Knee> {
    let steps = levels.iter().zip(levels.iter().skip(1)).enumerate();
    let steps = steps.map(|(at, (from, to))| Knee {
        at,
        gain: to[0] / from[0] - 1.0,
        cost: to[1] / from[1],
    });
    let positive = |level: &[f64; 2]| level.iter().all(|&figure| figure > 0.0);
    let comparable = |knee: &Knee| levels.iter().skip(knee.at).take(2).all(positive);
    let mut unworthy = steps
        .filter(comparable)
        .filter(|knee| knee.gain < rule.least_gain && knee.cost > rule.most_cost);
    unworthy.next()
}
