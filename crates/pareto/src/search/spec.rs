//! What to search, and how sure to be of it.

/// The loads that a search may test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loads {
    /// Any, as a rate; they are tried to four digits.
    Any,
    /// Whole numbers, as requests in flight.
    Whole,
}

/// The range of a search, and the precision that it must reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSpec {
    /// The loads that a search may test.
    pub loads: Loads,
    /// The lowest load to try: above 0.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The first; by default [the middle](SearchSpec::between), by factors, of lowest and highest.
    pub start: f64,
    /// The most evaluations.
    pub most: u32,
    /// How narrow the answer's interval is to be: half its width over the answer, such as 0.03.
    pub tolerance: f64,
    /// How sure the interval is to be, and how sure a verdict: above 0.5 and below 1, such as 0.95.
    pub confidence: f64,
}

/// Why nothing can be searched so.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchSpecError {
    /// The range is none.
    #[error(
        "a search cannot go from {lowest} to {highest}: give two loads above 0, the lower one first"
    )]
    Range {
        /// What was given as the lowest.
        lowest: f64,
        /// As the highest.
        highest: f64,
    },
    /// A range of whole numbers without one in it.
    #[error(
        "a search over whole numbers cannot go from {lowest} to {highest}: no whole number lies between them"
    )]
    NoneWhole {
        /// The lowest.
        lowest: f64,
        /// The highest.
        highest: f64,
    },
    /// The first load lies outside.
    #[error("the search cannot start at {0}: give a start within the range")]
    Start(f64),
    /// Too few evaluations.
    #[error(
        "a search of {0} evaluations finds nothing: allow at least 2, one on each side of the answer"
    )]
    TooFew(u32),
    /// The tolerance is no share.
    #[error("the tolerance is {0}: it must be a share above 0 and below 1, such as 0.03")]
    Tolerance(f64),
    /// The confidence is no probability that one could ask for.
    #[error("the confidence is {0}: it must be at least 0.6 and below 1, such as 0.95")]
    Confidence(f64),
}

impl SearchSpec {
    /// Between two loads, in at most twelve evaluations, to 3 % at 95 %.
    #[must_use]
    pub fn between(loads: Loads, lowest: f64, highest: f64) -> Self {
        let middle = (lowest * highest).sqrt().clamp(lowest.min(highest), highest.max(lowest));
        let start = match loads {
            Loads::Any => middle,
            Loads::Whole => middle.round(),
        };
        Self { loads, lowest, highest, start, most: 12, tolerance: 0.03, confidence: 0.95 }
    }

    /// As it is searched.
    pub(super) fn checked(self) -> Result<Self, SearchSpecError> {
        let Self { lowest, highest, start, most, tolerance, confidence, .. } = self;
        let is_range = lowest > 0.0 && lowest <= highest && highest.is_finite();
        if !is_range {
            return Err(SearchSpecError::Range { lowest, highest });
        }
        let spec = match self.loads {
            Loads::Any => {
                let of = |load| to_digits(load, f64::round);
                Self { lowest: of(lowest), highest: of(highest), start: of(start), ..self }
            }
            Loads::Whole => {
                let (lowest, highest) = (lowest.ceil(), highest.floor());
                if lowest > highest {
                    return Err(SearchSpecError::NoneWhole {
                        lowest: self.lowest,
                        highest: self.highest,
                    });
                }
                Self { lowest, highest, ..self }
            }
        };
        if !(spec.lowest..=spec.highest).contains(&spec.start) {
            return Err(SearchSpecError::Start(start));
        }
        if most < 2 {
            return Err(SearchSpecError::TooFew(most));
        }
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(SearchSpecError::Tolerance(tolerance));
        }
        if !(0.6..1.0).contains(&confidence) {
            return Err(SearchSpecError::Confidence(confidence));
        }
        Ok(spec)
    }

    /// The nearest load that there is, within the range.
    pub(super) fn nearest(&self, load: f64) -> f64 {
        let load = match self.loads {
            Loads::Whole => load.round(),
            Loads::Any => to_digits(load, f64::round),
        };
        load.clamp(self.lowest, self.highest)
    }

    /// The highest load that there is and that is no higher, within the range.
    pub(super) fn below(&self, load: f64) -> f64 {
        let load = match self.loads {
            // An edge found on a whole number may lie a rounding error below it.
            Loads::Whole => (load * (1.0 + 1e-9)).floor(),
            Loads::Any => to_digits(load, f64::floor),
        };
        load.clamp(self.lowest, self.highest)
    }

    /// How far apart, in the logarithm, loads near `load` are at the least.
    pub(super) fn step(&self, load: f64) -> f64 {
        match self.loads {
            Loads::Any => 0.0,
            Loads::Whole => (1.0 / load).ln_1p(),
        }
    }
}

/// Four digits of `load`.
fn to_digits(load: f64, round: fn(f64) -> f64) -> f64 {
    let last = load.log10().floor() - 3.0;
    let unit = 10_f64.powf(last);
    let rounded = round(load / unit) * unit;
    // The decimal nearest to it, without what the multiplication left over.
    let decimals = (-last).clamp(0.0, 330.0) as usize;
    format!("{rounded:.decimals$}").parse().unwrap_or(rounded)
}

/// How many standard errors off the mean a normal value lies with a probability of `confidence` or less, on one side.
///
/// M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 26.2.23; off by less than 4.5e-4.
pub(super) fn deviations(confidence: f64) -> f64 {
    let t = (-2.0 * (1.0 - confidence).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - above / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the normal distribution's quantile function, from its tables.
    #[test]
    fn deviations_are_those_of_the_normal_distribution() {
        for (confidence, z) in
            [(0.9, 1.281_552), (0.95, 1.644_854), (0.975, 1.959_964), (0.999, 3.090_232)]
        {
            assert!((deviations(confidence) - z).abs() < 4.5e-4, "{confidence}");
        }
    }

    #[test]
    fn loads_are_of_four_digits_or_whole() {
        let spec = SearchSpec::between(Loads::Any, 0.001, 1e6);
        assert_eq!(spec.nearest(17.486_3), 17.49);
        assert_eq!(spec.below(17.489_9), 17.48);
        assert_eq!(spec.below(0.012_345_6), 0.012_34);
        assert_eq!(spec.nearest(2e6), 1e6);
        // However small they are.
        let tiny = SearchSpec::between(Loads::Any, 1e-10, 1e-9).checked().ok();
        let tiny = tiny.map(|tiny| (tiny.lowest, tiny.highest, tiny.nearest(1.234_56e-10)));
        assert_eq!(tiny, Some((1e-10, 1e-9, 1.235e-10)));
        let spec = SearchSpec::between(Loads::Whole, 1.0, 512.0);
        assert_eq!((spec.start, spec.nearest(22.5), spec.below(22.99)), (23.0, 23.0, 22.0));
        assert_eq!(spec.below(22.999_999_999_9), 23.0);
    }
}
