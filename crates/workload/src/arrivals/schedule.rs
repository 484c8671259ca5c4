//! The instants of a plan, one after another.

use fizeau_core::Nanos;

use super::bursts::{Bursts, Phase};
use super::curve::Curve;
use super::gaps::Gaps;
use super::{Arrivals, RampShape, RampSpan, Rescale, Spacing};
use crate::draws::Draws;
use crate::parts::Instants;

/// The intended instants of a plan's requests, in order, as offsets from the start of the level; none for each
/// request of a closed loop. Never decreasing.
///
/// An instant beyond the 584 years of [`Nanos`] is given as [`Nanos::MAX`]. What `nth` passes over is passed over as fast as
/// the law allows.
pub struct Schedule {
    pace: Pace,
    given: u64,
    requests: u64,
}

enum Pace {
    Closed,
    Own(Instants),
    AtOnce,
    Constant { rate: f64 },
    Renewal(Box<Renewal>),
    Curved(Box<Curved>),
    Ramp(Box<Ramp>),
    Bursts(Box<Bursts>),
}

impl Schedule {
    /// The schedule of `requests` requests under a law that passed [`Arrivals::check`].
    pub(crate) fn new(arrivals: &Arrivals, requests: u64, draws: Draws) -> Self {
        let pace = match *arrivals {
            Arrivals::AllAtOnce => Pace::AtOnce,
            Arrivals::ClosedLoop => Pace::Closed,
            Arrivals::Constant { rate } => Pace::Constant { rate: rate.get() },
            Arrivals::Gamma { rate, burstiness, rescale } => {
                let gaps = |draws| Gaps::random(rate.get(), burstiness, draws);
                let fit = match rescale {
                    Rescale::None => Fit::AsDrawn,
                    // A first pass over the same gaps, because the stretch needs the last instant.
                    Rescale::ToMean => Fit::Stretched {
                        last: Renewal::new(gaps(draws.again()), Fit::AsDrawn).after(requests),
                        span: requests as f64 / rate.get(),
                    },
                };
                Pace::Renewal(Box::new(Renewal::new(gaps(draws), fit)))
            }
            Arrivals::Ramp { from, to, shape, over: RampSpan::Requests, spacing } => {
                let ends = [from.get(), to.get()];
                Pace::Ramp(Box::new(Ramp::new(shape, ends, requests, Gaps::of(spacing, draws))))
            }
            Arrivals::OnOff { on, off, mean_on, mean_off } => {
                let on = Phase { rate: on.get(), mean: mean_on.get() };
                let off = Phase { rate: off.get(), mean: mean_off.get() };
                Pace::Bursts(Box::new(Bursts::new(on, off, draws)))
            }
            Arrivals::Ramp { spacing, .. }
            | Arrivals::Stages { spacing, .. }
            | Arrivals::Diurnal { spacing, .. } => match arrivals.curve() {
                Some(curve) => Pace::Curved(Box::new(Curved::new(curve, spacing, draws))),
                None => Pace::AtOnce,
            },
        };
        Self { pace, given: 0, requests }
    }

    /// The schedule of a law of somebody else's.
    pub(crate) fn of(instants: Instants) -> Self {
        Self { pace: Pace::Own(instants), given: 0, requests: u64::MAX }
    }

    /// The schedule of `requests` requests that leave when a slot is free.
    pub(crate) const fn closed(requests: u64) -> Self {
        Self { pace: Pace::Closed, given: 0, requests }
    }

    /// Passes over `count` instants; there are more than that left.
    fn skip_over(&mut self, count: u64) {
        match &mut self.pace {
            Pace::Closed | Pace::AtOnce | Pace::Constant { .. } => {}
            Pace::Own(instants) => {
                if let Some(last) = count.checked_sub(1) {
                    let _ = instants.nth(usize::try_from(last).unwrap_or(usize::MAX));
                }
            }
            Pace::Renewal(renewal) => {
                renewal.after(count);
            }
            // Each instant has a share in those after it.
            Pace::Curved(curved) => (0..count).for_each(|_| drop(curved.next_seconds())),
            Pace::Bursts(bursts) => (0..count).for_each(|_| drop(bursts.next_seconds())),
            Pace::Ramp(ramp) => (0..count).for_each(|_| drop(ramp.next_seconds())),
        }
        self.given += count;
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Iterator for Schedule {
    type Item = Option<Nanos>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.requests {
            return None;
        }
        self.given += 1;
        let seconds = match &mut self.pace {
            Pace::Closed => return Some(None),
            Pace::Own(instants) => return Some(Some(instants.next()?)),
            Pace::AtOnce => return Some(Some(Nanos::ZERO)),
            // A product of the count, not a running sum, so that no error builds up.
            Pace::Constant { rate } => self.given as f64 / *rate,
            Pace::Renewal(renewal) => renewal.next_seconds(),
            Pace::Curved(curved) => curved.next_seconds(),
            Pace::Ramp(ramp) => ramp.next_seconds(),
            Pace::Bursts(bursts) => bursts.next_seconds(),
        };
        // Not negative and no number but one: what fails is beyond all instants.
        Some(Some(Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX)))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let (skipped, left) = (n as u64, self.requests - self.given);
        if skipped >= left {
            self.given = self.requests;
            return None;
        }
        self.skip_over(skipped);
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.requests - self.given) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}

/// Independent gaps of one rate.
struct Renewal {
    gaps: Gaps,
    elapsed: f64,
    fit: Fit,
}

/// How drawn seconds become intended ones.
#[derive(Clone, Copy)]
enum Fit {
    AsDrawn,
    Stretched { last: f64, span: f64 },
}

impl Renewal {
    const fn new(gaps: Gaps, fit: Fit) -> Self {
        Self { gaps, elapsed: 0.0, fit }
    }

    #[inline]
    fn next_seconds(&mut self) -> f64 {
        self.elapsed += self.gaps.next_gap();
        match self.fit {
            Fit::AsDrawn => self.elapsed,
            // All gaps underflowed to zero: all requests leave together, and the last one leaves at the span.
            Fit::Stretched { last: 0.0, span } => span,
            // In this order the last one lands on the span exactly.
            Fit::Stretched { last, span } => self.elapsed / last * span,
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
struct Curved {
    curve: Curve,
    gaps: Gaps,
    area: f64,
    last: f64,
}

impl Curved {
    fn new(curve: Curve, spacing: Spacing, draws: Draws) -> Self {
        Self { curve, gaps: Gaps::of(spacing, draws), area: 0.0, last: 0.0 }
    }

    fn next_seconds(&mut self) -> f64 {
        self.area += self.gaps.next_gap();
        self.last = self.last.max(self.curve.reaches(self.area));
        self.last
    }
}

/// Gaps whose rate goes by the number of the request.
struct Ramp {
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
            RampShape::Linear => self.from + (self.to - self.from) * progress,
            RampShape::Exponential => self.from * libm::pow(self.to / self.from, progress),
        };
        self.number += 1;
        self.elapsed += self.gaps.next_gap() / rate;
        self.elapsed
    }
}
