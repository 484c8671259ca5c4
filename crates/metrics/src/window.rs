//! Which part of a level to look at, and whether it had a steady state at all.

mod choice;
mod mser;
mod plateau;
mod saturation;
mod steady;
mod trend;
mod trim;

pub use choice::{WindowChoice, WindowEnd, WindowEndError};
pub use mser::MserPoint;
pub use saturation::{Saturation, SaturationEvidence};
pub use steady::{LevelSignal, Stationarity};
pub use trend::{SignalGrowth, SignalTrend};
pub use trim::WindowTrim;

use fizeau_core::Stamp;

use crate::{TimeSpan, Timeline};

/// A part of a level, what was cut for it, and why.
///
/// Its requests are those sent in it: `from <= sent < to`. It ends with the sending of a request at the latest, which is the
/// first one cut at the back: once nothing more is sent the load drains, and that is no steady state of anything.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredWindow {
    /// From when to when.
    pub span: TimeSpan,
    /// How many requests were sent before it.
    pub cut_front: u64,
    /// How many were sent in it.
    pub kept: u64,
    /// How many were sent at its end or later.
    pub cut_back: u64,
    /// Why just there.
    pub reason: CutReason,
    /// Why the level is not known to be steady, where that was looked for and this window stands in.
    pub not_steady: Option<NoWindowReason>,
    /// What each signal showed; empty where none was asked.
    pub evidence: Vec<Stationarity>,
}

/// Why a window is where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CutReason {
    /// So many requests or so much time were to be cut.
    Requested,
    /// Each signal is stationary within it.
    Stationary,
    /// The concurrency was at its plateau.
    Plateau {
        /// Requests in flight on the plateau.
        level: u64,
        /// Share of the window's time at the plateau or above, from 0 to 1.
        share: f64,
    },
}

impl CutReason {}

/// That there is no window, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no window: {why}")]
#[non_exhaustive]
pub struct NoWindow {
    /// Why.
    pub why: NoWindowReason,
    /// What each signal showed, as far as it was looked at.
    pub evidence: Vec<Stationarity>,
}

/// Why there is no window.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoWindowReason {
    /// Too few requests to tell a trend from chance.
    #[error("only {has} of the {needs} needed requests have a {signal}")]
    TooFew {
        /// Which signal is too short.
        signal: LevelSignal,
        /// How many requests have it.
        has: u64,
        /// How many it takes.
        needs: u64,
    },
    /// The best cut would take half of the level or more.
    #[error("the {signal} changes over half of the level or more; run longer")]
    Unsettled {
        /// Which signal.
        signal: LevelSignal,
    },
    /// What is left still moves one way.
    #[error("the {signal} still drifts after the cuts")]
    Drifting {
        /// Which signal.
        signal: LevelSignal,
    },
    /// The concurrency reached a level and did not stay there.
    #[error(
        "only {share:.2} of the time from the first to the last instant with {level} in flight \
         was spent there"
    )]
    NoPlateau {
        /// The level, in requests in flight.
        level: u64,
        /// The share of the time, from 0 to 1.
        share: f64,
    },
    /// The concurrency was at its plateau only while few were sent.
    #[error("only {kept} of {all} requests were sent while {level} were in flight")]
    ShortPlateau {
        /// The level, in requests in flight.
        level: u64,
        /// How many were sent at that level.
        kept: u64,
        /// Of how many.
        all: u64,
    },
    /// All were due before the server had time for them.
    #[error("only {share:.2} of the requests were over when the last was due; run longer")]
    Burst {
        /// The share that was over, from 0 to 1.
        share: f64,
    },
    /// There is no time to look at.
    #[error("all requests were due at one instant")]
    AtOnce,
    /// Nothing is left.
    #[error("nothing is left after the cuts")]
    NothingLeft,
}

impl From<NoWindowReason> for NoWindow {
    fn from(why: NoWindowReason) -> Self {
        Self { why, evidence: Vec::new() }
    }
}

impl MeasuredWindow {
    /// The same with the numbers of all requests, where each that is kept stands for so many.
    pub(crate) fn of_all(self, each: f64) -> Self {
        let all = |kept: u64| (kept as f64 * each).round() as u64;
        let (cut_front, kept, cut_back) = (all(self.cut_front), all(self.kept), all(self.cut_back));
        Self { cut_front, kept, cut_back, ..self }
    }
}

impl Timeline {
    /// The window from `from` to `to`, the sending of the last request at the latest.
    fn window(
        &self,
        (from, to): (Stamp, Stamp),
        reason: CutReason,
        evidence: Vec<Stationarity>,
    ) -> Result<MeasuredWindow, NoWindow> {
        let requests = self.requests();
        let to = requests.last().map_or(to, |last| last.at.min(to));
        let before = |at: Stamp| requests.partition_point(|request| request.at < at);
        let (first, end) = (before(from), before(to));
        if first >= end {
            return Err(NoWindow { why: NoWindowReason::NothingLeft, evidence });
        }
        Ok(MeasuredWindow {
            span: TimeSpan::new(from, to),
            cut_front: first as u64,
            kept: (end - first) as u64,
            cut_back: (requests.len() - end) as u64,
            reason,
            not_steady: None,
            evidence,
        })
    }
}
