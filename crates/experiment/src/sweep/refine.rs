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
/// there is no edge, between the load at index `bend`, where more load stops paying, and that of its neighbours that is further
/// off. It is the geometric mean of the two, a whole number of a closed loop. Loads within 5 % of one another tell the same.
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
    if let Some((within, beyond)) = edge(tried) {
        return between(within, beyond);
    }
    let at = bend?;
    let load = |i: usize| tried.get(i).map(|tried| tried.load);
    let here = load(at)?;
    let below = at.checked_sub(1).and_then(load).map(|below| (below, here));
    let above = load(at + 1).map(|above| (here, above));
    let mut gaps: Vec<(LevelLoad, LevelLoad)> = [above, below].into_iter().flatten().collect();
    gaps.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)));
    gaps.into_iter().find_map(|(low, high)| between(low, high))
}

/// The last load within the goals that has one beyond them above it, and the first such.
fn edge(tried: &[TriedLoad]) -> Option<(LevelLoad, LevelLoad)> {
    let beyond_after = |i: usize| tried.iter().skip(i + 1).find(|t| t.within == Some(false));
    let within = tried.iter().enumerate().rev().filter(|(_, t)| t.within == Some(true));
    within.into_iter().find_map(|(i, t)| Some((t.load, beyond_after(i)?.load)))
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
