//! A calibration as JSON.

use std::collections::BTreeMap;
use std::fmt;

use fizeau_core::Seconds;
use serde::{Deserialize, Serialize};

use super::constants::{Constant, FittedConstant};
use super::fit::{ConstantGroups, Constants, Scope};
use super::regime::{QUANTITIES, RegimeRange, RegimeRanges};
use super::validation::UNEXPLAINED;
use super::{Calibration, ErrorSpreads, FitSummary, FittedModel};

/// What the file says it is.
const SCHEMA: &str = "fizeau.calibration/2";

/// Why a text is not a calibration. The message says which part of the file is at fault and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CalibrationFileError(String);

fn no_calibration(reason: impl fmt::Display) -> CalibrationFileError {
    CalibrationFileError(format!("not a calibration file: {reason}"))
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    fizeau: String,
    levels: u64,
    models: Vec<FittedModel>,
    formats: Vec<String>,
    fitted_range: BTreeMap<String, [f64; 2]>,
    errors: FitSummary,
    nine_tenths_within: ErrorSpreads,
    groups: Vec<GroupEntry>,
}

#[derive(Serialize, Deserialize)]
struct GroupEntry {
    device: Option<String>,
    engine: Option<String>,
    levels: u64,
    /// By how much they scatter about what is predicted; earlier files do not say it.
    #[serde(default = "usual_scatter")]
    scatter: f64,
    constants: BTreeMap<String, ConstantInFile>,
    /// How long a request keeps the next one from coming in; earlier files do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intake_s: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct ConstantInFile {
    value: f64,
    unit: String,
    /// The 95 % interval, for a reader.
    low: f64,
    high: f64,
    /// Standard deviation of the logarithm.
    deviation: f64,
}

impl Calibration {
    /// The calibration as JSON (`fizeau.calibration/2`): for each group the constants with their units and 95 % intervals,
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
        // The version is looked at first: another one may have other fields.
        let value: serde_json::Value = serde_json::from_str(text).map_err(no_calibration)?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("missing");
        if schema != SCHEMA {
            let schema: String = schema.chars().take(80).collect();
            return Err(CalibrationFileError(format!(
                "the file's schema is `{schema}`; it must be `{SCHEMA}`: fit anew with this version"
            )));
        }
        serde_json::from_value::<File>(value).map_err(no_calibration)?.calibration()
    }
}

impl File {
    fn of(calibration: &Calibration) -> Self {
        let Calibration { groups, models, formats, ranges, summary, spreads } = calibration;
        Self {
            schema: SCHEMA.to_owned(),
            fizeau: env!("CARGO_PKG_VERSION").to_owned(),
            levels: groups.pooled.levels,
            models: models.clone(),
            formats: formats.clone(),
            fitted_range: in_file(ranges),
            errors: *summary,
            nine_tenths_within: *spreads,
            groups: groups.iter().map(GroupEntry::of).collect(),
        }
    }

    fn calibration(self) -> Result<Calibration, CalibrationFileError> {
        let ranges = ranges(&self.fitted_range)?;
        self.nine_tenths_within.check()?;
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
        let none = "no group is for all devices (device: null)";
        let pooled = pooled.ok_or_else(|| no_calibration(none))?;
        Ok(Calibration {
            groups: ConstantGroups { pooled, own },
            models: self.models,
            formats: self.formats,
            ranges,
            summary: self.errors,
            spreads: self.nine_tenths_within,
        })
    }
}

const fn usual_scatter() -> f64 {
    UNEXPLAINED
}

/// The ranges of all quantities by their names.
fn in_file(ranges: &RegimeRanges) -> BTreeMap<String, [f64; 2]> {
    let named = QUANTITIES.iter().zip(ranges.0);
    named.map(|((name, _), range)| ((*name).to_owned(), [range.low, range.high])).collect()
}

fn ranges(in_file: &BTreeMap<String, [f64; 2]>) -> Result<RegimeRanges, CalibrationFileError> {
    let mut ranges = [RegimeRange { low: 0.0, high: 0.0 }; 5];
    for (range, (name, _)) in ranges.iter_mut().zip(QUANTITIES) {
        let [low, high] = in_file.get(name).copied().unwrap_or_default();
        if !(low > 0.0 && low <= high && high.is_finite()) {
            let wanted = "two numbers above 0, the lower first";
            return Err(CalibrationFileError(format!(
                "fitted_range: {name} is {low} to {high}; it must be {wanted}"
            )));
        }
        *range = RegimeRange { low, high };
    }
    Ok(RegimeRanges(ranges))
}

impl ErrorSpreads {
    fn check(&self) -> Result<(), CalibrationFileError> {
        let Self { seen, new_model, new_device, first_token } = *self;
        [
            ("fitted_model", seen),
            ("new_model", new_model),
            ("new_device", new_device),
            ("ttft", first_token),
        ]
        .into_iter()
        .try_for_each(|(what, value)| is_unsure("nine_tenths_within", what, value))
    }
}

impl GroupEntry {
    fn of(group: &Constants) -> Self {
        let (device, engine) = match &group.scope {
            Scope::All => (None, None),
            Scope::Device(device) => (Some(device.clone()), None),
            Scope::EngineOnAnyDevice(engine) => (None, Some(engine.clone())),
            Scope::Engine { device, engine } => (Some(device.clone()), Some(engine.clone())),
        };
        let constants = group.estimates.iter().map(|estimate| {
            let [low, high] = estimate.interval().ends();
            let unit = estimate.constant.unit().to_owned();
            let (value, deviation) = (estimate.value, estimate.deviation);
            let entry = ConstantInFile { value, unit, low, high, deviation };
            (estimate.constant.as_str().to_owned(), entry)
        });
        Self {
            device,
            engine,
            levels: group.levels,
            scatter: group.scatter,
            constants: constants.collect(),
            intake_s: group.intake.map(Seconds::get),
        }
    }

    fn constants(self) -> Result<Constants, CalibrationFileError> {
        let scope = match (self.device, self.engine) {
            (None, None) => Scope::All,
            (None, Some(engine)) => Scope::EngineOnAnyDevice(engine),
            (Some(device), None) => Scope::Device(device),
            (Some(device), Some(engine)) => Scope::Engine { device, engine },
        };
        let mut estimates = Vec::new();
        for constant in Constant::all() {
            let entry = self.constants.get(constant.as_str());
            let entry = entry.ok_or_else(|| {
                CalibrationFileError(format!("{scope}: the constant `{constant}` is missing"))
            })?;
            estimates.push(entry.estimate(constant, &scope)?);
        }
        is_unsure(&scope.to_string(), "scatter", self.scatter)?;
        if let Some(intake) = self.intake_s.filter(|own| !(0.0..=MOST_INTAKE).contains(own)) {
            return Err(CalibrationFileError(format!(
                "{scope}: intake_s is {intake}; it must be from 0 to {MOST_INTAKE} s"
            )));
        }
        let intake = self.intake_s.map(Seconds::new);
        Ok(Constants { scope, levels: self.levels, estimates, scatter: self.scatter, intake })
    }
}

impl ConstantInFile {
    fn estimate(
        &self,
        constant: Constant,
        scope: &Scope,
    ) -> Result<FittedConstant, CalibrationFileError> {
        let limit = constant.limit();
        if !(self.value > 0.0 && self.value < limit) {
            let (value, unit) = (self.value, constant.unit());
            let below = if limit.is_finite() {
                format!(" and below {limit} {unit}")
            } else {
                String::new()
            };
            return Err(CalibrationFileError(format!(
                "{scope}: {constant} is {value}; it must be above 0{below}"
            )));
        }
        is_unsure(&scope.to_string(), "deviation", self.deviation)?;
        Ok(FittedConstant { constant, value: self.value, deviation: self.deviation })
    }
}

/// No front end takes so long for a request that none is served.
const MOST_INTAKE: f64 = 60.0;
/// Logarithms above this are factors of more than 20,000: whoever is that unsure knows nothing, and twice as much would
/// soon make an interval's end infinite.
const MOST_UNSURE: f64 = 10.0;

fn is_unsure(place: &str, what: &str, value: f64) -> Result<(), CalibrationFileError> {
    if (0.0..=MOST_UNSURE).contains(&value) {
        return Ok(());
    }
    Err(CalibrationFileError(format!(
        "{place}: {what} is {value}; it must be from 0 to {MOST_UNSURE}, the logarithm of a factor"
    )))
}
