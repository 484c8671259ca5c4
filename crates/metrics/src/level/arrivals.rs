//! How requests arrived: the gaps between them, as planned and as sent.

use fizeau_core::{Nanos, PerSec, Tape};

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
///
/// Of more than [`LevelTally::EXACT`](crate::LevelTally::EXACT) instants how they vary is that of so many first ones, and the rate that
/// of all.
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

/// The instants of a level's arrivals. Their order does not matter until they are summed up.
#[derive(Debug, Clone)]
pub(super) struct ArrivalTally {
    intended: Instants,
    sent: Instants,
}

/// Instants, of which the first ones are kept.
#[derive(Debug, Clone)]
struct Instants {
    n: u64,
    /// The first and the last.
    ends: Option<(u64, u64)>,
    /// The first ones, and as many more at the most, in any order.
    first: Vec<u64>,
    /// How many.
    most: usize,
}

impl ArrivalTally {
    /// Empty, to keep so many instants.
    pub(super) const fn up_to(most: usize) -> Self {
        Self { intended: Instants::up_to(most), sent: Instants::up_to(most) }
    }

    pub(super) fn add(&mut self, tape: &Tape) {
        if tape.turn > 0 {
            return;
        }
        self.intended.push(tape.marks.intended.as_nanos());
        tape.marks.send_start.into_iter().for_each(|at| self.sent.push(at.as_nanos()));
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        self.intended.merge(other.intended);
        self.sent.merge(other.sent);
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        8 * (self.intended.first.capacity() + self.sent.first.capacity())
    }

    pub(super) fn summary(&self) -> ArrivalSummary {
        ArrivalSummary { intended: self.intended.gaps(), sent: self.sent.gaps() }
    }
}

impl Instants {
    const fn up_to(most: usize) -> Self {
        Self { n: 0, ends: None, first: Vec::new(), most }
    }

    fn push(&mut self, at: u64) {
        self.n += 1;
        self.reach(at, at);
        self.first.push(at);
        if self.first.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn merge(&mut self, mut other: Self) {
        self.n += other.n;
        other.ends.into_iter().for_each(|(from, to)| self.reach(from, to));
        self.first.append(&mut other.first);
        self.cut();
    }

    fn reach(&mut self, from: u64, to: u64) {
        self.ends =
            Some(self.ends.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
    }

    /// Leaves the first ones.
    fn cut(&mut self) {
        if self.first.len() > self.most {
            self.first.select_nth_unstable(self.most);
            self.first.truncate(self.most);
        }
    }

    fn gaps(&self) -> GapSummary {
        let mut first = self.first.clone();
        first.sort_unstable();
        first.truncate(self.most);
        let all = GapSummary::of(&first);
        let (n, span) = (self.n.saturating_sub(1), self.ends.map_or(0, |(from, to)| to - from));
        let rate = (span > 0).then(|| gaps_per_second(n, span));
        GapSummary { n, rate, ..all }
    }
}

impl GapSummary {
    /// Of instants in order.
    fn of(sorted: &[u64]) -> Self {
        let n = sorted.len().saturating_sub(1) as u64;
        let span = sorted.first().zip(sorted.last()).map_or(0, |(first, last)| last - first);
        if span == 0 {
            return Self { n, ..Self::default() };
        }
        let mean = span as f64 / n as f64;
        let off = || sorted.windows(2).map(|pair| (pair[1] - pair[0]) as f64 - mean);
        let squares: f64 = off().map(|off| off * off).sum();
        let products: f64 = off().zip(off().skip(1)).map(|(off, next)| off * next).sum();
        Self {
            n,
            rate: Some(gaps_per_second(n, span)),
            cv_squared: Some(squares / n as f64 / (mean * mean)),
            lag1: (n >= 3 && squares > 0.0).then(|| products / squares),
        }
    }
}

/// One over the mean of so many gaps that take so many nanoseconds together.
fn gaps_per_second(n: u64, span: u64) -> PerSec {
    PerSec::new(n as f64 / Nanos::from_nanos(span).as_secs_f64())
}
