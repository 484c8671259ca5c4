//! A table of tested loads, for a plan.

mod columns;

use fizeau::core::{Arrival, Channel, PerSec, Stamp, Tape, Tokens};
use fizeau::experiment::SpeedOfLightReference;
use fizeau::interop::{Table, TableField as Field};
use fizeau::metrics::{Metric, Statistic};
use fizeau::pareto::Estimate;
use fizeau::record::{LightCurve, LoadPoint, MeanLengths, PlanFigure, PlanLevel};

use self::columns::Columns;
use super::Found;
use super::from::FromArg;
use crate::args::PlanArgs;
use crate::commands::pareto;
use crate::commands::shared::speed;
use crate::exit::Fail;

/// The columns that say how hard a level pressed.
const LOADS: [&str; 3] = ["rate", "requests_per_s", "concurrency"];

pub(super) fn read(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
    let curve = Curve::read(&from.path.to_string_lossy())?;
    let lengths = MeanLengths {
        input: args.input_len.or_else(|| mean(&curve.input)),
        output: args.output_len.or_else(|| mean(&curve.output)),
    };
    let mut asked = args.physics.clone();
    asked.hardware = from.hardware.clone().or(asked.hardware);
    // A device alone is for its price.
    let physics = match asked.model_config {
        Some(_) => speed::from_args(&asked)?,
        None => None,
    };
    let light = physics.as_ref().and_then(|physics| light(physics, lengths));
    Ok(Found {
        left_out: Vec::new(),
        slo: None,
        hardware: None,
        burstiness: None,
        lengths,
        physics,
        light,
        levels: curve.levels,
    })
}

/// The speed of light of requests that are all alike.
fn light(physics: &SpeedOfLightReference, lengths: MeanLengths) -> Option<LightCurve> {
    let (input, output) = (lengths.input?.round() as u64, lengths.output?.round() as u32);
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    tape.arrivals.push(Arrival::tokens(Stamp::EPOCH, output.max(1), Channel::Visible));
    let mut all = physics.clone().for_prompts_of(Tokens::new(input.max(1))).lengths();
    all.add(&tape);
    LightCurve::over(physics.reference(), &all, &[]).ok()
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// What a table holds.
#[derive(Default)]
struct Curve {
    levels: Vec<PlanLevel>,
    /// Prompt tokens of a request, in the rows that say so.
    input: Vec<f64>,
    /// Output tokens, likewise.
    output: Vec<f64>,
}

impl Curve {
    fn read(path: &str) -> Result<Self, Fail> {
        let table = pareto::read(path)?;
        let heads = table.heads();
        if !LOADS.iter().any(|name| heads.iter().any(|head| head == name)) {
            let (loads, has) = (LOADS.join(", "), heads.join(", "));
            return Err(Fail::usage(format!(
                "{path}: a column {loads} says how hard a level pressed; there are {has}"
            )));
        }
        let names: Vec<&str> = heads.iter().map(String::as_str).collect();
        let columns = Columns::of(&names, is_rate(&table, &names)?);
        let columns = columns.map_err(|wrong| Fail::usage(format!("{path}: {wrong}")))?;
        let mut curve = Self::default();
        table.each::<Fail>(&names, |at, fields| {
            let row = Row { names: &names, columns: &columns, fields };
            curve.add(&row).map_err(|wrong| table.wrong(at, wrong).into())
        })?;
        match curve.levels.is_empty() {
            true => Err(Fail::usage(format!("{path}: there is no row; give one for each load"))),
            false => Ok(curve),
        }
    }

    fn add(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.levels.push(row.level()?);
        let input = row.number("input_tokens")?;
        // A table of levels calls it so.
        self.input.extend(input.or(row.number("prompt_tokens")?));
        self.output.extend(row.number("output_tokens")?);
        Ok(())
    }
}

/// Whether a column `goodput` is good requests per second, as a table of levels has it, and not their share: it stands beside
/// the share, or holds more than a share can be.
fn is_rate(table: &Table, names: &[&str]) -> Result<bool, Fail> {
    if !names.contains(&"goodput") || names.contains(&"good_share") {
        return Ok(true);
    }
    let mut greatest = 0.0_f64;
    table.each::<Fail>(&["goodput"], |_, fields| {
        let numbers = fields.iter().filter_map(Field::number);
        greatest = numbers.fold(greatest, f64::max);
        Ok(())
    })?;
    Ok(greatest > 1.0)
}

/// One load of a table.
struct Row<'a> {
    names: &'a [&'a str],
    columns: &'a Columns,
    fields: &'a [Field<'a>],
}

impl Row<'_> {
    /// The number in a column; none where there is no such column or the field is empty.
    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let at = self.names.iter().position(|other| *other == name);
        let Some(field) = at.and_then(|at| self.fields.get(at)) else { return Ok(None) };
        match (field, field.number().filter(|number| number.is_finite())) {
            (Field::Absent, _) => Ok(None),
            (_, Some(number)) => Ok(Some(number)),
            (field, None) => Err(format!("column {name}: `{}` is not a number", field.words())),
        }
    }

    /// The word in a column; none where there is no such column or the field is empty.
    fn word(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|other| *other == name)?;
        match self.fields.get(at)? {
            Field::Text(text) => Some(text.trim()),
            _ => None,
        }
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
    fn estimate(&self, name: &str) -> Result<Option<Estimate>, String> {
        let Some(value) = self.number(name)? else { return Ok(None) };
        let low = self.number(&format!("{name}_low"))?.unwrap_or(value);
        let high = self.number(&format!("{name}_high"))?.unwrap_or(value);
        let estimate = Estimate::new(value, low, high);
        estimate.map(Some).map_err(|error| format!("column {name}: {error}"))
    }

    fn level(&self) -> Result<PlanLevel, String> {
        let (load, served) = self.load()?;
        let mut figures = Vec::new();
        for (name, (metric, statistic)) in self.columns.figures() {
            let value = self.estimate(name)?;
            figures.extend(value.map(|value| PlanFigure { metric, statistic, value }));
        }
        let (metric, statistic) = (Metric::RequestsPerSec, Statistic::Value);
        figures.push(PlanFigure { metric, statistic, value: served });
        let level = PlanLevel::given(load, served, figures);
        Ok(if self.word("saturated") == Some("yes") { level.saturated() } else { level })
    }

    /// How hard a level pressed, and what it completed.
    fn load(&self) -> Result<(LoadPoint, Estimate), String> {
        let [mut rate, served, mut slots] = LOADS.map(|name| self.positive(name));
        // A table of levels has what was asked by its kind.
        match self.word("load_kind") {
            Some("requests_per_s") => rate = self.positive("load_value"),
            Some("concurrency") => slots = self.positive("load_value"),
            _ => {}
        }
        let (rate, slots) = (rate?, slots?.map(whole_slots).transpose()?);
        let served = served?.and(self.estimate("requests_per_s")?);
        match (rate, slots, served) {
            (Some(rate), _, served) => {
                let sent = Estimate::exact(rate).map_err(|error| error.to_string())?;
                Ok((LoadPoint::Rate(PerSec::new(rate)), served.unwrap_or(sent)))
            }
            (None, Some(slots), Some(served)) => Ok((LoadPoint::Concurrency(slots), served)),
            (None, None, Some(served)) => {
                Ok((LoadPoint::Rate(PerSec::new(served.value())), served))
            }
            (None, Some(_), None) => {
                Err("beside concurrency it takes a column requests_per_s".to_owned())
            }
            (None, None, None) => Err(format!("it takes one of {}", LOADS.join(", "))),
        }
    }
}

/// The concurrency of a row, which is a count.
fn whole_slots(slots: f64) -> Result<u32, String> {
    // Every count of 32 bits is a number of 64 exactly.
    let is_count = slots.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&slots);
    let wrong = || format!("concurrency {slots}; it must be a whole number from 1 to {}", u32::MAX);
    if is_count { Ok(slots as u32) } else { Err(wrong()) }
}

/// The tokens of a mean length, for an engine that takes whole ones.
pub(super) fn whole(mean: f64) -> Tokens {
    Tokens::new((mean.round() as u64).max(1))
}
