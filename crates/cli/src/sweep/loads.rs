//! The loads of a sweep.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::LevelLoad;
use fizeau::core::PerSec;
use fizeau::experiment::LevelSize;
use fizeau::harness::connections_ahead;
use fizeau::workload::{Pacing, Spacing};

use crate::args::LevelsArgs;
use crate::exit::Fail;

/// The concurrencies where neither they nor rates are named.
const LEVELS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The rates of `--rates`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rates {
    /// These, rising; none where nobody asked.
    Named(Vec<PerSec>),
    /// So many, up to what the closed loops show can be served.
    Auto(u32),
}

/// How many rates `auto` is.
const AUTO: u32 = 8;

impl Rates {
    pub(super) fn of(plan: &LevelsArgs) -> Result<Self, Fail> {
        let Some(text) = plan.rates.as_deref() else { return Ok(Self::Named(Vec::new())) };
        let wrong = |what: &str| {
            Fail::usage(format!("--rates: {what}; rates per second such as 1,2,4.5, or auto:8"))
        };
        if let Some(count) = text.strip_prefix("auto") {
            let count = match count.strip_prefix(':') {
                None if count.is_empty() => Ok(AUTO),
                None => Err(wrong("not understood")),
                Some(count) => count.parse().map_err(|_| wrong("auto takes a number")),
            }?;
            return match count {
                2..=1_000 => Ok(Self::Auto(count)),
                _ => Err(wrong("auto takes 2 to 1000 rates")),
            };
        }
        let mut rates = Vec::new();
        for part in text.split(',').map(str::trim) {
            let rate: f64 = part.parse().map_err(|_| wrong(&format!("{part} is no rate")))?;
            // The name of a level's folder has three decimals.
            if !(0.001..1e9).contains(&rate) {
                return Err(wrong(&format!("{part} is not between 0.001 and 1e9")));
            }
            rates.push(PerSec::new((rate * 1e3).round() / 1e3));
        }
        rates.sort_by(|a, b| a.get().total_cmp(&b.get()));
        rates.dedup();
        Ok(Self::Named(rates))
    }
}

/// The concurrencies that were asked for, rising: the usual ones where neither they nor rates were named, or where rates are
/// placed by them.
pub(super) fn concurrencies(plan: &LevelsArgs) -> Result<Vec<NonZeroU32>, Fail> {
    let rates = Rates::of(plan)?;
    let levels = match (&*plan.levels, rates) {
        ([], Rates::Named(rates)) if !rates.is_empty() => &[],
        ([], _) => &LEVELS[..],
        (levels, _) => levels,
    };
    let checked: Option<Vec<NonZeroU32>> = levels.iter().copied().map(NonZeroU32::new).collect();
    let mut checked =
        checked.ok_or_else(|| Fail::usage("--levels: 0 is not a concurrency; the least is 1"))?;
    checked.sort_unstable();
    checked.dedup();
    Ok(checked)
}

/// All loads that are known ahead: closed loops, then open ones, each kind rising.
pub(super) fn levels_of(plan: &LevelsArgs) -> Result<Vec<LevelLoad>, Fail> {
    let closed = concurrencies(plan)?.into_iter().map(LevelLoad::from);
    let open = match Rates::of(plan)? {
        Rates::Named(rates) => rates,
        Rates::Auto(_) => Vec::new(),
    };
    Ok(closed.chain(open.into_iter().map(LevelLoad::Rate)).collect())
}

/// How regular the gaps of open loops are.
pub(super) fn spacing(plan: &LevelsArgs) -> Result<Spacing, Fail> {
    if plan.burstiness != 1.0 && plan.rates.is_none() {
        return Err(Fail::usage(
            "--burstiness: it is of open loops, and --levels are closed ones: give --rates too",
        ));
    }
    match plan.burstiness {
        burstiness if burstiness == f64::INFINITY => Ok(Spacing::Even),
        burstiness if burstiness > 0.0 => Ok(Spacing::Random { burstiness }),
        wrong => Err(Fail::usage(format!(
            "--burstiness: {wrong} is not above 0; 1 is Poisson, below 1 burstier, inf even"
        ))),
    }
}

/// The most connections that any level wants before it begins.
pub(super) fn most(levels: &[LevelLoad], size: LevelSize) -> u64 {
    let wanted = |load: &LevelLoad| match load {
        LevelLoad::Concurrency(slots) => slots.get().into(),
        LevelLoad::Rate(rate) => {
            let pacing = Pacing::OpenLoop { peak: Some(*rate) };
            connections_ahead(size.requests_at(*load).get(), None, pacing)
        }
    };
    levels.iter().map(wanted).max().unwrap_or(1)
}

/// Loads in words, for the record: `closed loop; open loop at 1, 2, 4 requests/s`; none where all are closed loops.
pub(super) fn described(plan: &LevelsArgs) -> Result<Option<String>, Fail> {
    let law = match spacing(plan)? {
        Spacing::Even => "at equal distances".to_owned(),
        Spacing::Random { burstiness: 1.0 } => "Poisson".to_owned(),
        Spacing::Random { burstiness } => format!("burstiness {burstiness}"),
    };
    let open = match Rates::of(plan)? {
        Rates::Named(rates) if rates.is_empty() => return Ok(None),
        Rates::Named(rates) => {
            let rates: Vec<String> = rates.iter().map(|rate| rate.get().to_string()).collect();
            format!("open loop at {} requests/s ({law})", rates.join(", "))
        }
        Rates::Auto(count) => {
            format!("open loop at {count} rates up to what the closed loop reached ({law})")
        }
    };
    let closed = !concurrencies(plan)?.is_empty();
    Ok(Some(if closed { format!("closed loop; {open}") } else { open }))
}

/// The most requests of a closed loop that ends by time.
pub(super) const MOST_BY_TIME: NonZeroU64 = NonZeroU64::new(100_000).unwrap();
