//! What was fitted, and how far from it a question is.

use super::account::LoadRegime;
use super::sample::CalibrationSample;

/// The ranges that fitted levels span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RegimeRanges(pub(super) [RegimeRange; 5]);

/// A range of one quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RegimeRange {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The quantities, in the order of [`RegimeRanges`]: their names in files and in messages.
pub(super) const QUANTITIES: [(&str, &str); 5] = [
    ("batch", "sequences that run at once"),
    ("context", "tokens of context"),
    ("prompt", "tokens of a prompt"),
    ("devices", "devices of a replica"),
    ("kernels", "kernels of a step"),
];

/// Beyond this factor outside of a range nothing is predicted.
const FAR: f64 = 4.0;

/// Why there is no prediction: the load or the system is far from everything that was fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "no prediction: {value:.0} {quantity}, and the calibration was fitted on {low:.0} to {high:.0}; it goes no \
     further than {FAR} times beyond"
)]
pub struct OutsideRegime {
    quantity: &'static str,
    value: f64,
    low: f64,
    high: f64,
}

impl LoadRegime {
    const fn quantities(&self) -> [f64; 5] {
        [self.batch, self.context, self.prompt, self.devices, self.kernels]
    }
}

impl RegimeRanges {
    pub(super) fn of(samples: &[&CalibrationSample]) -> Self {
        let mut ranges = [RegimeRange { low: f64::INFINITY, high: 0.0 }; 5];
        for sample in samples {
            for (range, value) in ranges.iter_mut().zip(sample.account.regime.quantities()) {
                *range = RegimeRange { low: range.low.min(value), high: range.high.max(value) };
            }
        }
        Self(ranges)
    }

    /// By how much `regime` is outside of the quantity that is farthest out, as the logarithm of a factor: 0 inside.
    pub(super) fn beyond(&self, regime: &LoadRegime) -> f64 {
        let each = self.0.iter().zip(regime.quantities());
        each.map(|(range, value)| (value / range.high).max(range.low / value))
            .fold(1.0, f64::max)
            .ln()
    }

    /// [`RegimeRanges::beyond`], unless that is too far.
    pub(super) fn distance(&self, regime: &LoadRegime) -> Result<f64, OutsideRegime> {
        let each = self.0.iter().zip(regime.quantities()).zip(QUANTITIES);
        for ((&RegimeRange { low, high }, value), (_, quantity)) in each {
            if (value / high).max(low / value) > FAR {
                return Err(OutsideRegime { quantity, value, low, high });
            }
        }
        Ok(self.beyond(regime))
    }
}

#[cfg(test)]
mod tests {
    use super::{LoadRegime, RegimeRange, RegimeRanges};

    fn distance(batch: f64) -> Result<f64, String> {
        let range = RegimeRange { low: 10.0, high: 100.0 };
        let regime =
            LoadRegime { batch, context: 50.0, prompt: 50.0, devices: 50.0, kernels: 50.0 };
        RegimeRanges([range; 5]).distance(&regime).map_err(|outside| outside.to_string())
    }

    #[test]
    fn the_farther_outside_the_less_is_known_and_then_nothing() {
        assert_eq!(distance(10.0), Ok(0.0));
        assert_eq!(distance(100.0), Ok(0.0));
        assert_eq!(distance(200.0), Ok(2.0_f64.ln()));
        assert_eq!(distance(5.0), Ok(2.0_f64.ln()));
        assert_eq!(
            distance(500.0).unwrap_err(),
            "no prediction: 500 sequences that run at once, and the calibration was fitted on 10 to 100; it goes no \
             further than 4 times beyond"
        );
    }
}
