//! A calibration as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::constants::{Constant, FittedConstant};
use super::fit::{Constants, Groups, Scope};
use super::regime::{QUANTITIES, Range, Ranges};
use super::sample::ModelMark;
use super::validation::Errors;
use super::{Calibration, FittedModel, Spreads, Summary};

/// What the file says it is.
const SCHEMA: &str = "fizeau.calibration/1";

/// Why a text is not a calibration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFileError {
    /// It is not JSON, or a field is missing or of the wrong kind.
    #[error("not a calibration file: {reason}")]
    Json {
        /// What is wrong and where.
        reason: String,
    },
    /// It is of another kind or version.
    #[error("the file's schema is `{schema}`; it must be `{SCHEMA}`: fit anew with this version")]
    Schema {
        /// What it says.
        schema: String,
    },
    /// A figure makes no sense.
    #[error("{place}: {what} is {value}; it must be {wanted}")]
    Figure {
        /// Of which group, or part of the file.
        place: String,
        /// Which figure.
        what: String,
        /// What it says, as text.
        value: String,
        /// What would be right.
        wanted: String,
    },
    /// A constant is missing.
    #[error("{place}: the constant `{constant}` is missing")]
    Missing {
        /// Of which group.
        place: String,
        /// Which constant.
        constant: Constant,
    },
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    fizeau: String,
    levels: u64,
    models: Vec<ModelEntry>,
    formats: Vec<String>,
    fitted_range: BTreeMap<String, [f64; 2]>,
    errors: ErrorsEntry,
    nine_tenths_within: SpreadEntry,
    groups: Vec<GroupEntry>,
}

#[derive(Serialize, Deserialize)]
struct ModelEntry {
    name: String,
    architecture: String,
    parameters: u64,
    levels: u64,
    devices: BTreeSet<String>,
}

/// Relative errors of predictions: see [`Summary`].
#[derive(Serialize, Deserialize)]
struct ErrorsEntry {
    tpot_in_sample: ErrorEntry,
    tpot_model_left_out: Option<ErrorEntry>,
    tpot_device_left_out: Option<ErrorEntry>,
    ttft_in_sample: Option<ErrorEntry>,
    ttft_model_left_out: Option<ErrorEntry>,
}

#[derive(Serialize, Deserialize)]
struct ErrorEntry {
    levels: u64,
    mean: f64,
    median: f64,
    bias: f64,
    nine_tenths: f64,
}

/// Logarithms of factors: see [`Spreads`].
#[derive(Serialize, Deserialize)]
struct SpreadEntry {
    fitted_model: f64,
    new_model: f64,
    new_device: f64,
    ttft: f64,
}

#[derive(Serialize, Deserialize)]
struct GroupEntry {
    device: Option<String>,
    engine: Option<String>,
    levels: u64,
    constants: BTreeMap<String, ConstantEntry>,
}

#[derive(Serialize, Deserialize)]
struct ConstantEntry {
    value: f64,
    unit: String,
    /// The 95 % interval, for a reader.
    low: f64,
    high: f64,
    /// Standard deviation of the logarithm.
    deviation: f64,
}

impl Calibration {
    /// The calibration as JSON (`fizeau.calibration/1`): for each group the constants with their units and 95 % intervals,
    /// the ranges that were fitted, the models, and how far off predictions are.
    #[must_use]
    pub fn to_json(&self) -> String {
        let file = File::of(self);
        // Only maps with keys that are not text, and writers, can fail.
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads what [`Calibration::to_json`] wrote.
    ///
    /// # Errors
    /// If the text is not such a file, of another version, or a figure in it makes no sense.
    pub fn from_json(text: &str) -> Result<Self, CalibrationFileError> {
        let json =
            |error: serde_json::Error| CalibrationFileError::Json { reason: error.to_string() };
        // The version is looked at first: another one may have other fields.
        let value: serde_json::Value = serde_json::from_str(text).map_err(json)?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("missing");
        if schema != SCHEMA {
            let schema = schema.chars().take(80).collect();
            return Err(CalibrationFileError::Schema { schema });
        }
        serde_json::from_value::<File>(value).map_err(json)?.calibration()
    }
}

impl File {
    fn of(calibration: &Calibration) -> Self {
        let Calibration { groups, models, formats, ranges, summary, spreads } = calibration;
        let named = QUANTITIES.iter().zip(ranges.0);
        Self {
            schema: SCHEMA.to_owned(),
            fizeau: env!("CARGO_PKG_VERSION").to_owned(),
            levels: groups.pooled.levels,
            models: models.iter().map(ModelEntry::of).collect(),
            formats: formats.clone(),
            fitted_range: named
                .map(|((name, _), range)| ((*name).to_owned(), [range.low, range.high]))
                .collect(),
            errors: ErrorsEntry::of(summary),
            nine_tenths_within: SpreadEntry {
                fitted_model: spreads.seen,
                new_model: spreads.new_model,
                new_device: spreads.new_device,
                ttft: spreads.first_token,
            },
            groups: groups.iter().map(GroupEntry::of).collect(),
        }
    }

    fn calibration(self) -> Result<Calibration, CalibrationFileError> {
        let ranges = self.ranges()?;
        let spreads = self.nine_tenths_within.spreads()?;
        let mut pooled = None;
        let mut own = BTreeMap::new();
        for entry in self.groups {
            let group = entry.constants()?;
            match group.scope {
                Scope::All => pooled = Some(group),
                _ => {
                    own.insert(group.scope.clone(), group);
                }
            }
        }
        let pooled = pooled.ok_or_else(|| CalibrationFileError::Json {
            reason: "no group is for all devices (device: null)".to_owned(),
        })?;
        Ok(Calibration {
            groups: Groups { pooled, own },
            models: self.models.into_iter().map(ModelEntry::model).collect(),
            formats: self.formats,
            ranges,
            summary: self.errors.summary(),
            spreads,
        })
    }

    fn ranges(&self) -> Result<Ranges, CalibrationFileError> {
        let mut ranges = [Range { low: 0.0, high: 0.0 }; 5];
        for (range, (name, _)) in ranges.iter_mut().zip(QUANTITIES) {
            let [low, high] = self.fitted_range.get(name).copied().unwrap_or_default();
            if !(low > 0.0 && low <= high && high.is_finite()) {
                return Err(CalibrationFileError::Figure {
                    place: "fitted_range".to_owned(),
                    what: name.to_owned(),
                    value: format!("{low} to {high}"),
                    wanted: "two numbers above 0, the lower first".to_owned(),
                });
            }
            *range = Range { low, high };
        }
        Ok(Ranges(ranges))
    }
}

impl ModelEntry {
    fn of(model: &FittedModel) -> Self {
        Self {
            name: model.name.clone(),
            architecture: model.mark.architecture.clone(),
            parameters: model.mark.parameters,
            levels: model.levels,
            devices: model.devices.clone(),
        }
    }

    fn model(self) -> FittedModel {
        let Self { name, architecture, parameters, levels, devices } = self;
        FittedModel { name, mark: ModelMark { architecture, parameters }, levels, devices }
    }
}

impl ErrorsEntry {
    fn of(summary: &Summary) -> Self {
        Self {
            tpot_in_sample: ErrorEntry::of(&summary.in_sample),
            tpot_model_left_out: summary.model_left_out.as_ref().map(ErrorEntry::of),
            tpot_device_left_out: summary.device_left_out.as_ref().map(ErrorEntry::of),
            ttft_in_sample: summary.ttft_in_sample.as_ref().map(ErrorEntry::of),
            ttft_model_left_out: summary.ttft_model_left_out.as_ref().map(ErrorEntry::of),
        }
    }

    fn summary(self) -> Summary {
        Summary {
            in_sample: self.tpot_in_sample.errors(),
            model_left_out: self.tpot_model_left_out.map(ErrorEntry::errors),
            device_left_out: self.tpot_device_left_out.map(ErrorEntry::errors),
            ttft_in_sample: self.ttft_in_sample.map(ErrorEntry::errors),
            ttft_model_left_out: self.ttft_model_left_out.map(ErrorEntry::errors),
        }
    }
}

impl ErrorEntry {
    const fn of(errors: &Errors) -> Self {
        let Errors { levels, mean, median, bias, nine_tenths } = *errors;
        Self { levels, mean, median, bias, nine_tenths }
    }

    const fn errors(self) -> Errors {
        let Self { levels, mean, median, bias, nine_tenths } = self;
        Errors { levels, mean, median, bias, nine_tenths }
    }
}

impl SpreadEntry {
    fn spreads(&self) -> Result<Spreads, CalibrationFileError> {
        let each = [
            ("fitted_model", self.fitted_model),
            ("new_model", self.new_model),
            ("new_device", self.new_device),
            ("ttft", self.ttft),
        ];
        for (what, value) in each {
            is_unsure("nine_tenths_within", what, value)?;
        }
        Ok(Spreads {
            seen: self.fitted_model,
            new_model: self.new_model,
            new_device: self.new_device,
            first_token: self.ttft,
        })
    }
}

impl GroupEntry {
    fn of(group: &Constants) -> Self {
        let (device, engine) = match &group.scope {
            Scope::All => (None, None),
            Scope::Device(device) => (Some(device.clone()), None),
            Scope::Engine { device, engine } => (Some(device.clone()), Some(engine.clone())),
        };
        let constants = group.estimates.iter().map(|estimate| {
            let [low, high] = estimate.interval().ends();
            let unit = estimate.constant.unit().to_owned();
            let (value, deviation) = (estimate.value, estimate.deviation);
            let entry = ConstantEntry { value, unit, low, high, deviation };
            (estimate.constant.as_str().to_owned(), entry)
        });
        Self { device, engine, levels: group.levels, constants: constants.collect() }
    }

    fn constants(self) -> Result<Constants, CalibrationFileError> {
        let scope = match (self.device, self.engine) {
            (None, _) => Scope::All,
            (Some(device), None) => Scope::Device(device),
            (Some(device), Some(engine)) => Scope::Engine { device, engine },
        };
        let mut estimates = Vec::new();
        for constant in Constant::all() {
            let entry = self.constants.get(constant.as_str());
            let entry = entry.ok_or_else(|| CalibrationFileError::Missing {
                place: scope.to_string(),
                constant,
            })?;
            estimates.push(entry.estimate(constant, &scope)?);
        }
        Ok(Constants { scope, levels: self.levels, estimates })
    }
}

impl ConstantEntry {
    fn estimate(
        &self,
        constant: Constant,
        scope: &Scope,
    ) -> Result<FittedConstant, CalibrationFileError> {
        let (low, high) = constant.range();
        // A last digit lost in the text is no reason to refuse.
        let is_within = self.value >= low * 0.999 && self.value <= high * 1.001;
        if !is_within {
            return Err(CalibrationFileError::Figure {
                place: scope.to_string(),
                what: constant.to_string(),
                value: self.value.to_string(),
                wanted: format!("from {low} to {high} {}", constant.unit()),
            });
        }
        is_unsure(&scope.to_string(), "deviation", self.deviation)?;
        Ok(FittedConstant { constant, value: self.value, deviation: self.deviation })
    }
}

/// Logarithms above this are factors of more than 20,000: whoever is that unsure knows nothing, and twice as much would
/// soon make an interval's end infinite.
const MOST_UNSURE: f64 = 10.0;

fn is_unsure(place: &str, what: &str, value: f64) -> Result<(), CalibrationFileError> {
    if (0.0..=MOST_UNSURE).contains(&value) {
        return Ok(());
    }
    Err(CalibrationFileError::Figure {
        place: place.to_owned(),
        what: what.to_owned(),
        value: value.to_string(),
        wanted: format!("from 0 to {MOST_UNSURE}, the logarithm of a factor"),
    })
}
