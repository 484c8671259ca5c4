//! What was measured, beside what is possible.

mod text;

pub use text::MeasuredFiguresError;

use fizeau_core::{PerSec, Seconds};

use crate::{Bound, BoundShare};

/// A figure that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeasuredFigure {
    /// [`MeasuredFigures::ttft`].
    Ttft,
    /// [`MeasuredFigures::tpot`].
    Tpot,
    /// [`MeasuredFigures::e2el`].
    E2el,
    /// [`MeasuredFigures::output_tokens_per_s`].
    OutputTokens,
    /// [`MeasuredFigures::requests_per_s`].
    Requests,
}

fizeau_core::words! {
    /// The name used in files: `ttft_ms`, `output_tokens_per_s`.
    pub MeasuredFigure::as_str {
        Ttft = "ttft_ms", Tpot = "tpot_ms", E2el = "e2el_ms", OutputTokens = "output_tokens_per_s",
        Requests = "requests_per_s",
    }
}

/// The figures that were measured under the load of a [`Bound`]. Leave out the others.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::{PerSec, Seconds, Tokens};
/// use fizeau_roofline::{Bound, Deployment, Device, KnownModel, UniformLoad, MeasuredFigures, System};
///
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// # let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// let bound = Bound::at(&system, &load)?; // 4.57 ms a token, 0.86 requests/s
/// let measured = MeasuredFigures {
///     tpot: Some(Seconds::new(0.006)),
///     requests_per_s: Some(PerSec::new(0.6)),
///     ..MeasuredFigures::default()
/// };
/// let reached = measured.percent_of(&bound);
/// assert_eq!(reached.tpot_alone.ok_or("measured")?.to_string(), "76.1 %");
/// assert!(reached.ttft.is_none());
/// assert!(!reached.is_impossible());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeasuredFigures {
    /// Mean or median time to first token, from sending.
    pub ttft: Option<Seconds>,
    /// Mean or median time per output token.
    pub tpot: Option<Seconds>,
    /// Mean or median time from sending to the last token.
    pub e2el: Option<Seconds>,
    /// Generated tokens per second, of all requests together.
    pub output_tokens_per_s: Option<PerSec>,
    /// Completed requests per second.
    pub requests_per_s: Option<PerSec>,
}

impl MeasuredFigures {
    /// The figures that there are and that can be (finite, above 0), each in the unit of [`MeasuredFigure::as_str`].
    pub fn each(&self) -> impl Iterator<Item = (MeasuredFigure, f64)> + use<> {
        let time = |time: Option<Seconds>| time.map(|time| time.to_millis().get());
        let all = [
            (MeasuredFigure::Ttft, time(self.ttft)),
            (MeasuredFigure::Tpot, time(self.tpot)),
            (MeasuredFigure::E2el, time(self.e2el)),
            (MeasuredFigure::OutputTokens, self.output_tokens_per_s.map(PerSec::get)),
            (MeasuredFigure::Requests, self.requests_per_s.map(PerSec::get)),
        ];
        let can_be = |value: &f64| value.is_finite() && *value > 0.0;
        all.into_iter().filter_map(move |(figure, value)| Some((figure, value.filter(can_be)?)))
    }

    /// The share of the bound that each figure reaches. A figure that is absent has none, nor has one that
    /// cannot be: a time that is not above 0, a rate below 0, anything not finite.
    #[must_use]
    pub fn percent_of(&self, bound: &Bound) -> SpeedOfLightShares {
        let time = |measured: Option<Seconds>, bound: Seconds| {
            measured.and_then(|measured| BoundShare::of(bound.get(), measured.get()))
        };
        let rate = |measured: Option<PerSec>, bound: PerSec| {
            measured.and_then(|measured| BoundShare::of(measured.get(), bound.get()))
        };
        SpeedOfLightShares {
            ttft: time(self.ttft, bound.ttft),
            tpot_alone: time(self.tpot, bound.single_tpot),
            e2el: time(self.e2el, bound.e2el),
            output_tokens_per_s: rate(self.output_tokens_per_s, bound.output_tokens_per_s),
            requests_per_s: rate(self.requests_per_s, bound.requests_per_s),
        }
    }
}

/// The share of the speed of light that a measurement reaches, figure by figure.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SpeedOfLightShares {
    /// [`Bound::ttft`] over the measured time. Under load it falls with the time spent waiting.
    pub ttft: Option<BoundShare>,
    /// [`Bound::single_tpot`] over the measured time: what sharing the device costs a request lowers it too.
    /// Not [`Bound::tpot`], which an engine that runs fewer sequences at once than are offered can beat.
    pub tpot_alone: Option<BoundShare>,
    /// [`Bound::e2el`] over the measured time.
    pub e2el: Option<BoundShare>,
    /// The measured rate over [`Bound::output_tokens_per_s`].
    pub output_tokens_per_s: Option<BoundShare>,
    /// The measured rate over [`Bound::requests_per_s`].
    pub requests_per_s: Option<BoundShare>,
}

impl SpeedOfLightShares {
    /// Whether any figure lies above its bound by more than half a per cent, which the rounding of published figures
    /// explains.
    ///
    /// Then the measurement, or what is said of model, device and load, is wrong: [`System::bound_violation`](crate::System::bound_violation)
    /// says what it could be. Times must be means for that: a median can be faster than the bound of a mean.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        let all =
            [self.ttft, self.tpot_alone, self.e2el, self.output_tokens_per_s, self.requests_per_s];
        all.into_iter().flatten().any(BoundShare::is_impossible)
    }
}
