//! A table of tested loads, for a plan.

use fizeau::core::{Arrival, Channel, Stamp, Tape, Tokens};
use fizeau::interop::Table;
use fizeau::record::SpeedOfLightReference;
use fizeau::record::{LightCurve, MeanLengths, TestedLoads};

use super::Found;
use super::from::FromArg;
use crate::args::PlanArgs;
use crate::commands::pareto;
use crate::commands::shared::speed;
use crate::exit::Fail;

pub(super) fn read(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
    let loads = tested(&from.path.to_string_lossy())?;
    let own = loads.lengths();
    let lengths =
        MeanLengths { input: args.input_len.or(own.input), output: args.output_len.or(own.output) };
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
        levels: loads.levels().to_vec(),
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

/// The tested loads in the table at `path`.
fn tested(path: &str) -> Result<TestedLoads, Fail> {
    let table = pareto::read(path)?;
    let names: Vec<&str> = table.heads().iter().map(String::as_str).collect();
    let wrong = |error| Fail::usage(format!("{path}: {error}"));
    let mut loads = TestedLoads::of(&names, greatest_goodput(&table, &names)?).map_err(wrong)?;
    table.each::<Fail>(&names, |at, fields| {
        loads.add(fields).map_err(|wrong| table.wrong(at, wrong.to_string()).into())
    })?;
    match loads.levels() {
        [] => Err(Fail::usage(format!("{path}: there is no row; give one for each load"))),
        _ => Ok(loads),
    }
}

/// The most that a column `goodput` holds; nothing where there is none.
fn greatest_goodput(table: &Table, names: &[&str]) -> Result<f64, Fail> {
    let mut greatest = 0.0_f64;
    if names.contains(&"goodput") {
        table.each::<Fail>(&["goodput"], |_, fields| {
            let number = fields("goodput").and_then(|text| text.trim().parse().ok());
            greatest = number.map_or(greatest, |number: f64| greatest.max(number));
            Ok(())
        })?;
    }
    Ok(greatest)
}

/// The tokens of a mean length, for an engine that takes whole ones.
pub(super) fn whole(mean: f64) -> Tokens {
    Tokens::new((mean.round() as u64).max(1))
}
