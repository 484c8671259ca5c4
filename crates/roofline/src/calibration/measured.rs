//! Measured levels as people write them down: a table of comma-separated values.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord, Trim};
use fizeau_core::{Seconds, Tokens};

use crate::{
    CalibrationSample, Deployment, DeploymentError, Device, Format, Model, System, UniformLoad,
    WeightChoice,
};

/// A row of a table of measured levels.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredRow {
    /// Its line in the text, from 1.
    pub line: u64,
    /// What the model is called.
    pub model: String,
    /// What the device is called.
    pub hardware: String,
    /// What the engine is called.
    pub engine: Option<String>,
    /// The engine's version.
    pub engine_version: Option<String>,
    /// How weights are stored, if not as the model's config says.
    pub weights: Option<WeightChoice>,
    /// How the cache is stored, if not in 16 bits.
    pub kv: Option<Format>,
    /// How the model is spread.
    pub deployment: Deployment,
    /// In how many parts each expert is cut, where it is said: with the groups of experts it makes the devices of a stage.
    pub expert_tensor: Option<u32>,
    /// What was asked for.
    pub load: UniformLoad,
    /// Mean time to first token.
    pub ttft: Option<Seconds>,
    /// Mean time per output token.
    pub tpot: Seconds,
}

/// A table of measured levels.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct MeasuredTable {
    /// The rows that were understood.
    pub levels: Vec<MeasuredRow>,
    /// What is wrong with those that were not.
    pub errors: Vec<MeasuredError>,
    /// Columns that are not read.
    pub unknown: Vec<String>,
}

/// Why a row, or a whole table, was not understood. The message names line and field, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MeasuredError(String);

/// The columns that are read.
const COLUMNS: [&str; 17] = [
    "model",
    "hardware",
    "engine",
    "engine_version",
    "weights",
    "moe_weights",
    "kv",
    "tp",
    "pp",
    "attention_dp",
    "moe_tp",
    "moe_ep",
    "isl",
    "osl",
    "concurrency",
    "ttft_ms",
    "tpot_ms",
];

impl MeasuredTable {
    /// Reads a table with a header. Columns: `model`, `hardware`, `isl`, `osl`, `concurrency`, `tpot_ms`; and where they
    /// are known `engine`, `weights` and `moe_weights` (as [`WeightChoice`] has them), `kv`, `tp`, `pp`, `attention_dp`,
    /// `moe_tp`, `moe_ep`, `ttft_ms`. Empty fields, and degrees of 0 beside `tp`, count as not said.
    ///
    /// ```
    /// use fizeau_roofline::MeasuredTable;
    /// let table = MeasuredTable::read(
    ///     "model,hardware,engine,weights,tp,isl,osl,concurrency,tpot_ms\n\
    ///      llama-3.1-70b,h100-sxm,vllm,fp8,4,1024,1024,16,15.2\n\
    ///      llama-3.1-70b,h100-sxm,vllm,fp8,4,1024,1024,many,15.2\n",
    /// )?;
    /// assert_eq!(table.levels.len(), 1);
    /// assert_eq!(
    ///     table.errors[0].to_string(),
    ///     "line 3: concurrency is `many`; it must be a whole number above 0"
    /// );
    /// # Ok::<(), fizeau_roofline::MeasuredError>(())
    /// ```
    ///
    /// # Errors
    /// If a column is missing. What is wrong with single rows is in [`MeasuredTable::errors`].
    pub fn read(text: &str) -> Result<Self, MeasuredError> {
        let mut rows = rows(text);
        let header = rows.next().map(|(_, header)| header).unwrap_or_default();
        let columns: Vec<&str> = header.iter().collect();
        for name in ["model", "hardware", "isl", "osl", "concurrency", "tpot_ms"] {
            if !columns.contains(&name) {
                return Err(MeasuredError(format!(
                    "there is no column `{name}`; needed are model, hardware, isl, osl, concurrency and tpot_ms"
                )));
            }
        }
        let unknown = columns.iter().filter(|column| !COLUMNS.contains(column));
        let unknown = unknown.map(|column| (*column).to_owned()).collect();
        let mut table = Self { unknown, ..Self::default() };
        for (line, fields) in rows {
            match RowInFile::new(&columns, fields, line).and_then(|row| row.level()) {
                Ok(level) => table.levels.push(level),
                Err(error) => table.errors.push(error),
            }
        }
        Ok(table)
    }
}

impl MeasuredRow {
    /// The level's system, of a `model` that is called as the row says and a `device`.
    ///
    /// # Errors
    /// If the model cannot be spread so.
    pub fn system(&self, model: Model, device: Device) -> Result<System, MeasuredError> {
        let model = match &self.weights {
            Some(weights) => model.with_weights(weights),
            None => model,
        };
        let model = match self.kv {
            Some(kv) => model.with_kv_cache(kv),
            None => model,
        };
        System::new(model, device, self.deployment).map_err(|error| self.wrong(&error))
    }

    /// The level as a fit takes it.
    ///
    /// # Errors
    /// If a time is not above 0.
    pub fn sample(&self, system: &System) -> Result<CalibrationSample, MeasuredError> {
        let wrong = |error| self.wrong(&error);
        let sample =
            CalibrationSample::new(system, &self.load, &self.model, self.tpot).map_err(wrong)?;
        let sample = match &self.engine {
            Some(engine) => sample.with_engine(engine),
            None => sample,
        };
        match self.ttft {
            Some(ttft) => sample.with_ttft(ttft).map_err(wrong),
            None => Ok(sample),
        }
    }

    fn wrong(&self, error: &dyn std::error::Error) -> MeasuredError {
        MeasuredError(format!("line {}: {error}", self.line))
    }
}

/// The rows of a table, the header among them, each with its line from 1.
fn rows(text: &str) -> impl Iterator<Item = (u64, StringRecord)> {
    let table = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    // Text in memory can be read to its end, whatever the number of fields.
    let rows = table.into_records().filter_map(Result::ok);
    rows.filter(|row| row.len() > 1 || !row.as_slice().is_empty()).map(|row| {
        let line = row.position().map_or(1, |place| place.line() + skipped(text, place.byte()));
        (line, row)
    })
}

/// How many empty lines lie between the end of a row, at `byte`, and the next row.
fn skipped(text: &str, byte: u64) -> u64 {
    let rest = text.as_bytes().get(byte as usize..).unwrap_or_default();
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    ends.filter(|byte| **byte == b'\n').count() as u64
}

struct RowInFile<'a> {
    columns: &'a [&'a str],
    fields: StringRecord,
    line: u64,
}

impl<'a> RowInFile<'a> {
    fn new(columns: &'a [&'a str], fields: StringRecord, line: u64) -> Result<Self, MeasuredError> {
        if fields.len() != columns.len() {
            let (fields, columns) = (fields.len(), columns.len());
            return Err(MeasuredError(format!(
                "line {line}: {fields} fields where the header has {columns}"
            )));
        }
        Ok(Self { columns, fields, line })
    }

    fn level(&self) -> Result<MeasuredRow, MeasuredError> {
        let concurrency = self.whole("concurrency")?;
        let load = UniformLoad::new(
            Tokens::new(self.whole("isl")?),
            Tokens::new(self.whole("osl")?),
            NonZeroU64::new(concurrency).unwrap_or(NonZeroU64::MIN),
        );
        Ok(MeasuredRow {
            line: self.line,
            model: self.needed("model")?.to_owned(),
            hardware: self.needed("hardware")?.to_owned(),
            engine: self.get("engine").map(str::to_owned),
            engine_version: self.get("engine_version").map(str::to_owned),
            weights: self.weights()?,
            kv: self.parsed("kv")?,
            deployment: self.deployment()?,
            expert_tensor: self.get("moe_tp").and_then(|text| text.parse().ok()),
            load,
            ttft: self.millis("ttft_ms")?,
            tpot: self.millis("tpot_ms")?.ok_or_else(|| self.empty("tpot_ms"))?,
        })
    }

    /// The field, unless it is empty or there is no such column.
    fn get(&self, name: &str) -> Option<&str> {
        let place = self.columns.iter().position(|column| *column == name)?;
        self.fields.get(place).filter(|field| !field.is_empty())
    }

    fn needed(&self, name: &'static str) -> Result<&str, MeasuredError> {
        self.get(name).ok_or_else(|| self.empty(name))
    }

    fn empty(&self, field: &str) -> MeasuredError {
        MeasuredError(format!("line {}: {field} is empty; give a value", self.line))
    }

    fn wrong(&self, field: &str, text: &str, wanted: impl fmt::Display) -> MeasuredError {
        let text: String = text.chars().take(48).collect();
        MeasuredError(format!("line {}: {field} is `{text}`; {wanted}", self.line))
    }

    fn whole(&self, name: &'static str) -> Result<u64, MeasuredError> {
        let text = self.needed(name)?;
        let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
        number.ok_or_else(|| self.wrong(name, text, "it must be a whole number above 0"))
    }

    fn millis(&self, name: &'static str) -> Result<Option<Seconds>, MeasuredError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number: Option<f64> = text.parse().ok();
        match number.filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) => Ok(Some(Seconds::new(number / 1e3))),
            None => Err(self.wrong(name, text, "it must be a number of milliseconds above 0")),
        }
    }

    fn parsed<T: FromStr<Err: fmt::Display>>(
        &self,
        name: &'static str,
    ) -> Result<Option<T>, MeasuredError> {
        let parse =
            |text: &str| text.parse().map_err(|error: T::Err| self.wrong(name, text, error));
        self.get(name).map(parse).transpose()
    }

    /// What is said of experts holds for experts, if it is not what is said of all.
    fn weights(&self) -> Result<Option<WeightChoice>, MeasuredError> {
        let all: Option<WeightChoice> = self.parsed("weights")?;
        let experts = self.get("moe_weights");
        match experts.filter(|experts| self.get("weights") != Some(experts)) {
            None => Ok(all),
            Some(text) => {
                let experts: Format = text.parse().map_err(|error: crate::UnknownFormat| {
                    self.wrong("moe_weights", text, error)
                })?;
                let all = all.unwrap_or_default();
                Ok(Some(all.with(crate::TensorClass::Experts, experts)))
            }
        }
    }

    fn deployment(&self) -> Result<Deployment, MeasuredError> {
        let mut spread = Deployment::SINGLE;
        let degrees: [(&'static str, Spread); 4] = [
            ("tp", Deployment::with_tensor),
            ("pp", Deployment::with_pipeline),
            ("attention_dp", Deployment::with_attention_groups),
            ("moe_ep", Deployment::with_expert_groups),
        ];
        for (name, with) in degrees {
            let Some(text) = self.get(name) else { continue };
            // Tables of models without experts or attention groups say 0 of them.
            if text == "0" && name != "tp" {
                continue;
            }
            let degree = text.parse().ok().and_then(|degree| with(spread, degree).ok());
            spread = degree.ok_or_else(|| {
                self.wrong(name, text, "it must be a whole number from 1 to 65536")
            })?;
        }
        Ok(spread)
    }
}

type Spread = fn(Deployment, u32) -> Result<Deployment, DeploymentError>;

/// Far more tokens or requests than anything has.
const MOST: u64 = 1_000_000_000;
