//! When requests ought to leave: the laws, as plain data.

mod check;
mod curve;
mod law;
mod schedule;

use fizeau_core::{Choice, NamedChoice, Nanos, PerSec, Seconds};
use serde::{Deserialize, Serialize};

pub use check::ArrivalsError;
pub use schedule::ArrivalSchedule;

use crate::parts::{ArrivalProcess, Instants};
use crate::seed::{RandomStream, Seed, StreamPurpose};

/// The law by which requests leave.
///
/// In a closed loop the endpoint sets the pace; under every other law the plan does, whatever the endpoint
/// makes of it (an open loop).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalLaw {
    /// All at the start of the level: what vLLM's `--request-rate inf` means.
    AllAtOnce,
    /// Each when a slot is free. How many slots there are is the driver's affair.
    #[default]
    ClosedLoop,
    /// At equal distances; the first one a full distance after the start.
    Constant {
        /// Requests per second, from 1e-9 to 1e9.
        #[serde(rename = "rate_per_s")]
        rate: PerSec,
    },
    /// A renewal process: independent gaps, the first one before the first request, each of them
    /// Gamma(shape `burstiness`, scale 1 / (`rate` `burstiness`)). Mean gap 1 / `rate`, squared coefficient of
    /// variation 1 / `burstiness`. This is what vLLM's `--burstiness` means.
    Gamma {
        /// Requests per second in the mean, from 1e-9 to 1e9.
        #[serde(rename = "rate_per_s")]
        rate: PerSec,
        /// 1 is a Poisson process; below, requests come in bursts; above, more evenly. From 0.001 to 1e6.
        burstiness: f64,
        /// Whether the drawn instants are stretched to fit the rate.
        rescale: Rescale,
    },
    /// The rate goes from one value to another and, over time, stays there.
    Ramp {
        /// The rate at the start, from 1e-9 to 1e9; a linear ramp over time may start at 0.
        #[serde(rename = "from_per_s")]
        from: PerSec,
        /// The rate at the end, from 1e-9 to 1e9.
        #[serde(rename = "to_per_s")]
        to: PerSec,
        /// By which curve.
        shape: RampShape,
        /// Over what.
        over: RampSpan,
        /// How regular the gaps are.
        spacing: Spacing,
    },
    /// One rate after another; the last one stays.
    Stages {
        /// The rates and how long each lasts; at least one.
        stages: Vec<RateStage>,
        /// How regular the gaps are.
        spacing: Spacing,
    },
    /// Bursts: a Poisson process that switches between two rates, each phase of exponential length (a Markov-modulated
    /// Poisson process of two states). Whether it starts on or off is drawn too, with the share of time that each takes.
    OnOff {
        /// The rate while on, from 1e-9 to 1e9.
        #[serde(rename = "on_per_s")]
        on: PerSec,
        /// The rate while off; may be 0.
        #[serde(rename = "off_per_s")]
        off: PerSec,
        /// How long it is on in the mean, from 1e-9 s to 1e9 s.
        #[serde(rename = "mean_on_s")]
        mean_on: Seconds,
        /// How long it is off in the mean, from 1e-9 s to 1e9 s. On and off together must not be so short that a request
        /// comes in fewer than one of 1000 such pairs.
        #[serde(rename = "mean_off_s")]
        mean_off: Seconds,
    },
    /// The rate goes up and down as a sine does, from the mean upwards at the start: days, in the time of a test.
    Diurnal {
        /// The mean rate, from 1e-9 to 1e9.
        #[serde(rename = "mean_per_s")]
        mean: PerSec,
        /// How far the rate goes to either side, as a share of the mean; from 0 to 1.
        swing: f64,
        /// How long a day is, from 1e-9 s to 1e9 s.
        #[serde(rename = "period_s")]
        period: Seconds,
        /// How regular the gaps are.
        spacing: Spacing,
    },
}

/// Whether a driver lets no more than so many requests be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlightCap {
    /// It does.
    Some,
    /// It does not.
    None,
}

impl ArrivalLaw {
    /// What vLLM makes of a rate and a burstiness: an infinite rate sends all at once, with a cap each as soon as a slot is free; an
    /// infinite burstiness is equal distances.
    ///
    /// ```
    /// use fizeau_core::PerSec;
    /// use fizeau_workload::{ArrivalLaw, InFlightCap, Rescale};
    /// let all = PerSec::new(f64::INFINITY);
    /// assert_eq!(ArrivalLaw::as_vllm(all, 1.0, Rescale::None, InFlightCap::Some), ArrivalLaw::ClosedLoop);
    /// assert_eq!(ArrivalLaw::as_vllm(all, 1.0, Rescale::None, InFlightCap::None), ArrivalLaw::AllAtOnce);
    /// ```
    #[must_use]
    pub fn as_vllm(rate: PerSec, burstiness: f64, rescale: Rescale, cap: InFlightCap) -> Self {
        match (rate.get().is_infinite(), cap) {
            (true, InFlightCap::Some) => Self::ClosedLoop,
            (true, InFlightCap::None) => Self::AllAtOnce,
            (false, _) if burstiness.is_infinite() => Self::Constant { rate },
            (false, _) => Self::Gamma { rate, burstiness, rescale },
        }
    }
}

/// How regular gaps are where the rate changes. Over time, the instants are those of a process of rate 1, put where the
/// integral of the rate reaches them (Cinlar, "Introduction to Stochastic Processes", 1975, section 4.7), so that the rate is
/// followed exactly. Over requests, each gap is that of its request's rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// As even as the rate allows.
    Even,
    /// Random, with gamma gaps; see [`ArrivalLaw::Gamma`].
    Random {
        /// 1 is a Poisson process. From 0.001 to 1e6.
        burstiness: f64,
    },
}

impl Spacing {
    /// That of a burstiness, of which an infinite one is even; none where that is not above 0.
    #[must_use]
    pub fn of_burstiness(burstiness: f64) -> Option<Self> {
        match burstiness {
            f64::INFINITY => Some(Self::Even),
            _ => (burstiness > 0.0).then_some(Self::Random { burstiness }),
        }
    }
}

/// The curve of a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampShape {
    /// By the same amount in the same time.
    Linear,
    /// By the same factor in the same time.
    Exponential,
}

impl Choice for RampShape {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("linear", Self::Linear, "By the same amount each step"),
        NamedChoice::new("exponential", Self::Exponential, "By the same factor each step"),
    ];
}

/// The span of a ramp: time or requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampSpan {
    /// This much time, from 1e-9 s to 1e9 s; the rate then stays.
    #[serde(rename = "time_s")]
    Time(Seconds),
    /// All requests of the plan (where there are sessions, all sessions): the gap before request i of N, counted from 0, is
    /// drawn at the rate `from` + (`to` - `from`) p, or `from` (`to` / `from`)^p for the exponential shape, with
    /// p = i / (N - 1). This is vLLM's `--ramp-up-strategy`, which goes by requests and not by seconds: a linear ramp spends
    /// more time at its low rates than at its high ones. A longer plan does not begin with the shorter one.
    Requests,
}

/// A rate, and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateStage {
    /// Requests per second; may be 0 for a pause, but not in the last one.
    #[serde(rename = "rate_per_s")]
    pub rate: PerSec,
    /// For how long, from 1e-9 s to 1e9 s; the last stage goes on for as long as there are requests.
    #[serde(rename = "lasts_s")]
    pub lasts: Seconds,
}

/// Whether the instants of a random process are stretched afterwards.
///
/// What is drawn by default is a true renewal process. vLLM stretches its gamma schedules, which takes two things away:
///
/// - The span no longer varies. That of N gaps drawn has the standard deviation sqrt(N / burstiness) / rate: for 100 Poisson
///   requests at 10 a second 10 s plus and minus 1 s, where vLLM's last request leaves at 10 s each time. The number of
///   requests that come within a time varies too little as well, the less the nearer that time is to the whole.
/// - Gaps are no longer independent: a long one makes all others shorter. Any two of N have the correlation -1 / (N - 1):
///   -0.11 for 10 requests, -0.01 for 100. For the few requests of a short run that is a law of another shape than the
///   exponential one, whose gaps cannot outlast the span; for thousands it does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rescale {
    /// Left as drawn: the rate of a plan comes out at random about the one that was asked for.
    #[default]
    None,
    /// All instants multiplied so that the last of N requests leaves at exactly N / rate, as vLLM does where there is no
    /// ramp; gaps so short that all are 0 stay so. Whoever asks a plan of this for its instants waits for one pass over all gaps first, and a longer plan does not
    /// begin with the shorter one.
    ToMean,
}

impl ArrivalLaw {
    /// A Poisson process, as drawn: exponential gaps of mean 1 / `rate`.
    #[must_use]
    pub const fn poisson(rate: PerSec) -> Self {
        Self::Gamma { rate, burstiness: 1.0, rescale: Rescale::None }
    }
}

impl ArrivalProcess for ArrivalLaw {
    /// As [`crate::Plan::schedule`], with random numbers of the caller's. A closed loop has no instants: there are none. The
    /// numbers of a law are held to their ranges where a plan is made from it; outside of them nothing is promised here.
    fn instants(&self, sessions: u64, draws: RandomStream) -> Instants {
        Box::new(ArrivalSchedule::new(self, sessions, draws).map_while(|at| at))
    }
}

// What a law of arrivals asks for in figures, to be reported beside what was sent.

/// The figures that a law of arrivals asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestedArrivals {
    /// Requests per second in the long run.
    pub rate: PerSec,
    /// The squared coefficient of variation of the gaps (variance over squared mean): 0 for equal ones, 1 for a Poisson
    /// process, more for bursts. None where the rate changes, so that it would say nothing about the gaps' regularity.
    pub cv_squared: Option<f64>,
}

impl ArrivalLaw {
    /// The figures that this law asks for; none where it has no rate in the long run: nothing paces a closed loop or what
    /// leaves all at once, and ramps and stages have a rate for each instant.
    ///
    /// ```
    /// use fizeau_core::{PerSec, Seconds};
    /// use fizeau_workload::{ArrivalLaw, RequestedArrivals};
    /// let bursts = ArrivalLaw::OnOff {
    ///     on: PerSec::new(20.0),
    ///     off: PerSec::new(0.0),
    ///     mean_on: Seconds::new(1.0),
    ///     mean_off: Seconds::new(3.0),
    /// };
    /// let requested = RequestedArrivals { rate: PerSec::new(5.0), cv_squared: Some(23.5) };
    /// assert_eq!(bursts.requested(), Some(requested));
    /// assert_eq!(ArrivalLaw::ClosedLoop.requested(), None);
    /// ```
    #[must_use]
    pub fn requested(&self) -> Option<RequestedArrivals> {
        match *self {
            Self::AllAtOnce | Self::ClosedLoop | Self::Ramp { .. } | Self::Stages { .. } => None,
            Self::Constant { rate } => Some(RequestedArrivals { rate, cv_squared: Some(0.0) }),
            Self::Gamma { rate, burstiness, .. } => {
                Some(RequestedArrivals { rate, cv_squared: Some(burstiness.recip()) })
            }
            Self::OnOff { on, off, mean_on, mean_off } => {
                let leaving = [mean_on.get().recip(), mean_off.get().recip()];
                Some(bursts([on.get(), off.get()], leaving))
            }
            Self::Diurnal { mean, .. } => Some(RequestedArrivals { rate: mean, cv_squared: None }),
        }
    }

    /// The rate of so many `arrivals` under this law, whatever is drawn: that of [`Self::requested`], and of ramps and stages the
    /// number of gaps over the time from the first arrival to the last, with each at the instant at which the integral of
    /// the rate reaches its number. None where the law has no rate, or there is no gap.
    ///
    /// ```
    /// use fizeau_core::{PerSec, Seconds};
    /// use fizeau_workload::{ArrivalLaw, Spacing, RateStage};
    /// let stage = |rate, lasts| RateStage { rate: PerSec::new(rate), lasts: Seconds::new(lasts) };
    /// let stages = vec![stage(10.0, 1.0), stage(30.0, 1.0)];
    /// let stages = ArrivalLaw::Stages { stages, spacing: Spacing::Random { burstiness: 1.0 } };
    /// // The first at 0.1 s, the last of 40 at 2 s.
    /// assert_eq!(stages.mean_rate(40), Some(PerSec::new(39.0 / 1.9)));
    /// ```
    #[must_use]
    pub fn mean_rate(&self, arrivals: u64) -> Option<PerSec> {
        self.mean_rate_before(arrivals, Nanos::MAX)
    }

    /// As [`Self::mean_rate`], of those of so many `arrivals` that come before `end`, an offset from the start.
    #[must_use]
    pub fn mean_rate_before(&self, arrivals: u64, end: Nanos) -> Option<PerSec> {
        let spacing = Spacing::Even;
        let even = match *self {
            Self::Ramp { from, to, shape, over, .. } => {
                Self::Ramp { from, to, shape, over, spacing }
            }
            Self::Stages { ref stages, .. } => Self::Stages { stages: stages.clone(), spacing },
            _ => return self.requested().map(|asked| asked.rate),
        };
        let draws = Seed(0).stream(StreamPurpose::Gaps, 0);
        let schedule = ArrivalSchedule::new(&even, arrivals, draws);
        let mut instants = schedule.flatten().take_while(|at| *at < end);
        let first = instants.next()?;
        let (gaps, last) = instants.fold((0, first), |(gaps, _), at| (gaps + 1, at));
        rate_of(gaps, last.saturating_sub(first))
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

/// The rate of so many `gaps` over `span`; none where that is no time.
pub(crate) fn rate_of(gaps: u64, span: Nanos) -> Option<PerSec> {
    (span > Nanos::ZERO).then(|| PerSec::new(gaps as f64 / span.as_secs_f64()))
}

/// The figures of a Poisson process that switches between `rates`, each left at the rate in `leaving`.
///
/// Fischer and Meier-Hellstern, "The Markov-modulated Poisson process (MMPP) cookbook" (Performance Evaluation 18, 1993),
/// the gap between two successive requests of two states.
fn bursts([on, off]: [f64; 2], [leave_on, leave_off]: [f64; 2]) -> RequestedArrivals {
    let leaving = leave_on + leave_off;
    let rate = (on * leave_off + off * leave_on) / leaving;
    let apart = 2.0 * leave_on * leave_off * (on - off) * (on - off);
    let joint = leaving * leaving * (on * leave_off + off * leave_on + on * off);
    RequestedArrivals { rate: PerSec::new(rate), cv_squared: Some(1.0 + apart / joint) }
}
