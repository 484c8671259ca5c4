//! The loads of a sweep.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::str::FromStr;

use fizeau_core::{LevelLoad, PerSec};
use fizeau_harness::connections_ahead;
use fizeau_workload::{Pacing, Spacing};

use super::LevelSize;
use crate::input::{InputError, InputField};

/// The concurrencies where neither they nor rates are named.
const USUAL: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The loads of a sweep: closed loops, then open ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepLoads {
    closed: Vec<NonZeroU32>,
    rates: SweepRates,
    spacing: Spacing,
}

impl Default for SweepLoads {
    /// Eight closed loops, each of twice the requests in flight of the one before: 1 to 128.
    fn default() -> Self {
        let closed = USUAL.into_iter().filter_map(NonZeroU32::new).collect();
        Self { closed, rates: SweepRates::default(), spacing: Spacing::Random { burstiness: 1.0 } }
    }
}

impl SweepLoads {
    /// Closed loops of these `concurrencies` and open ones of these `rates`, in any order. Where no concurrency is named they are
    /// the [usual ones](Self::default), unless rates are named: what `auto` rates lie around is found by closed loops.
    ///
    /// # Errors
    /// If a concurrency is 0 or named twice, a rate is not between 0.001 and 1e9 requests per second, or `auto` rates are not 2 to 1000.
    pub fn new(concurrencies: &[u32], rates: SweepRates) -> Result<Self, InputError> {
        rates.check()?;
        let named = match (concurrencies, &rates) {
            ([], SweepRates::Named(rates)) if !rates.is_empty() => &[],
            ([], _) => &USUAL[..],
            (named, _) => named,
        };
        let closed: Option<Vec<NonZeroU32>> = named.iter().copied().map(NonZeroU32::new).collect();
        let zero = || InputError::new(InputField::Levels, "0 is not a concurrency; the least is 1");
        let mut closed = closed.ok_or_else(zero)?;
        closed.sort_unstable();
        once(closed.iter().map(|slots| slots.get().into()), InputField::Levels)?;
        Ok(Self { closed, rates, ..Self::default() })
    }

    /// The same, with gaps between the requests of open loops as regular as `burstiness` says: 1 is a Poisson process, below 1 is
    /// burstier, infinity is even.
    ///
    /// # Errors
    /// If it is not above 0.
    pub fn with_burstiness(self, burstiness: f64) -> Result<Self, InputError> {
        let spacing = match burstiness {
            f64::INFINITY => Spacing::Even,
            burstiness if burstiness > 0.0 => Spacing::Random { burstiness },
            wrong => {
                let wrong = format!(
                    "{wrong} is not above 0; 1 is Poisson, less is burstier, inf is evenly spaced"
                );
                return Err(InputError::new(InputField::Burstiness, wrong));
            }
        };
        Ok(Self { spacing, ..self })
    }

    /// How regular the gaps of open loops are.
    #[must_use]
    pub const fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// Those that are known ahead: closed loops, then open ones, each kind rising.
    #[must_use]
    pub fn known(&self) -> Vec<LevelLoad> {
        let open: &[PerSec] = match &self.rates {
            SweepRates::Named(rates) => rates,
            SweepRates::Auto(_) => &[],
        };
        let closed = self.closed.iter().copied().map(LevelLoad::from);
        closed.chain(open.iter().copied().map(LevelLoad::Rate)).collect()
    }

    /// How many rates are placed by what closed loops show.
    pub(crate) const fn to_place(&self) -> u32 {
        match self.rates {
            SweepRates::Auto(count) => count,
            SweepRates::Named(_) => 0,
        }
    }

    /// The most connections that any level of `size` wants before it begins.
    #[must_use]
    pub fn most_connections(&self, size: LevelSize) -> u64 {
        let wanted = |load: LevelLoad| match load {
            LevelLoad::Concurrency(slots) => slots.get().into(),
            LevelLoad::Rate(rate) => {
                let pacing = Pacing::OpenLoop { peak: Some(rate) };
                connections_ahead(size.requests_at(load).get(), None, pacing)
            }
        };
        self.known().into_iter().map(wanted).max().unwrap_or(1)
    }

    /// The arrivals in words, for the record: `closed loop; open loop at 1, 2, 4 requests/s (Poisson)`; none where all are closed
    /// loops.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let law = self.law();
        let open = match &self.rates {
            SweepRates::Named(rates) if rates.is_empty() => return None,
            SweepRates::Named(rates) => {
                let rates: Vec<String> = rates.iter().map(|rate| rate.get().to_string()).collect();
                format!("open loop at {} requests/s ({law})", rates.join(", "))
            }
            SweepRates::Auto(count) => {
                format!("open loop at {count} rates up to what the closed loop reached ({law})")
            }
        };
        Some(if self.closed.is_empty() { open } else { format!("closed loop; {open}") })
    }

    /// The arrivals of a search of a rate, in words, which tries rates of its own.
    pub(crate) fn searched_words(&self) -> String {
        format!("open loop at rates that are searched ({})", self.law())
    }

    fn law(&self) -> String {
        match self.spacing {
            Spacing::Even => "at equal distances".to_owned(),
            Spacing::Random { burstiness: 1.0 } => "Poisson".to_owned(),
            Spacing::Random { burstiness } => format!("burstiness {burstiness}"),
        }
    }
}

/// The rates of the open loops of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum SweepRates {
    /// These; none where it is not asked for.
    Named(Vec<PerSec>),
    /// So many, up to 1.2 times what the closed loops show can be served.
    Auto(u32),
}

impl Default for SweepRates {
    /// None.
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// Refuses the first of the rising `loads` that is there twice: whoever names one again means something else, such as repeats.
fn once(loads: impl IntoIterator<Item = f64>, field: InputField) -> Result<(), InputError> {
    let mut before = None;
    match loads.into_iter().find(|load| before.replace(*load) == Some(*load)) {
        None => Ok(()),
        Some(load) => Err(InputError::new(field, format!("{load} is named twice; name it once"))),
    }
}

/// How many rates `auto` is.
const AUTO: u32 = 8;

impl SweepRates {
    /// These rates, in any order, to three decimals, as the folders of levels are named.
    ///
    /// # Errors
    /// If one is not between 0.001 and 1e9 requests per second, or named twice.
    pub fn named(rates: impl IntoIterator<Item = PerSec>) -> Result<Self, InputError> {
        let mut named = Vec::new();
        for rate in rates.into_iter().map(PerSec::get) {
            check_rate(rate, rate)?;
            named.push(PerSec::new((rate * 1e3).round() / 1e3));
        }
        named.sort_by(|a, b| a.get().total_cmp(&b.get()));
        once(named.iter().map(|rate| rate.get()), InputField::Rates)?;
        Ok(Self::Named(named))
    }

    fn check(&self) -> Result<(), InputError> {
        match self {
            Self::Named(rates) => {
                rates.iter().try_for_each(|rate| check_rate(rate.get(), rate.get()))
            }
            Self::Auto(count) => check_count(*count),
        }
    }

    fn auto(count: &str) -> Result<Self, InputError> {
        let count = match count.strip_prefix(':') {
            None if count.is_empty() => Ok(AUTO),
            None => Err(wrong("not understood")),
            Some(count) => count.parse().map_err(|_| wrong("auto takes a number")),
        }?;
        check_count(count).map(|()| Self::Auto(count))
    }
}

impl FromStr for SweepRates {
    type Err = InputError;

    /// `1,2,4.5`, `auto` or `auto:8`.
    fn from_str(text: &str) -> Result<Self, InputError> {
        if let Some(count) = text.strip_prefix("auto") {
            return Self::auto(count);
        }
        let mut rates = Vec::new();
        for part in text.split(',').map(str::trim) {
            let rate: f64 = part.parse().map_err(|_| wrong(format!("{part} is not a rate")))?;
            check_rate(rate, part)?;
            rates.push(PerSec::new(rate));
        }
        Self::named(rates)
    }
}

/// Refuses a rate that no loop can have, which was `given` so.
fn check_rate(rate: f64, given: impl Display) -> Result<(), InputError> {
    match (0.001..1e9).contains(&rate) {
        true => Ok(()),
        false => Err(wrong(format!("{given} is not between 0.001 and 1e9"))),
    }
}

/// Refuses a number of rates that cannot be placed.
fn check_count(count: u32) -> Result<(), InputError> {
    match count {
        2..=1_000 => Ok(()),
        _ => Err(wrong("auto takes 2 to 1000 rates")),
    }
}

fn wrong(what: impl Display) -> InputError {
    let right = format!("{what}; give rates per second, such as 1,2,4.5, or auto:8");
    InputError::new(InputField::Rates, right)
}
