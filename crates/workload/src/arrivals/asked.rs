//! What a law of arrivals asks for in figures, to be reported beside what was sent.

use fizeau_core::PerSec;

use super::{Arrivals, Schedule, Spacing};
use crate::seed::{Purpose, Seed};

/// The figures that a law of arrivals asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// Requests per second in the long run.
    pub rate: PerSec,
    /// The squared coefficient of variation of the gaps (variance over squared mean): 0 for equal ones, 1 for a Poisson
    /// process, more for bursts. None where the rate changes, so that it would say nothing about the gaps' regularity.
    pub cv_squared: Option<f64>,
}

impl Arrivals {
    /// The figures that this law asks for; none where it has no rate in the long run: nothing paces a closed loop or what
    /// leaves all at once, and ramps and stages have a rate for each instant.
    ///
    /// ```
    /// use fizeau_core::{PerSec, Seconds};
    /// use fizeau_workload::{Arrivals, Asked};
    /// let bursts = Arrivals::OnOff {
    ///     on: PerSec::new(20.0),
    ///     off: PerSec::new(0.0),
    ///     mean_on: Seconds::new(1.0),
    ///     mean_off: Seconds::new(3.0),
    /// };
    /// let asked = Asked { rate: PerSec::new(5.0), cv_squared: Some(23.5) };
    /// assert_eq!(bursts.asked(), Some(asked));
    /// assert_eq!(Arrivals::ClosedLoop.asked(), None);
    /// ```
    #[must_use]
    pub fn asked(&self) -> Option<Asked> {
        match *self {
            Self::AllAtOnce | Self::ClosedLoop | Self::Ramp { .. } | Self::Stages { .. } => None,
            Self::Constant { rate } => Some(Asked { rate, cv_squared: Some(0.0) }),
            Self::Gamma { rate, burstiness, .. } => {
                Some(Asked { rate, cv_squared: Some(burstiness.recip()) })
            }
            Self::OnOff { on, off, mean_on, mean_off } => {
                let leaving = [mean_on.get().recip(), mean_off.get().recip()];
                Some(bursts([on.get(), off.get()], leaving))
            }
            Self::Diurnal { mean, .. } => Some(Asked { rate: mean, cv_squared: None }),
        }
    }

    /// The rate of so many `arrivals` under this law, whatever is drawn: that of [`Self::asked`], and of ramps and stages the
    /// number of gaps over the time from the first arrival to the last, with each at the instant at which the integral of
    /// the rate reaches its number. None where the law has no rate, or there is no gap.
    ///
    /// ```
    /// use fizeau_core::{PerSec, Seconds};
    /// use fizeau_workload::{Arrivals, Spacing, Stage};
    /// let stage = |rate, lasts| Stage { rate: PerSec::new(rate), lasts: Seconds::new(lasts) };
    /// let stages = vec![stage(10.0, 1.0), stage(30.0, 1.0)];
    /// let stages = Arrivals::Stages { stages, spacing: Spacing::Random { burstiness: 1.0 } };
    /// // The first at 0.1 s, the last of 40 at 2 s.
    /// assert_eq!(stages.mean_rate(40), Some(PerSec::new(39.0 / 1.9)));
    /// ```
    #[must_use]
    pub fn mean_rate(&self, arrivals: u64) -> Option<PerSec> {
        let spacing = Spacing::Even;
        let even = match *self {
            Self::Ramp { from, to, shape, over, .. } => {
                Self::Ramp { from, to, shape, over, spacing }
            }
            Self::Stages { ref stages, .. } => Self::Stages { stages: stages.clone(), spacing },
            _ => return self.asked().map(|asked| asked.rate),
        };
        let mut instants =
            Schedule::new(&even, arrivals, Seed(0).stream(Purpose::Gaps, 0)).flatten();
        let (first, last) = (instants.next()?, instants.last()?);
        let span = last.saturating_sub(first).as_secs_f64();
        (span > 0.0).then(|| PerSec::new((arrivals - 1) as f64 / span))
    }

    /// The highest rate that this law reaches and holds for some time; none where it has no rate.
    #[must_use]
    pub fn peak(&self) -> Option<PerSec> {
        let higher = |a: PerSec, b: PerSec| PerSec::new(a.get().max(b.get()));
        match self {
            Self::AllAtOnce | Self::ClosedLoop => None,
            Self::Constant { rate } | Self::Gamma { rate, .. } => Some(*rate),
            Self::Ramp { from, to, .. } => Some(higher(*from, *to)),
            Self::Stages { stages, .. } => stages.iter().map(|stage| stage.rate).reduce(higher),
            Self::OnOff { on, off, .. } => Some(higher(*on, *off)),
            Self::Diurnal { mean, swing, .. } => Some(*mean * (1.0 + swing)),
        }
    }
}

/// The figures of a Poisson process that switches between `rates`, each left at the rate in `leaving`.
///
/// Fischer and Meier-Hellstern, "The Markov-modulated Poisson process (MMPP) cookbook" (Performance Evaluation 18, 1993),
/// the gap between two successive requests of two states.
fn bursts([on, off]: [f64; 2], [leave_on, leave_off]: [f64; 2]) -> Asked {
    let leaving = leave_on + leave_off;
    let rate = (on * leave_off + off * leave_on) / leaving;
    let apart = 2.0 * leave_on * leave_off * (on - off) * (on - off);
    let joint = leaving * leaving * (on * leave_off + off * leave_on + on * off);
    Asked { rate: PerSec::new(rate), cv_squared: Some(1.0 + apart / joint) }
}
