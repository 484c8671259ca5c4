//! Rates that change with time: at which instant the integral of the rate, which is the number of requests that ought to
//! have come, reaches a number.

use std::f64::consts::{PI, TAU};

use super::{RampShape, RateStage};

/// How the rate changes.
#[derive(Debug)]
pub(super) enum RateCurve {
    Linear(LinearRate),
    Exponential(ExponentialRate),
    Steps(RateSteps),
    Wave(RateWave),
}

impl RateCurve {
    /// The seconds after which the integral reaches `area`, which is not negative and not below that of any call before. It
    /// may fall by a rounding where the areas are that close.
    pub(super) fn reaches(&mut self, area: f64) -> f64 {
        match self {
            Self::Linear(ramp) => ramp.reaches(area),
            Self::Exponential(ramp) => ramp.reaches(area),
            Self::Steps(steps) => steps.reaches(area),
            Self::Wave(wave) => wave.reaches(area),
        }
    }

    /// The ramp from the rate `from` to the rate `to` over `time` seconds.
    pub(super) fn ramp(shape: RampShape, [from, to]: [f64; 2], time: f64) -> Self {
        match shape {
            RampShape::Linear => Self::Linear(LinearRate { from, to, time }),
            RampShape::Exponential => {
                let growth = libm::log(to / from) / time;
                Self::Exponential(ExponentialRate { from, to, time, growth })
            }
        }
    }
}

/// A rate that changes by the same amount in the same time, then stays.
#[derive(Debug)]
pub(super) struct LinearRate {
    from: f64,
    to: f64,
    time: f64,
}

impl LinearRate {
    fn reaches(&self, area: f64) -> f64 {
        let whole = 0.5 * (self.from + self.to) * self.time;
        if area >= whole {
            return self.time + (area - whole) / self.to;
        }
        // from t + slope t^2 / 2 = area, solved without a difference of near-equal numbers, whatever the slope's sign.
        let slope = (self.to - self.from) / self.time;
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        match self.from + root {
            0.0 => 0.0,
            sum => (2.0 * area / sum).min(self.time),
        }
    }
}

/// A rate that changes by the same factor in the same time, then stays.
#[derive(Debug)]
pub(super) struct ExponentialRate {
    from: f64,
    to: f64,
    time: f64,
    /// The logarithm of the factor of a second.
    growth: f64,
}

impl ExponentialRate {
    fn reaches(&self, area: f64) -> f64 {
        if self.growth == 0.0 {
            return area / self.from;
        }
        let whole = (self.to - self.from) / self.growth;
        if area >= whole {
            return self.time + (area - whole) / self.to;
        }
        // from (exp(growth t) - 1) / growth = area.
        (libm::log1p(self.growth * area / self.from) / self.growth).min(self.time)
    }
}

/// One rate after another; the last one stays.
#[derive(Debug)]
pub(super) struct RateSteps {
    /// Those to come, the next one last.
    later: Vec<RateStage>,
    rate: f64,
    /// The instant and the area at which the present stage begins, and those at which it ends.
    begins: [f64; 2],
    ends: [f64; 2],
}

impl RateSteps {
    /// There is at least one stage.
    pub(super) fn new(stages: &[RateStage]) -> Self {
        let later = stages.iter().rev().copied().collect();
        let mut steps = Self { later, rate: 0.0, begins: [0.0; 2], ends: [0.0; 2] };
        steps.go_on();
        steps
    }

    fn go_on(&mut self) {
        let Some(stage) = self.later.pop() else { return };
        let (rate, lasts) = (stage.rate.get(), stage.lasts.get());
        let [time, area] = self.ends;
        self.rate = rate;
        self.begins = self.ends;
        self.ends = [time + lasts, area + rate * lasts];
    }

    fn reaches(&mut self, area: f64) -> f64 {
        // A pause has no instant, not even for an area that it begins at.
        while (area > self.ends[1] || self.rate == 0.0) && !self.later.is_empty() {
            self.go_on();
        }
        let reached = self.begins[0] + (area - self.begins[1]) / self.rate;
        if self.later.is_empty() { reached } else { reached.min(self.ends[0]) }
    }
}

// A rate that goes up and down as a sine does.

/// The rate mean (1 + swing sin(2 pi t / period)), and the instant found last, from which the next is not far.
#[derive(Debug)]
pub(super) struct RateWave {
    /// Requests in a period.
    whole: f64,
    swing: f64,
    period: f64,
    last: WaveSolution,
}

/// A solution, in periods.
#[derive(Debug, Clone, Copy)]
struct WaveSolution {
    /// The area, in that of a whole period.
    area: f64,
    at: f64,
    /// The rate there, as a share of the mean.
    rate: f64,
}

impl RateWave {
    pub(super) const fn new(mean: f64, swing: f64, period: f64) -> Self {
        let last = WaveSolution { area: 0.0, at: 0.0, rate: 1.0 };
        Self { whole: mean * period, swing, period, last }
    }

    pub(super) fn reaches(&mut self, area: f64) -> f64 {
        let area = area / self.whole;
        let complete = area.floor();
        let guess = self.last.at + (area - self.last.area) / self.last.rate;
        let (share, rate) = self.share(area - complete, guess - complete);
        self.last = WaveSolution { area, at: complete + share, rate };
        self.last.at * self.period
    }

    /// The share of a period, from 0 to 1, after which the share `part` of its requests has come: the x of
    ///
    /// x + swing (1 - cos(2 pi x)) / (2 pi) = part,
    ///
    /// and the rate close to it. This is Kepler's equation; the left side never falls. By Newton's steps, or halving where
    /// one would leave the bracket: at the bottom of a full swing, where the rate is 0, the steps alone would go astray.
    fn share(&self, part: f64, guess: f64) -> (f64, f64) {
        // Closer than this no instant of a period is told from its neighbours.
        const CLOSE: f64 = 1e-16;
        let mut low = (part - self.swing / PI).max(0.0);
        let mut high = part;
        let mut x = if (low..=high).contains(&guess) { guess } else { high };
        let mut rate = 1.0;
        // Halving alone is done in 53 steps. From a near guess one of Newton's is enough, else they are about five.
        for _ in 0..100 {
            let (sin, cos) = libm::sincos(TAU * x);
            rate = 1.0 + self.swing * sin;
            let over = x + self.swing * (1.0 - cos) / TAU - part;
            if over > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let step = -over / rate;
            if !(low..=high).contains(&(x + step)) {
                x = low + 0.5 * (high - low);
                continue;
            }
            x += step;
            // What a step leaves is at most its square times half the curvature, 2 pi, over the slope, the rate.
            if step.abs() <= CLOSE || PI * step * step <= CLOSE * rate {
                break;
            }
        }
        (x, rate)
    }
}
