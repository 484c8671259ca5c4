//! Where a further level tells most.

use std::num::NonZeroU32;

use fizeau_core::LevelLoad;
use fizeau_core::PerSec;

/// A load that was measured, and whether it was within the goals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedLoad {
    /// The load.
    pub load: LevelLoad,
    /// Whether the goals were met; none if there are none, or the level may not be judged.
    pub within: Option<bool>,
}

/// The load to measure next, of those between the ones that were `tried` (of one kind, rising); none where no load between is
/// worth it.
///
/// It lies at the edge of the goals, between the last load within them that has one beyond above it and the first such; where
/// loads in between could not be judged, in the widest gap that these leave. Where there is no edge, it lies between the load at
/// index `bend`, where more load stops paying, and that of its neighbours that is further off. It is the geometric mean of the
/// two, a whole number of a closed loop. Loads within 5 % of one another tell the same.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use fizeau_experiment::{TriedLoad, load_between};
/// use fizeau_core::LevelLoad;
///
/// let tried = |slots, within| TriedLoad {
///     load: LevelLoad::Concurrency(NonZeroU32::new(slots).expect("more than none")),
///     within: Some(within),
/// };
/// let next = load_between(&[tried(8, true), tried(16, true), tried(64, false)], None);
/// assert_eq!(next.map(|load| load.to_string()).as_deref(), Some("concurrency 32"));
/// ```
#[must_use]
pub fn load_between(tried: &[TriedLoad], bend: Option<usize>) -> Option<LevelLoad> {
    let around = match (edge(tried), bend) {
        (Some(around), _) => around,
        (None, Some(bend)) => tried.get(bend.saturating_sub(1)..(bend + 2).min(tried.len()))?,
        (None, None) => return None,
    };
    let gaps = around.iter().zip(around.get(1..)?);
    let mut gaps: Vec<(LevelLoad, LevelLoad)> = gaps.map(|(a, b)| (a.load, b.load)).collect();
    // Of gaps as wide as each other the upper one of a bend comes first.
    gaps.reverse();
    gaps.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)));
    gaps.into_iter().find_map(|(low, high)| between(low, high))
}

/// From the last load within the goals that has one beyond them above it to the first such, with what lies between.
fn edge(tried: &[TriedLoad]) -> Option<&[TriedLoad]> {
    let is = |of: &TriedLoad, within: bool| of.within == Some(within);
    let last_beyond = tried.iter().rposition(|of| is(of, false))?;
    let from = tried.get(..last_beyond)?.iter().rposition(|of| is(of, true))?;
    let above = tried.get(from..)?;
    above.get(..=above.iter().position(|of| is(of, false))?)
}

/// Loads nearer to one another than this are alike.
const ALIKE: f64 = 1.05;

fn between(low: LevelLoad, high: LevelLoad) -> Option<LevelLoad> {
    if ratio((low, high)) <= ALIKE {
        return None;
    }
    let mean = (value(low) * value(high)).sqrt();
    let load = match (low, high) {
        (LevelLoad::Concurrency(_), LevelLoad::Concurrency(_)) => {
            // A cast of a number above what the type holds gives the greatest there is.
            LevelLoad::Concurrency(NonZeroU32::new(mean.round() as u32)?)
        }
        // A folder's name has three decimals.
        (LevelLoad::Rate(_), LevelLoad::Rate(_)) => {
            LevelLoad::Rate(PerSec::new((mean * 1e3).round() / 1e3))
        }
        _ => return None,
    };
    (value(low) < value(load) && value(load) < value(high)).then_some(load)
}

fn ratio((low, high): (LevelLoad, LevelLoad)) -> f64 {
    value(high) / value(low)
}

fn value(load: LevelLoad) -> f64 {
    match load {
        LevelLoad::Concurrency(slots) => slots.get().into(),
        LevelLoad::Rate(rate) => rate.get(),
    }
}

/// `count` rates, rising, from a tenth to 1.2 times the throughput that was reached at most: below, around and beyond what an
/// open loop can be served. They have three decimals, as the names of folders; what would be the same rate comes once.
///
/// ```
/// use fizeau_core::PerSec;
/// use fizeau_experiment::rates_up_to;
///
/// let rates: Vec<f64> = rates_up_to(PerSec::new(10.0), 3).iter().map(|rate| rate.get()).collect();
/// assert_eq!(rates, [1.0, 6.5, 12.0]);
/// ```
#[must_use]
pub fn rates_up_to(most: PerSec, count: u32) -> Vec<PerSec> {
    const LEAST: f64 = 0.1;
    const MOST: f64 = 1.2;
    let step = (MOST - LEAST) / f64::from(count.saturating_sub(1).max(1));
    let rate = |k: u32| ((LEAST + step * f64::from(k)) * most.get() * 1e3).round() / 1e3;
    let mut rates: Vec<f64> = (0..count).map(rate).filter(|rate| *rate > 0.0).collect();
    rates.dedup();
    rates.into_iter().map(PerSec::new).collect()
}
