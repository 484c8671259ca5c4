//! When requests were to leave, for files that have words for some laws alone.

use fizeau_core::PerSec;
use fizeau_record::RequestedLoad;
use fizeau_workload::ArrivalLaw;

/// When the requests of a level were to leave.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ExportArrivals {
    /// Each as soon as a place was free, or all at once.
    #[default]
    Unpaced,
    /// At one rate, by independent gaps.
    Gamma {
        /// The rate.
        rate: PerSec,
        /// The shape of the gaps: 1 is Poisson, infinity is even.
        burstiness: f64,
    },
    /// At the times of a trace.
    Trace {
        /// Their mean rate.
        rate: Option<PerSec>,
    },
    /// By a rate that changes, or in bursts.
    Other {
        /// The law, as a person reads it.
        words: String,
        /// Its mean rate.
        rate: Option<PerSec>,
    },
}

impl ExportArrivals {
    /// Those that were `requested`, by the plan's `law` where it has one, which `words` describe.
    #[must_use]
    pub fn of(requested: &RequestedLoad, law: Option<&ArrivalLaw>, words: &str) -> Self {
        let Some(moments) = requested.arrivals else { return Self::Unpaced };
        match (law, moments.rate, moments.cv_squared) {
            (Some(ArrivalLaw::AllAtOnce), ..) => Self::Unpaced,
            (
                Some(
                    ArrivalLaw::Ramp { .. }
                    | ArrivalLaw::Stages { .. }
                    | ArrivalLaw::OnOff { .. }
                    | ArrivalLaw::Diurnal { .. },
                ),
                rate,
                _,
            ) => Self::Other { words: words.to_owned(), rate },
            // Each level of a sweep has a law of its own, which its moments tell.
            (_, Some(rate), Some(cv)) => Self::Gamma { rate, burstiness: 1.0 / cv },
            (_, rate, _) => Self::Trace { rate },
        }
    }

    /// Those of which a tool's file had the `rate`, and perhaps how regular they were: Poisson where it does not say.
    pub(crate) fn at(rate: Option<PerSec>, cv_squared: Option<f64>) -> Self {
        let burstiness = cv_squared.map_or(1.0, |cv| 1.0 / cv);
        rate.map_or(Self::Unpaced, |rate| Self::Gamma { rate, burstiness })
    }

    /// The shape of their gaps: 1, as of Poisson, where they have no other.
    pub(crate) const fn burstiness(&self) -> f64 {
        match self {
            Self::Gamma { burstiness, .. } => *burstiness,
            Self::Unpaced | Self::Trace { .. } | Self::Other { .. } => 1.0,
        }
    }

    /// The mean rate, where they have one.
    pub(super) fn rate(&self) -> Option<PerSec> {
        match self {
            Self::Unpaced => None,
            Self::Gamma { rate, .. } => Some(*rate),
            Self::Trace { rate } | Self::Other { rate, .. } => *rate,
        }
    }

    /// The law in words, unless requests leave unpaced or as a Poisson process.
    pub(super) fn peculiar(&self) -> Option<String> {
        match self {
            Self::Unpaced | Self::Gamma { burstiness: 1.0, .. } => None,
            Self::Gamma { burstiness: f64::INFINITY, .. } => Some("even gaps".to_owned()),
            Self::Gamma { burstiness, .. } => {
                Some(format!("gamma gaps of burstiness {burstiness}"))
            }
            Self::Trace { .. } => Some("the times of a trace".to_owned()),
            Self::Other { words, .. } => Some(words.clone()),
        }
    }
}
