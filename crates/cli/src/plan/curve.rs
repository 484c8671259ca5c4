//! A CSV file of tested loads, for a plan.

use fizeau::core::{Arrival, Channel, PerSec, Stamp, Tape, Tokens};
use fizeau::metrics::{Metric, Slo, Statistic};
use fizeau::pareto::Estimate;
use fizeau::report::{LightCurve, LoadPoint, MeanLengths, PlanFigure, PlanLevel};

use super::Found;
use super::from::FromArg;
use crate::args::PlanArgs;
use crate::exit::{Fail, Named};
use crate::speed::Physics;

/// The columns that say how hard a level pressed.
const LOADS: [&str; 3] = ["rate", "requests_per_s", "concurrency"];

pub(super) fn read(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
    let file = format!("--from {}", from.path.display());
    let text = std::fs::read_to_string(&from.path).named(&file)?;
    let table = Table::parse(&text).map_err(|wrong| Fail::usage(format!("{file}: {wrong}")))?;
    let levels = table.levels().map_err(|wrong| Fail::usage(format!("{file}: {wrong}")))?;
    let mean = |column: &str| table.mean(column);
    let lengths = MeanLengths {
        input: args.input_len.or(mean("input_tokens").named(&file)?),
        output: args.output_len.or(mean("output_tokens").named(&file)?),
    };
    let mut asked = args.physics.clone();
    asked.hardware = from.hardware.clone().or(asked.hardware);
    // A device alone is for its price.
    let physics = match asked.model_config {
        Some(_) => Physics::from_args(&asked)?,
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
        levels,
    })
}

/// The speed of light of requests that are all alike.
fn light(physics: &Physics, lengths: MeanLengths) -> Option<LightCurve> {
    let (input, output) = (lengths.input?.round() as u64, lengths.output?.round() as u32);
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    tape.arrivals.push(Arrival::tokens(Stamp::EPOCH, output.max(1), Channel::Visible));
    let mut all = physics.clone().for_prompts_of((input.max(1), 0)).lengths();
    all.add(&tape);
    LightCurve::over(physics.reference(), &all, &[]).ok()
}

/// A header and rows of numbers.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.trim_start_matches('\u{feff}').lines();
        let mut lines =
            lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let cells = |line: &str| -> Vec<String> {
            line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
        };
        let header = cells(lines.next().ok_or("the file is empty; give a header and rows")?);
        let rows: Vec<Vec<String>> = lines.map(cells).collect();
        if let Some((index, row)) =
            rows.iter().enumerate().find(|(_, row)| row.len() != header.len())
        {
            let (row, has, wanted) = (index + 1, row.len(), header.len());
            return Err(format!("row {row} has {has} cells, and the header has {wanted}"));
        }
        if rows.is_empty() {
            return Err("there is a header and no row".to_owned());
        }
        Ok(Self { header, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|other| other == name)
    }

    /// The number in a column; none where there is no such column or the cell is empty.
    fn number(&self, row: usize, name: &str) -> Result<Option<f64>, String> {
        let cell = self.column(name).and_then(|column| self.rows.get(row)?.get(column));
        let Some(cell) = cell.filter(|cell| !cell.is_empty()) else { return Ok(None) };
        let number = cell.parse().ok().filter(|number: &f64| number.is_finite());
        let wrong = || format!("row {}, column {name}: `{cell}` is not a number", row + 1);
        number.map(Some).ok_or_else(wrong)
    }

    /// A number with its ends, which stand in columns of their own.
    fn estimate(&self, row: usize, name: &str) -> Result<Option<Estimate>, String> {
        let Some(value) = self.number(row, name)? else { return Ok(None) };
        let [low, high] =
            [format!("{name}_low"), format!("{name}_high")].map(|end| self.number(row, &end));
        let estimate = Estimate::new(value, low?.unwrap_or(value), high?.unwrap_or(value));
        let wrong = |error| format!("row {}, column {name}: {error}", row + 1);
        estimate.map(Some).map_err(wrong)
    }

    fn mean(&self, name: &str) -> Result<Option<f64>, String> {
        let numbers = (0..self.rows.len()).map(|row| self.number(row, name));
        let numbers: Vec<f64> =
            numbers.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        Ok((!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64))
    }

    fn levels(&self) -> Result<Vec<PlanLevel>, String> {
        if !LOADS.iter().any(|name| self.column(name).is_some()) {
            let (loads, has) = (LOADS.join(", "), self.header.join(", "));
            return Err(format!("a column {loads} says how hard a level pressed; there are {has}"));
        }
        let figures: Vec<(&str, Name)> =
            self.header.iter().filter_map(|name| Some((name.as_str(), figure(name)?))).collect();
        (0..self.rows.len()).map(|row| self.level(row, &figures)).collect()
    }

    fn level(&self, row: usize, names: &[(&str, Name)]) -> Result<PlanLevel, String> {
        let (load, served) = self.load(row)?;
        let mut figures = Vec::new();
        for (name, (metric, statistic)) in names {
            if let Some(value) = self.estimate(row, name)? {
                figures.push(PlanFigure { metric: *metric, statistic: *statistic, value });
            }
        }
        let rps = PlanFigure {
            metric: Metric::RequestsPerSec,
            statistic: Statistic::Value,
            value: served,
        };
        figures.push(rps);
        Ok(PlanLevel::given(load, served, figures))
    }

    /// How hard a level pressed, and what it completed.
    fn load(&self, row: usize) -> Result<(LoadPoint, Estimate), String> {
        let positive = |name: &str| match self.number(row, name)? {
            Some(number) if number <= 0.0 => {
                Err(format!("row {}, column {name}: {number}; it must be above 0", row + 1))
            }
            number => Ok(number),
        };
        let [rate, served, slots] = LOADS.map(positive);
        let (rate, slots) = (rate?, slots?);
        let ends = self.estimate(row, "requests_per_s")?.filter(|_| served.is_ok());
        served?;
        if let Some(rate) = rate {
            let exact = Estimate::exact(rate).map_err(|error| error.to_string())?;
            return Ok((LoadPoint::Rate(PerSec::new(rate)), ends.unwrap_or(exact)));
        }
        match (slots, ends) {
            (Some(slots), Some(served)) => Ok((LoadPoint::Concurrency(slots as u32), served)),
            (None, Some(served)) => Ok((LoadPoint::Rate(PerSec::new(served.value())), served)),
            (Some(_), None) => {
                Err(format!("row {}: beside concurrency it takes a column requests_per_s", row + 1))
            }
            (None, None) => Err(format!("row {}: one of {} is needed", row + 1, LOADS.join(", "))),
        }
    }
}

/// What a column is about.
type Name = (Metric, Statistic);

/// The figure that a column holds by the name of a goal: `p99_ttft_ms`, `good_share`; none of any other column.
fn figure(column: &str) -> Option<Name> {
    let name = column.strip_suffix("_ms").unwrap_or(column);
    let statistics = ["mean", "p50", "median", "p90", "p95", "p999", "p99", "max"];
    let split = statistics.iter().find_map(|statistic| {
        let metric = name.strip_prefix(statistic)?.strip_prefix('_')?;
        Some(format!("{statistic} {metric}<1"))
    });
    let text = split.unwrap_or_else(|| format!("{name}<1"));
    let slo: Slo = text.parse().ok()?;
    let goal = slo.goals().first()?;
    (goal.metric != Metric::RequestsPerSec).then_some((goal.metric, goal.statistic))
}

/// The tokens of a mean length, for an engine that takes whole ones.
pub(super) fn whole(mean: f64) -> Tokens {
    Tokens::new((mean.round() as u64).max(1))
}
