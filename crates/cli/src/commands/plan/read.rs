//! What is read of one source: a table of tested loads, or a run's folder.

use fizeau::interop::Table;
use fizeau::record::{MeanLengths, ReferenceFiles, RunFolder, TestedLoads, TestedReplica};

use super::Found;
use super::from::FromArg;
use crate::args::{PhysicsArgs, PlanArgs};
use crate::commands::shared::speed;
use crate::commands::{pareto, report};
use crate::exit::{Fail, Named};

/// A table of tested loads.
pub(super) fn of_table(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
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
    let light = physics.as_ref().and_then(|physics| lengths.light(physics));
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

/// A run's folder.
pub(super) fn of_run(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
    if RunFolder::holds_whatif(&from.path) {
        let path = from.path.display();
        return Err(Fail::usage(format!(
            "--from {path}: several configurations side by side; name one: {path}/configuration-01"
        )));
    }
    let stored = report::read(&from.path, &args.goodput, &physics(from, args))
        .named(&format!("--from {}", from.path.display()))?;
    let TestedReplica { levels, left_out, lengths, burstiness, .. } = TestedReplica::of(&stored);
    Ok(Found {
        levels,
        left_out,
        lengths,
        burstiness,
        slo: stored.slo,
        light: stored.curve,
        hardware: stored.setup.hardware,
        physics: stored.reference,
    })
}

/// The device of one source alone is its run's too, where the run has a model.
fn physics(from: &FromArg, args: &PlanArgs) -> PhysicsArgs {
    let [config, ..] = ReferenceFiles::NAMES;
    let has_model = args.physics.model_config.is_some() || from.path.join(config).is_file();
    let own = from.hardware.clone().or_else(|| args.physics.hardware.clone());
    PhysicsArgs { hardware: own.filter(|_| has_model), ..args.physics.clone() }
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
