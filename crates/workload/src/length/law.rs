//! What each law draws, and what it promises before anything is drawn.

use std::ops::RangeInclusive;

use fizeau_core::Tokens;

use super::{Length, LengthBin};
use crate::seed::RandomStream;
use crate::weights;

impl Length {
    /// The longest length that a specification may ask for, 2^24 tokens: above every context window there is, and
    /// small enough that one prompt fits in memory.
    pub const MAX: Tokens = Tokens::new(1 << 24);

    /// The shortest and the longest length that can be drawn.
    ///
    /// The ends of vLLM's range are computed in floating point exactly as vLLM does, rounding included: 100 with a ratio of
    /// 0.1 reaches 111, because `100.0 * 1.1` is a little over 110.
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// use fizeau_workload::Length;
    /// let length = Length::Uniform { nominal: Tokens::new(250), ratio: 0.1 };
    /// assert_eq!(length.bounds(), Tokens::new(225)..=Tokens::new(275));
    /// ```
    #[must_use]
    pub fn bounds(&self) -> RangeInclusive<Tokens> {
        match self {
            Self::Fixed(length) => *length..=*length,
            Self::Uniform { nominal, ratio } => {
                let nominal = nominal.get() as f64;
                let low = (nominal * (1.0 - ratio)).floor().max(1.0);
                let high = (nominal * (1.0 + ratio)).ceil().max(low);
                Tokens::new(low as u64)..=Tokens::new(high as u64)
            }
            Self::UniformUpTo { most, ratio } => {
                let low = (most.get() as f64 * ratio).floor().max(1.0);
                Tokens::new(low as u64)..=*most
            }
            Self::Between { least, most }
            | Self::Normal { least, most, .. }
            | Self::LogNormal { least, most, .. } => *least..=*most,
            Self::Histogram(bins) => filled(bins),
        }
    }

    /// Draws one length. A fixed length takes nothing from `draws`.
    pub(crate) fn draw(&self, draws: &mut RandomStream) -> Tokens {
        match self {
            Self::Fixed(length) => *length,
            Self::Uniform { .. } | Self::UniformUpTo { .. } | Self::Between { .. } => {
                evenly(&self.bounds(), draws)
            }
            Self::Normal { .. } | Self::LogNormal { .. } => self.bend(draws.normal()),
            Self::Histogram(bins) => weights::pick(bins, |bin| bin.weight, draws)
                .and_then(|place| bins.get(place))
                .map_or(Tokens::ZERO, |bin| evenly(&bin.range(), draws)),
        }
    }

    /// The length that a share `q` of all do not exceed, as the law has it: the smallest length of which that is true. What
    /// was really sent comes near it as requests grow many.
    ///
    /// `q` is from 0 to 1; what is beyond counts as the end that it is beyond.
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// use fizeau_workload::Length;
    /// let length = Length::Between { least: Tokens::new(1), most: Tokens::new(100) };
    /// assert_eq!(length.quantile(0.9), Tokens::new(90));
    /// ```
    #[must_use]
    pub fn quantile(&self, q: f64) -> Tokens {
        match self {
            Self::Fixed(length) => *length,
            Self::Uniform { .. } | Self::UniformUpTo { .. } | Self::Between { .. } => {
                let (low, high) = self.bounds().into_inner();
                let span = high.get().saturating_sub(low.get()).saturating_add(1);
                low + Tokens::new(steps(q, span).saturating_sub(1))
            }
            Self::Normal { .. } | Self::LogNormal { .. } => self.bend(normal_quantile(q)),
            Self::Histogram(bins) => histogram_quantile(bins, q),
        }
    }

    /// Half of all lengths do not exceed it, as the law has it.
    #[must_use]
    pub fn median(&self) -> Tokens {
        self.quantile(0.5)
    }

    /// The length that a standard normal value of `z` becomes: never falling as `z` rises, so that quantiles become
    /// quantiles.
    fn bend(&self, z: f64) -> Tokens {
        // Without a spread there is nothing at either end, however far out `z` is.
        let bent = |spread: f64| if spread == 0.0 { 0.0 } else { spread * z };
        let length = match self {
            Self::Normal { mean, deviation, .. } => mean.get() as f64 + bent(*deviation),
            Self::LogNormal { median, sigma, .. } => median.get() as f64 * libm::exp(bent(*sigma)),
            _ => return *self.bounds().start(),
        };
        let (least, most) = self.bounds().into_inner();
        // What is below 0 becomes 0, and what is beyond all numbers the largest.
        Tokens::new(length.round() as u64).min(most).max(least)
    }
}

impl LengthBin {
    const fn range(&self) -> RangeInclusive<Tokens> {
        self.from..=self.to
    }
}

/// From the shortest to the longest length that comes.
fn filled(bins: &[LengthBin]) -> RangeInclusive<Tokens> {
    let filled = || bins.iter().filter(|bin| bin.weight > 0.0);
    let least = filled().map(|bin| bin.from).min().unwrap_or_default();
    least..=filled().map(|bin| bin.to).max().unwrap_or_default()
}

/// Uniform on `range`.
fn evenly(range: &RangeInclusive<Tokens>, draws: &mut RandomStream) -> Tokens {
    let (low, high) = (*range.start(), *range.end());
    let span = high.get().saturating_sub(low.get()).saturating_add(1);
    low + Tokens::new(draws.below(span))
}

/// How many of `span` equally likely steps it takes to have a share `q`: from 1 to `span`.
fn steps(q: f64, span: u64) -> u64 {
    let steps = (q * span as f64).ceil() as u64;
    steps.clamp(1, span)
}

fn histogram_quantile(bins: &[LengthBin], q: f64) -> Tokens {
    // Bins may overlap, so that the share at or below a length is summed over all of them.
    let total: f64 = bins.iter().map(|bin| bin.weight).sum();
    let reached = |length: u64| -> f64 {
        let below = |bin: &LengthBin| {
            let (from, to) = (bin.from.get(), bin.to.get());
            let span = to.saturating_sub(from).saturating_add(1) as f64;
            let steps = length.min(to).saturating_add(1).saturating_sub(from) as f64;
            bin.weight * (steps / span)
        };
        bins.iter().map(below).sum()
    };
    let (mut low, mut high) = (filled(bins).start().get(), filled(bins).end().get());
    // A hair less is asked, so that sums that ought to be equal are.
    let wanted = q.clamp(0.0, 1.0) * total * (1.0 - 1e-12);
    while low < high {
        let middle = low.midpoint(high);
        if reached(middle) >= wanted { high = middle } else { low = middle + 1 }
    }
    Tokens::new(low)
}

/// The smallest of weighted lengths that a share `q` does not exceed.
pub(super) fn weighted_quantile(lengths: impl Iterator<Item = (Tokens, f64)>, q: f64) -> Tokens {
    let bin = |(length, weight)| LengthBin { from: length, to: length, weight };
    histogram_quantile(&lengths.map(bin).collect::<Vec<_>>(), q)
}

/// The value that a standard normal variable does not exceed with probability `q`; infinite at 0 and 1.
///
/// By halving the interval: it is asked a few times a report, and the error function is all that it needs.
fn normal_quantile(q: f64) -> f64 {
    if q <= 0.0 || q >= 1.0 {
        return if q <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let below = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if below(middle) < q { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
