//! The laws as running processes: the seconds of one instant after another.

use super::curve::{RateCurve, RateSteps, RateWave};
use super::{ArrivalLaw, RampShape, RampSpan, Rescale, Spacing};
use crate::sample::GammaShape;
use crate::seed::RandomStream;

/// A law at work. It has no end.
pub(super) enum ArrivalGenerator {
    AtOnce,
    Constant { rate: f64 },
    Renewal(Box<Renewal>),
    Curved(Box<Curved>),
    Ramp(Box<Ramp>),
    Bursts(Box<Bursts>),
}

impl ArrivalGenerator {
    /// The law of `arrivals` for a plan of `requests` requests; none where the endpoint sets the pace.
    pub(super) fn new(arrivals: &ArrivalLaw, requests: u64, draws: RandomStream) -> Option<Self> {
        let curved =
            |curve, spacing, draws| Self::Curved(Box::new(Curved::new(curve, spacing, draws)));
        Some(match *arrivals {
            ArrivalLaw::AllAtOnce => Self::AtOnce,
            ArrivalLaw::ClosedLoop => return None,
            ArrivalLaw::Constant { rate } => Self::Constant { rate: rate.get() },
            ArrivalLaw::Gamma { rate, burstiness, rescale } => {
                let gaps = |draws| Gaps::random(rate.get(), burstiness, draws);
                let fit = match rescale {
                    Rescale::None => TimeScaling::AsDrawn,
                    // A first pass over the same gaps, because the stretch needs the last instant.
                    Rescale::ToMean => TimeScaling::Stretched {
                        last: Renewal::new(gaps(draws.again()), TimeScaling::AsDrawn)
                            .after(requests),
                        span: requests as f64 / rate.get(),
                    },
                };
                Self::Renewal(Box::new(Renewal::new(gaps(draws), fit)))
            }
            ArrivalLaw::Ramp { from, to, shape, over, spacing } => {
                let ends = [from.get(), to.get()];
                match over {
                    RampSpan::Time(time) => {
                        curved(RateCurve::ramp(shape, ends, time.get()), spacing, draws)
                    }
                    RampSpan::Requests => {
                        let gaps = Gaps::of(spacing, draws);
                        Self::Ramp(Box::new(Ramp::new(shape, ends, requests, gaps)))
                    }
                }
            }
            ArrivalLaw::Stages { ref stages, spacing } => {
                curved(RateCurve::Steps(RateSteps::new(stages)), spacing, draws)
            }
            ArrivalLaw::OnOff { on, off, mean_on, mean_off } => {
                let on = BurstState { rate: on.get(), mean: mean_on.get() };
                let off = BurstState { rate: off.get(), mean: mean_off.get() };
                Self::Bursts(Box::new(Bursts::new(on, off, draws)))
            }
            ArrivalLaw::Diurnal { mean, swing, period, spacing } => curved(
                RateCurve::Wave(RateWave::new(mean.get(), swing, period.get())),
                spacing,
                draws,
            ),
        })
    }

    /// The seconds of the next instant, which is that of request `number`, counted from 1.
    #[inline]
    pub(super) fn next_seconds(&mut self, number: u64) -> f64 {
        match self {
            Self::AtOnce => 0.0,
            // A product of the count, not a running sum, so that no error builds up.
            Self::Constant { rate } => number as f64 / *rate,
            Self::Renewal(renewal) => renewal.next_seconds(),
            Self::Curved(curved) => curved.next_seconds(),
            Self::Ramp(ramp) => ramp.next_seconds(),
            Self::Bursts(bursts) => bursts.next_seconds(),
        }
    }

    /// Passes over `count` instants.
    pub(super) fn skip(&mut self, count: u64) {
        match self {
            Self::AtOnce | Self::Constant { .. } => {}
            Self::Renewal(renewal) => {
                renewal.after(count);
            }
            // Each instant has a share in those after it. None of these laws goes by the number.
            Self::Curved(_) | Self::Ramp(_) | Self::Bursts(_) => {
                for _ in 0..count {
                    self.next_seconds(0);
                }
            }
        }
    }
}

/// Independent gaps of one rate.
pub(super) struct Renewal {
    gaps: Gaps,
    elapsed: f64,
    fit: TimeScaling,
}

/// How drawn seconds become intended ones.
#[derive(Clone, Copy)]
enum TimeScaling {
    AsDrawn,
    Stretched { last: f64, span: f64 },
}

impl Renewal {
    const fn new(gaps: Gaps, fit: TimeScaling) -> Self {
        Self { gaps, elapsed: 0.0, fit }
    }

    #[inline]
    fn next_seconds(&mut self) -> f64 {
        self.elapsed += self.gaps.next_gap();
        match self.fit {
            TimeScaling::AsDrawn => self.elapsed,
            // All gaps underflowed to zero: nothing can be stretched, and all leave at once, as in vLLM.
            TimeScaling::Stretched { last: 0.0, .. } => 0.0,
            // In this order the last one lands on the span exactly.
            TimeScaling::Stretched { last, span } => self.elapsed / last * span,
        }
    }

    /// The drawn seconds after `count` more gaps, which are added in the order in which `next_seconds` adds them.
    fn after(&mut self, count: u64) -> f64 {
        for _ in 0..count {
            self.elapsed += self.gaps.next_gap();
        }
        self.elapsed
    }
}

/// A process of rate 1, put where the integral of a changing rate reaches it.
pub(super) struct Curved {
    curve: RateCurve,
    gaps: Gaps,
    area: f64,
    last: f64,
}

impl Curved {
    fn new(curve: RateCurve, spacing: Spacing, draws: RandomStream) -> Self {
        Self { curve, gaps: Gaps::of(spacing, draws), area: 0.0, last: 0.0 }
    }

    fn next_seconds(&mut self) -> f64 {
        self.area += self.gaps.next_gap();
        self.last = self.last.max(self.curve.reaches(self.area));
        self.last
    }
}

/// Gaps whose rate goes by the number of the request.
pub(super) struct Ramp {
    shape: RampShape,
    from: f64,
    to: f64,
    /// Requests after the first, and at least one.
    steps: f64,
    number: u64,
    gaps: Gaps,
    elapsed: f64,
}

impl Ramp {
    fn new(shape: RampShape, [from, to]: [f64; 2], requests: u64, gaps: Gaps) -> Self {
        let steps = requests.saturating_sub(1).max(1) as f64;
        Self { shape, from, to, steps, number: 0, gaps, elapsed: 0.0 }
    }

    fn next_seconds(&mut self) -> f64 {
        let progress = self.number as f64 / self.steps;
        let rate = match self.shape {
            // Both ends are hit exactly, however far apart they are.
            RampShape::Linear => self.from * (1.0 - progress) + self.to * progress,
            RampShape::Exponential => self.from * libm::pow(self.to / self.from, progress),
        };
        self.number += 1;
        self.elapsed += self.gaps.next_gap() / rate;
        self.elapsed
    }
}

// Gaps one after another.

/// Independent gaps of one law.
#[derive(Debug)]
pub(super) struct Gaps {
    draws: RandomStream,
    kind: GapLaw,
    scale: f64,
}

#[derive(Debug)]
enum GapLaw {
    Even,
    /// Gamma of shape 1, which takes one draw and no rejection.
    Exponential,
    Gamma(GammaShape),
}

impl Gaps {
    /// Gamma gaps of the mean 1 / `rate`.
    pub(super) fn random(rate: f64, burstiness: f64, draws: RandomStream) -> Self {
        let kind = match burstiness {
            1.0 => GapLaw::Exponential,
            shape => GapLaw::Gamma(GammaShape::new(shape)),
        };
        Self { draws, kind, scale: 1.0 / (rate * burstiness) }
    }

    /// Gaps of the mean 1.
    pub(super) fn of(spacing: Spacing, draws: RandomStream) -> Self {
        match spacing {
            Spacing::Even => Self { draws, kind: GapLaw::Even, scale: 1.0 },
            Spacing::Random { burstiness } => Self::random(1.0, burstiness, draws),
        }
    }

    pub(super) fn next_gap(&mut self) -> f64 {
        match &self.kind {
            GapLaw::Even => 1.0,
            GapLaw::Exponential => self.draws.exponential() * self.scale,
            GapLaw::Gamma(shape) => self.draws.gamma_of(shape) * self.scale,
        }
    }
}

// Bursts: a Poisson process that switches between two rates.

/// A Markov-modulated Poisson process of two states, started as if it had gone on forever.
#[derive(Debug)]
pub(super) struct Bursts {
    draws: RandomStream,
    /// The present phase, and the one that comes next.
    phase: BurstState,
    other: BurstState,
    /// Seconds that the present phase still lasts.
    left: f64,
    elapsed: f64,
}

/// What a state is like.
#[derive(Debug, Clone, Copy)]
pub(super) struct BurstState {
    /// Requests per second.
    pub(super) rate: f64,
    /// Its mean length in seconds.
    pub(super) mean: f64,
}

impl Bursts {
    pub(super) fn new(on: BurstState, off: BurstState, mut draws: RandomStream) -> Self {
        let starts_on = draws.unit() <= on.mean / (on.mean + off.mean);
        let (phase, other) = if starts_on { (on, off) } else { (off, on) };
        // What is left of a phase that has begun at some time is as long as a whole one: exponential.
        let left = phase.mean * draws.exponential();
        Self { draws, phase, other, left, elapsed: 0.0 }
    }

    pub(super) fn next_seconds(&mut self) -> f64 {
        let mut area = self.draws.exponential();
        loop {
            let room = self.left * self.phase.rate;
            // Not where both are 0, which has no instant.
            if area < room {
                let waits = area / self.phase.rate;
                self.left = (self.left - waits).max(0.0);
                self.elapsed += waits;
                return self.elapsed;
            }
            area -= room;
            self.elapsed += self.left;
            std::mem::swap(&mut self.phase, &mut self.other);
            self.left = self.phase.mean * self.draws.exponential();
        }
    }
}
