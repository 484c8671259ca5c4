//! How requests arrived: the gaps between them, as planned and as sent.

use fizeau_core::{Nanos, PerSec, Stamp, Tape};

/// How requests arrived, to be compared with the law that was asked for.
///
/// Of the first requests of sessions alone (turn 0): later turns follow from replies and are no arrivals. In a closed loop
/// these are figures of the endpoint, which sets the pace; whoever knows that the loop is closed leaves them out.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrivalSummary {
    /// By intended instants: what the plan drew.
    pub intended: GapSummary,
    /// By send starts: what the endpoint saw.
    pub sent: GapSummary,
}

/// The gaps between consecutive instants, sorted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GapSummary {
    /// How many gaps: one fewer than instants. What came before the first instant is no gap.
    pub n: u64,
    /// One over the mean gap; absent without gaps, and where all instants are one.
    pub rate: Option<PerSec>,
    /// Variance over squared mean, the squared coefficient of variation: 0 for an even spacing, 1 for Poisson, above for
    /// bursts. Absent where the rate is.
    pub cv_squared: Option<f64>,
    /// Correlation of each gap with the next, from -1 to 1: near 0 where gaps are independent, above where short gaps
    /// follow short ones (ramps, on and off). Absent with fewer than three gaps, and where all gaps are alike.
    pub lag1: Option<f64>,
}

/// The instants of a level's arrivals: sixteen bytes each. Their order does not matter until they are summed up.
#[derive(Debug, Clone, Default)]
pub(super) struct ArrivalTally {
    intended: Vec<u64>,
    sent: Vec<u64>,
}

impl ArrivalTally {
    pub(super) fn add(&mut self, tape: &Tape) {
        if tape.turn > 0 {
            return;
        }
        self.intended.push(tape.marks.intended.as_nanos());
        self.sent.extend(tape.marks.send_start.map(Stamp::as_nanos));
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.intended.append(&mut other.intended);
        self.sent.append(&mut other.sent);
    }

    pub(super) fn summary(&self) -> ArrivalSummary {
        ArrivalSummary { intended: gaps(&self.intended), sent: gaps(&self.sent) }
    }
}

fn gaps(instants: &[u64]) -> GapSummary {
    let mut sorted = instants.to_vec();
    sorted.sort_unstable();
    let n = sorted.len().saturating_sub(1) as u64;
    let span = sorted.first().zip(sorted.last()).map_or(0, |(first, last)| last - first);
    if span == 0 {
        return GapSummary { n, ..GapSummary::default() };
    }
    let mean = span as f64 / n as f64;
    let off = || sorted.windows(2).map(|pair| (pair[1] - pair[0]) as f64 - mean);
    let squares: f64 = off().map(|off| off * off).sum();
    let products: f64 = off().zip(off().skip(1)).map(|(off, next)| off * next).sum();
    GapSummary {
        n,
        rate: Some(PerSec::new(n as f64 / Nanos::from_nanos(span).as_secs_f64())),
        cv_squared: Some(squares / n as f64 / (mean * mean)),
        lag1: (n >= 3 && squares > 0.0).then(|| products / squares),
    }
}
