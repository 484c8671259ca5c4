//! A table of tested loads, row by row.

mod columns;

use std::borrow::Cow;
use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, LoadKind, PerSec};
use fizeau_metrics::{Metric, Statistic};
use fizeau_pareto::FigureEstimate;
use thiserror::Error;

use super::{MeanLengths, PlanFigure, PlanLevel};
use columns::GoalColumns;

/// The columns that give the load of a level.
const LOADS: [&str; 3] = ["rate", "requests_per_s", "concurrency"];

/// Further columns that are read.
const OTHERS: [&str; 12] = [
    "load_kind",
    "load_value",
    "verdict",
    "left_out",
    "saturated",
    "failed_share",
    "completed",
    "failed",
    "input_tokens",
    "prompt_tokens",
    "output_tokens",
    "devices",
];

/// A replica may have completed what was sent before its rate was counted, but not twice as much as was sent.
const MOST_SERVED: f64 = 2.0;

/// What a field of a row says, by the name of its column; none where there is no such column or the field is empty.
type Fields<'a> = dyn Fn(&str) -> Option<Cow<'a, str>> + 'a;

/// A table of tested loads, of which each row gives the load of a level and what came of it.
///
/// ```
/// use fizeau_record::TestedLoads;
///
/// let mut loads = TestedLoads::of(&["concurrency", "requests_per_s", "p99_ttft_ms"], 0.0)?;
/// let row = [("concurrency", "8"), ("requests_per_s", "3.5"), ("p99_ttft_ms", "210")];
/// loads.add(&|name| row.iter().find(|field| field.0 == name).map(|field| field.1.into()))?;
/// assert_eq!(loads.levels().len(), 1);
/// # Ok::<(), fizeau_record::TestedLoadsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TestedLoads {
    columns: GoalColumns,
    levels: Vec<PlanLevel>,
    left_out: Vec<String>,
    /// Prompt tokens of a request, in the rows that say so.
    input: Vec<f64>,
    /// Output tokens, likewise.
    output: Vec<f64>,
    devices: Option<NonZeroU64>,
    unused: Vec<(String, String)>,
}

/// What is wrong with a table of tested loads, or with a row of it, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TestedLoadsError(String);

impl TestedLoads {
    /// Of a table with these columns, whose column `goodput`, where it has one, holds no more than `greatest_goodput`: good requests
    /// per second, as a table of levels has it, if it stands beside their share or holds more than a share can be.
    ///
    /// # Errors
    /// If no column gives the load of a level, or two mean the same.
    pub fn of(heads: &[&str], greatest_goodput: f64) -> Result<Self, TestedLoadsError> {
        if !LOADS.iter().any(|name| heads.contains(name)) {
            let is_json =
                heads.first().is_some_and(|head| head.trim_start().starts_with(['[', '{']));
            let what = match is_json {
                true => "this looks like JSON; give JSON Lines, one object a line".to_owned(),
                false => {
                    let [loads @ .., last] = LOADS;
                    let loads = loads.join(", ");
                    format!(
                        "this is neither a run's folder nor a table with one of the columns {loads} or {last}"
                    )
                }
            };
            return Err(TestedLoadsError(what));
        }
        let is_rate = heads.contains(&"good_share") || greatest_goodput > 1.0;
        let columns = GoalColumns::of(heads, is_rate).map_err(TestedLoadsError)?;
        let (levels, left_out, input, output) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let unused = columns.unused(heads);
        Ok(Self { columns, levels, left_out, input, output, devices: None, unused })
    }

    /// Takes in a row.
    ///
    /// # Errors
    /// If a field of it is no number, or it does not give the load of its level.
    pub fn add(&mut self, fields: &Fields<'_>) -> Result<(), TestedLoadsError> {
        self.row(fields).map_err(TestedLoadsError)
    }

    /// A level for each row that may be used.
    #[must_use]
    pub fn levels(&self) -> &[PlanLevel] {
        &self.levels
    }

    /// The rows that may not, each with the reason: their columns `verdict` or `left_out` say so.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// How long requests are, as the mean over the rows that say so.
    #[must_use]
    pub fn lengths(&self) -> MeanLengths {
        MeanLengths { input: mean(&self.input), output: mean(&self.output) }
    }

    /// How many devices a replica takes, where a column `devices` says it.
    #[must_use]
    pub const fn devices(&self) -> Option<NonZeroU64> {
        self.devices
    }

    /// The columns that nothing is read of, each with the one that is read and has the most similar name.
    pub fn unused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unused.iter().map(|(name, nearest)| (name.as_str(), nearest.as_str()))
    }

    fn row(&mut self, fields: &Fields<'_>) -> Result<(), String> {
        let row = LoadRow { columns: &self.columns, fields };
        let level = row.level()?;
        match row.verdict()? {
            RowVerdict::Used(None) => self.levels.push(level),
            RowVerdict::Used(Some(doubt)) => self.levels.push(level.doubted(doubt)),
            RowVerdict::LeftOut(why) => {
                self.left_out.push(format!("{}: {why}", level.load));
                return Ok(());
            }
        }
        let input = row.number("input_tokens")?;
        // A table of levels calls it so.
        let input = input.or(row.number("prompt_tokens")?);
        let output = row.number("output_tokens")?;
        let devices = row.number("devices")?.map(whole_devices).transpose()?;
        if let (Some(before), Some(devices)) = (self.devices, devices)
            && before != devices
        {
            return Err(format!(
                "column devices: {devices}, and {before} in a row before; a plan is of replicas of one size, so give a table of each"
            ));
        }
        self.devices = self.devices.or(devices);
        self.input.extend(input);
        self.output.extend(output);
        Ok(())
    }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Whether a row is to be believed.
enum RowVerdict {
    /// It is used, whatever speaks against it.
    Used(Option<String>),
    /// It is not, for a reason.
    LeftOut(String),
}

/// One load of a table.
struct LoadRow<'a, 'f> {
    columns: &'a GoalColumns,
    fields: &'a Fields<'f>,
}

impl LoadRow<'_, '_> {
    /// The number in a column; none where there is no such column or the field is empty.
    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = (self.fields)(name) else { return Ok(None) };
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let wrong = || format!("column {name}: `{text}` is not a number");
        number.map(Some).ok_or_else(wrong)
    }

    /// Whether a column says `word`.
    fn says(&self, name: &str, word: &str) -> bool {
        (self.fields)(name).is_some_and(|text| text.trim() == word)
    }

    /// Whether a column says yes; one that says neither that nor no is refused.
    fn is_yes(&self, name: &str) -> Result<bool, String> {
        let Some(text) = (self.fields)(name) else { return Ok(false) };
        match text.trim().to_ascii_lowercase().as_str() {
            "yes" | "true" | "1" => Ok(true),
            // A closed loop has no queue that could grow, and a short level does not show whether one did.
            "" | "no" | "false" | "0" | "unknown" => Ok(false),
            _ => Err(format!("column {name}: `{text}`; write yes or no")),
        }
    }

    /// Whether it is to be believed, as the columns `left_out` and `verdict` have it.
    fn verdict(&self) -> Result<RowVerdict, String> {
        let field = |name: &str| {
            let text = (self.fields)(name)?.trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        if let Some(why) = field("left_out") {
            return Ok(RowVerdict::LeftOut(why));
        }
        match field("verdict").as_deref() {
            None | Some("valid") => Ok(RowVerdict::Used(None)),
            Some("suspect") => Ok(RowVerdict::Used(Some("suspect as the table has it".into()))),
            Some("invalid") => Ok(RowVerdict::LeftOut("invalid, as the table has it".into())),
            Some(other) => {
                Err(format!("column verdict: `{other}`; write valid, suspect or invalid"))
            }
        }
    }

    fn share(&self, name: &str) -> Result<Option<f64>, String> {
        match self.number(name)? {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                Err(format!("column {name}: {share}; a share is from 0 to 1"))
            }
            share => Ok(share),
        }
    }

    /// The share of the requests that failed, as a column says it or two that count.
    fn failed_share(&self) -> Result<f64, String> {
        if let Some(share) = self.share("failed_share")? {
            return Ok(share);
        }
        let [completed, failed] = ["completed", "failed"].map(|name| self.number(name));
        let (Some(completed), Some(failed)) = (completed?, failed?) else { return Ok(0.0) };
        let sent = completed + failed;
        let is_count = completed >= 0.0 && failed >= 0.0;
        if !is_count {
            return Err(format!(
                "columns completed and failed: {completed} and {failed}; counts are not negative"
            ));
        }
        Ok(if sent > 0.0 { failed / sent } else { 0.0 })
    }

    fn positive(&self, name: &str) -> Result<Option<f64>, String> {
        match self.number(name)? {
            Some(number) if number <= 0.0 => {
                Err(format!("column {name}: {number}; it must be above 0"))
            }
            number => Ok(number),
        }
    }

    /// A number with its ends, which stand in columns of their own.
    fn estimate(&self, name: &str) -> Result<Option<FigureEstimate>, String> {
        let Some(value) = self.number(name)? else { return Ok(None) };
        let low = self.number(&format!("{name}_low"))?.unwrap_or(value);
        let high = self.number(&format!("{name}_high"))?.unwrap_or(value);
        let estimate = FigureEstimate::new(value, low, high);
        estimate.map(Some).map_err(|error| format!("column {name}: {error}"))
    }

    fn level(&self) -> Result<PlanLevel, String> {
        let (load, served) = self.load()?;
        let mut figures = Vec::new();
        for (name, (metric, statistic)) in self.columns.figures() {
            if matches!(metric, Metric::GoodShare | Metric::FailedShare) {
                self.share(name)?;
            }
            let value = self.estimate(name)?;
            figures.extend(value.map(|value| PlanFigure { metric, statistic, value }));
        }
        let (metric, statistic) = (Metric::RequestsPerSec, Statistic::Value);
        figures.push(PlanFigure { metric, statistic, value: served });
        let level = PlanLevel::given(load, served, figures).with_failed_share(self.failed_share()?);
        Ok(if self.is_yes("saturated")? { level.saturated() } else { level })
    }

    /// The load of a level, and what it completed.
    fn load(&self) -> Result<(LevelLoad, FigureEstimate), String> {
        let [mut rate, served, mut slots] = LOADS.map(|name| self.positive(name));
        // A table of levels has what was asked by its kind.
        if self.says("load_kind", "requests_per_s") {
            rate = self.positive("load_value");
        } else if self.says("load_kind", "concurrency") {
            slots = self.positive("load_value");
        }
        let (rate, slots) = (rate?, slots?.map(whole_slots).transpose()?);
        let served = served?.and(self.estimate("requests_per_s")?);
        match (rate, slots, served) {
            (Some(rate), _, Some(served)) if served.value() > MOST_SERVED * rate => Err(format!(
                "{rate} requests/s asked for and {} completed; a replica completes no more than is asked of it",
                served.value()
            )),
            (Some(rate), _, served) => {
                let sent = FigureEstimate::exact(rate).map_err(|error| error.to_string())?;
                Ok((LevelLoad::Rate(PerSec::new(rate)), served.unwrap_or(sent)))
            }
            (None, Some(slots), Some(served)) => Ok((slots, served)),
            (None, None, Some(served)) => {
                Ok((LevelLoad::Rate(PerSec::new(served.value())), served))
            }
            (None, Some(_), None) => {
                Err("beside concurrency it needs a column requests_per_s".to_owned())
            }
            (None, None, None) => Err(format!("it takes one of {}", LOADS.join(", "))),
        }
    }
}

/// The devices of a row, which are a count.
fn whole_devices(number: f64) -> Result<NonZeroU64, String> {
    let wrong = |_| format!("column devices: {number}; it must be a whole number from 1 on");
    number.to_string().parse().map_err(wrong)
}

/// The concurrency of a row, which is a count.
fn whole_slots(slots: f64) -> Result<LevelLoad, String> {
    // Every count of 32 bits is a number of 64 exactly.
    let is_count = slots.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&slots);
    let wrong = || format!("concurrency {slots}; it must be a whole number from 1 to {}", u32::MAX);
    if is_count { Ok(LoadKind::Concurrency.at(slots)) } else { Err(wrong()) }
}
