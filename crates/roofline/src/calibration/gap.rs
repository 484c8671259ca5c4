//! Asked in reverse: what would explain a measured figure of an engine that is predicted otherwise.

use std::num::NonZeroU64;

use fizeau_core::{Estimate, Interval, Seconds, Tokens};

use crate::{MeasuredFigure, MeasuredFigures, UniformLoad};

use super::account::TimeAccount;
use super::constant_shares::{StepValues, TokenShares};
use super::constants::Constant;
use super::predict::{Prediction, Predictor};
use super::regime::OutsideRegime;
use super::rows::FirstTokenRow;
use super::solve::PredictedValue;

/// Something that a calibrated prediction is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PredictionInput {
    /// How fast prompts are read, against what the constants say: at 0.4 a prompt takes two and a half times as long.
    PrefillPace,
    /// How fast steps decode, against what the constants say.
    DecodePace,
    /// A constant, in its unit.
    Constant(Constant),
    /// Requests in flight.
    Concurrency,
    /// Tokens that a request's prompt has to be computed for: fewer where a prefix is cached, more where prompts are longer.
    PromptTokens,
}

impl PredictionInput {
    /// The name used in files: `prefill_pace`, `decode_pace`, a constant's own, `concurrency`, `prompt_tokens`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PrefillPace => "prefill_pace",
            Self::DecodePace => "decode_pace",
            Self::Constant(constant) => constant.as_str(),
            Self::Concurrency => "concurrency",
            Self::PromptTokens => "prompt_tokens",
        }
    }
}

/// The value of an input with which a measured figure would be predicted, all others as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PredictionRemedy {
    /// The input.
    pub input: PredictionInput,
    /// What it is: 1 of a pace, of a constant its value.
    pub given: f64,
    /// What it would have to be.
    pub needed: f64,
    /// How far that is from what is given, in standard deviations of what engines and devices differ by; none of what is no constant.
    pub deviations: Option<f64>,
    /// The time to first token that would be predicted with it.
    pub ttft: Seconds,
    /// The time per output token.
    pub tpot: Seconds,
}

/// A measured figure beside what a calibrated engine is predicted to reach, and what would explain the difference.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PredictionGap {
    /// The figure.
    pub figure: MeasuredFigure,
    /// What was measured, in the unit of [`MeasuredFigure::as_str`].
    pub measured: f64,
    /// What is predicted, in the same unit, with the interval that holds nine in ten.
    pub predicted: Estimate<f64>,
    /// What would explain it by itself: paces first, then constants, the least unusual before others, then the load's own inputs.
    /// There may be none.
    pub remedies: Vec<PredictionRemedy>,
}

impl PredictionGap {
    /// Whether the figure is one of the nine in ten that are expected.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        (self.predicted.low()..=self.predicted.high()).contains(&self.measured)
    }

    /// What would explain it, of this kind.
    #[must_use]
    pub fn remedy(&self, input: PredictionInput) -> Option<&PredictionRemedy> {
        self.remedies.iter().find(|remedy| remedy.input == input)
    }
}

/// Beyond this factor nothing explains anything.
const MOST_TIMES: f64 = 100.0;
/// More requests in flight, and longer prompts, than engines serve.
const MOST_REQUESTS: u64 = 1 << 16;
const MOST_TOKENS: u64 = 1 << 20;

impl Predictor {
    /// Each figure of `measured` beside what is predicted of `load`, and the constants and inputs of which each, by itself, would explain it
    /// if it were otherwise: `your prefill runs at 0.4 of what vLLM reaches on this device`. Rates are held against times by Little's law,
    /// as in a closed loop. A figure that cannot be (not above 0, not finite) is left out.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Seconds, Tokens};
    /// use fizeau_roofline::{
    ///     Calibration, Deployment, Device, KnownModel, MeasuredFigures, PredictionInput, System, UniformLoad,
    /// };
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let shipped = Calibration::shipped("vllm", "h100-sxm").ok_or("it ships")?;
    /// let predictor = shipped.calibration.predictor(&system, Some("vllm"));
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    /// let twice = predictor.predict(&load)?.tpot.value() * 2.0;
    /// let measured = MeasuredFigures { tpot: Some(twice), ..MeasuredFigures::default() };
    /// let gaps = predictor.gaps(&load, &measured)?;
    /// let pace = gaps[0].remedy(PredictionInput::DecodePace).ok_or("a pace explains it")?;
    /// assert!((pace.needed - 0.5).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If nothing is predicted of the load.
    pub fn gaps(
        &self,
        load: &UniformLoad,
        measured: &MeasuredFigures,
    ) -> Result<Vec<PredictionGap>, OutsideRegime> {
        let predicted = self.predict(load)?;
        let question = GapQuestion { predictor: self, load, account: self.accounts().of(load) };
        let gap = |(figure, measured): (MeasuredFigure, f64)| {
            let predicted = figure_of(figure, &predicted);
            let remedies = question.remedies(&MeasuredValue { figure, measured });
            PredictionGap { figure, measured, predicted, remedies }
        };
        Ok(measured.each().map(gap).collect())
    }
}

/// A figure of a prediction, in its unit.
fn figure_of(figure: MeasuredFigure, of: &Prediction) -> Estimate<f64> {
    let in_unit = |[value, low, high]: [f64; 3], scale: f64| {
        let confidence =
            of.tpot.interval().map_or(fizeau_core::Confidence::P90, |own| own.confidence);
        let interval = Interval { low: low * scale, high: high * scale, confidence };
        Estimate::widened(value * scale, Some(interval))
    };
    let time =
        |of: &Estimate<Seconds>| in_unit([of.value(), of.low(), of.high()].map(Seconds::get), 1e3);
    let rate = |of: &Estimate<fizeau_core::PerSec>| {
        in_unit([of.value(), of.low(), of.high()].map(fizeau_core::PerSec::get), 1.0)
    };
    match figure {
        MeasuredFigure::Ttft => time(&of.ttft),
        MeasuredFigure::Tpot => time(&of.tpot),
        MeasuredFigure::E2el => time(&of.e2el),
        MeasuredFigure::OutputTokens => rate(&of.output_tokens_per_s),
        MeasuredFigure::Requests => rate(&of.requests_per_s),
    }
}

/// A figure that was measured, in its unit.
struct MeasuredValue {
    figure: MeasuredFigure,
    measured: f64,
}

impl MeasuredValue {
    /// The time that it says, in seconds: of a rate that of a whole request, where `in_flight` are under way.
    fn time(&self, load: &UniformLoad, in_flight: f64) -> f64 {
        match self.figure {
            MeasuredFigure::OutputTokens => {
                in_flight * load.output_tokens.get() as f64 / self.measured
            }
            MeasuredFigure::Requests => in_flight / self.measured,
            _ => self.measured / 1e3,
        }
    }
}

/// What is varied, and what it is varied about.
struct GapQuestion<'a> {
    predictor: &'a Predictor,
    load: &'a UniformLoad,
    account: TimeAccount,
}

/// Times to first token and per output token, in seconds.
#[derive(Clone, Copy)]
struct PredictedTimes {
    ttft: f64,
    tpot: f64,
}

impl PredictedTimes {
    fn of(self, figure: MeasuredFigure, load: &UniformLoad) -> f64 {
        match figure {
            MeasuredFigure::Ttft => self.ttft,
            MeasuredFigure::Tpot => self.tpot,
            _ => self.ttft + self.tpot * load.output_tokens.get().saturating_sub(1) as f64,
        }
    }
}

impl GapQuestion<'_> {
    fn remedies(&self, measured: &MeasuredValue) -> Vec<PredictionRemedy> {
        let [prefill, decode] = [PredictionInput::PrefillPace, PredictionInput::DecodePace]
            .map(|input| self.scaled(input, 1.0, f64::INFINITY, measured));
        let mut constants: Vec<PredictionRemedy> = (self.predictor.constants())
            .filter_map(|(constant, value)| {
                let input = PredictionInput::Constant(constant);
                self.scaled(input, value, constant.limit(), measured)
            })
            .collect();
        constants.sort_by(|a, b| {
            a.deviations.partial_cmp(&b.deviations).unwrap_or(std::cmp::Ordering::Equal)
        });
        let concurrency = self.load.concurrency.get();
        let requests =
            self.counted(PredictionInput::Concurrency, concurrency, MOST_REQUESTS, measured);
        let (input, _, cached) = self.load.lengths();
        let computed = (input - cached) as u64;
        let tokens = self.counted(PredictionInput::PromptTokens, computed, MOST_TOKENS, measured);
        let paces = match measured.figure {
            MeasuredFigure::Tpot => [decode, prefill],
            _ => [prefill, decode],
        };
        paces.into_iter().flatten().chain(constants).chain(requests).chain(tokens).collect()
    }

    /// How many times as long as measured it would take if `input` were `value`.
    fn excess(&self, input: PredictionInput, value: f64, measured: &MeasuredValue) -> f64 {
        let in_flight = match input {
            PredictionInput::Concurrency => value,
            _ => self.load.concurrency.get() as f64,
        };
        let predicted = self.times(input, value).of(measured.figure, self.load);
        predicted / measured.time(self.load, in_flight)
    }

    /// The value below `limit` with which the figure is as measured, between a hundredth and a hundred times that which is given.
    fn scaled(
        &self,
        input: PredictionInput,
        given: f64,
        limit: f64,
        measured: &MeasuredValue,
    ) -> Option<PredictionRemedy> {
        let is_slower = self.excess(input, given, measured) < 1.0;
        let is_past = |value: f64| (self.excess(input, value, measured) >= 1.0) == is_slower;
        let ends = [given / MOST_TIMES, (given * MOST_TIMES).min(limit * (1.0 - 1e-6))];
        let end = ends.into_iter().find(|end| is_past(*end))?;
        let (mut short, mut enough) = (given.ln(), end.ln());
        for _ in 0..60 {
            let middle = f64::midpoint(short, enough);
            if is_past(middle.exp()) {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Some(self.remedy(input, given, enough.exp()))
    }

    /// The count with which the figure is as measured or just past it, between 1 and `most`.
    fn counted(
        &self,
        input: PredictionInput,
        given: u64,
        most: u64,
        measured: &MeasuredValue,
    ) -> Option<PredictionRemedy> {
        let excess = |count: u64| self.excess(input, count as f64, measured);
        let is_slower = excess(given) < 1.0;
        let is_past = |count: u64| (excess(count) >= 1.0) == is_slower;
        // More in flight make each request slower, and their rate higher.
        let end = [1, most].into_iter().find(|end| *end != given && is_past(*end))?;
        let (mut short, mut enough) = (given, end);
        while short.abs_diff(enough) > 1 {
            let middle = u64::midpoint(short, enough);
            if is_past(middle) {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Some(self.remedy(input, given as f64, enough as f64))
    }

    fn remedy(&self, input: PredictionInput, given: f64, needed: f64) -> PredictionRemedy {
        let deviations = match input {
            PredictionInput::Constant(constant) => {
                let moved = constant.natural(needed) - constant.natural(given);
                Some(moved.abs() / constant.spread())
            }
            _ => None,
        };
        let PredictedTimes { ttft, tpot } = self.times(input, needed);
        let (ttft, tpot) = (Seconds::new(ttft), Seconds::new(tpot));
        PredictionRemedy { input, given, needed, deviations, ttft, tpot }
    }

    /// The likeliest times if `input` were `value`, whatever the bound is.
    fn times(&self, input: PredictionInput, value: f64) -> PredictedTimes {
        let (mut step, mut first) = (*self.predictor.step_values(), *self.predictor.first_values());
        let mut account = self.account;
        match input {
            PredictionInput::PrefillPace => account.prompt = account.prompt.times(1.0 / value),
            PredictionInput::DecodePace => {
                account = account.decoding_times(1.0 / value);
                step[Constant::PerStep as usize] /= value;
                step[Constant::PerSequence as usize] /= value;
            }
            PredictionInput::Constant(constant) => match step.get_mut(constant as usize) {
                Some(of_step) => *of_step = value,
                None => first[constant as usize - step.len()] = value,
            },
            PredictionInput::Concurrency => {
                let concurrency = NonZeroU64::new(value as u64).unwrap_or(NonZeroU64::MIN);
                account = self.predictor.accounts().of(&UniformLoad { concurrency, ..*self.load });
            }
            PredictionInput::PromptTokens => account = self.with_prompts_of(value as u64),
        }
        times(&account, &step, &first)
    }

    /// Prompts of which so many tokens are computed: a part is cached, or they are longer.
    fn with_prompts_of(&self, tokens: u64) -> TimeAccount {
        let (input, _, cached) = self.load.lengths();
        let computed = input as u64 - cached as u64;
        let load = match tokens < computed {
            true => self.load.with_cached(Tokens::new(input as u64 - tokens)),
            false => {
                UniformLoad { input_tokens: Tokens::new(cached as u64 + tokens), ..*self.load }
            }
        };
        self.predictor.accounts().of(&load)
    }
}

fn times(account: &TimeAccount, step: &StepValues, first: &[f64; 3]) -> PredictedTimes {
    let tpot = TokenShares::new(account, step).total();
    PredictedTimes { ttft: FirstTokenRow::new(account, step, tpot).predict(first).0, tpot }
}
