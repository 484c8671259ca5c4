//! A measurement above the bound, and which inputs would have to be otherwise for it to be possible.

mod change;
mod remedy;

pub use remedy::{BoundInput, InputRemedy};

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds};

use crate::model::unread_in_words;
use crate::system::System;
use crate::{Bound, LoadAnalysisError, MeasuredFigure, MeasuredFigures, RequestLengths};
use change::BoundInputs;

/// A measurement above the bound. As nothing is, the measurement or what is said of model, devices and engine is wrong.
///
/// [`fmt::Display`] says so in a sentence, with each [`InputRemedy`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BoundViolation {
    /// The figure that speaks for all above their bounds: that which says most, a rate before a time, and last the pace of
    /// tokens, which the way to the client can change.
    pub figure: MeasuredFigure,
    /// What was measured, in the unit of [`MeasuredFigure::as_str`].
    pub measured: f64,
    /// What is possible, in the same unit.
    pub bound: f64,
    /// How many times faster than possible it is.
    pub times: f64,
    /// The inputs of which each, by itself, would explain all that was measured if it were otherwise. There may be none.
    pub remedies: Vec<InputRemedy>,
    /// What of the model's config was not understood ([`Model::unread`](crate::Model::unread)): the bound is of the model as it was
    /// read. Empty where it was read whole.
    pub unread: Vec<String>,
    /// What it was held against: `8 x h100-sxm (TP8)`.
    against: String,
}

impl System {
    /// What of `measured` is beyond the bound over requests of these lengths, by more than the rounding of published
    /// figures explains ([`SpeedOfLightShares::is_impossible`](crate::SpeedOfLightShares::is_impossible)); none if nothing is.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{PerSec, Tokens};
    /// use fizeau_roofline::{Deployment, Device, BoundInput, KnownModel, RequestLengths, MeasuredFigures, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let mut lengths = RequestLengths::for_model(system.model());
    /// lengths.add(Tokens::new(128), Tokens::new(128));
    /// // One request at a time, at 300 tokens a second: the weights alone allow 223.
    /// let measured =
    ///     MeasuredFigures { output_tokens_per_s: Some(PerSec::new(300.0)), ..MeasuredFigures::default() };
    /// let violation = system.bound_violation(&lengths, NonZeroU64::MIN, &measured)?.ok_or("possible")?;
    /// let needed = |input| {
    ///     let mut all = violation.remedies.iter();
    ///     all.find(|remedy| remedy.input == input).map(|remedy| remedy.needed)
    /// };
    /// assert_eq!(needed(BoundInput::Devices), Some(2.0));
    /// assert!(needed(BoundInput::WeightBytes).is_some_and(|bytes| bytes > 1.4 && bytes < 1.5));
    /// assert_eq!(needed(BoundInput::Arithmetic), None, "it would not help");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bound::over`].
    pub fn bound_violation(
        &self,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
        measured: &MeasuredFigures,
    ) -> Result<Option<BoundViolation>, LoadAnalysisError> {
        let bound = Bound::over(self, lengths, concurrency)?;
        let shares = measured.percent_of(&bound);
        let times = |measured: Option<Seconds>, bound: Seconds| {
            (measured.map(|time| time.to_millis().get()), bound.to_millis().get())
        };
        let rate =
            |measured: Option<PerSec>, bound: PerSec| (measured.map(PerSec::get), bound.get());
        let (tokens, requests) = (measured.output_tokens_per_s, measured.requests_per_s);
        let all = [
            (
                MeasuredFigure::OutputTokens,
                shares.output_tokens_per_s,
                rate(tokens, bound.output_tokens_per_s),
            ),
            (MeasuredFigure::Requests, shares.requests_per_s, rate(requests, bound.requests_per_s)),
            (MeasuredFigure::E2el, shares.e2el, times(measured.e2el, bound.e2el)),
            (MeasuredFigure::Ttft, shares.ttft, times(measured.ttft, bound.ttft)),
            (MeasuredFigure::Tpot, shares.tpot_alone, times(measured.tpot, bound.single_tpot)),
        ];
        let beyond = all.into_iter().find_map(|(figure, share, (measured, bound))| {
            let share = share.filter(|share| share.is_impossible())?;
            Some((figure, measured?, bound, share.get()))
        });
        let Some((figure, measured_figure, bound, times)) = beyond else {
            return Ok(None);
        };
        let remedies =
            remedy::all(self, &BoundInputs::new(self, lengths, concurrency), measured, lengths);
        let against = against(self);
        Ok(Some(BoundViolation {
            figure,
            measured: measured_figure,
            bound,
            times,
            remedies,
            unread: self.model().unread().to_vec(),
            against,
        }))
    }
}

impl BoundViolation {
    /// Whether it shows that something is wrong. Where the model's config was not read whole, nothing is: the model may be faster than
    /// the one that was read.
    #[must_use]
    pub const fn is_proof(&self) -> bool {
        self.unread.is_empty()
    }
}

/// `one h100-sxm`, `8 x h100-sxm (TP8)`.
fn against(system: &System) -> String {
    let (device, deployment) = (&system.device().name, system.deployment());
    match deployment.devices() {
        1 => format!("one {device}"),
        devices => format!("{devices} x {device} ({deployment})"),
    }
}

impl fmt::Display for BoundViolation {
    /// `output of 12000 tokens/s is 1.4 times what one h100-sxm can do at the very best; the run is wrong, or one of these
    /// is: memory bandwidth would have to be 4.70 TB/s (not 3.35); ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |value: f64| if value < 100.0 { 2 } else { 0 };
        let measured = format!("{:.*}", digits(self.measured), self.measured);
        let against = &self.against;
        match self.figure {
            MeasuredFigure::OutputTokens => write!(f, "output of {measured} tokens/s is ")?,
            MeasuredFigure::Requests => write!(f, "{measured} requests/s are ")?,
            MeasuredFigure::Ttft => write!(f, "a mean TTFT of {measured} ms is ")?,
            MeasuredFigure::Tpot => write!(f, "a mean TPOT of {measured} ms is ")?,
            MeasuredFigure::E2el => write!(f, "a mean E2EL of {measured} ms is ")?,
        }
        let faster = match self.figure {
            MeasuredFigure::OutputTokens | MeasuredFigure::Requests => "times what",
            _ => "times as fast as",
        };
        write!(f, "{:.2} {faster} {against} can do at the very best", self.times)?;
        match unread_in_words(&self.unread) {
            None => f.write_str("; the run is wrong, or ")?,
            Some(unread) => write!(
                f,
                " with the model as it was read, which decides nothing: its config was not understood whole ({unread}); the \
                 model is another one, or the run is wrong, or "
            )?,
        }
        let remedies: Vec<String> = self.remedies.iter().map(ToString::to_string).collect();
        match &*remedies {
            [] => f.write_str("model and device are not those that were given")?,
            [one] => write!(f, "{one}")?,
            many => write!(f, "one of these: {}", many.join("; or "))?,
        }
        match self.figure {
            // The engine's pace is not seen then.
            MeasuredFigure::Tpot => {
                f.write_str("; or tokens were held back on the way and came in bursts")
            }
            _ => Ok(()),
        }
    }
}
