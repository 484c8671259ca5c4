//! Folders of runs as one table.

use std::path::Path;

use fizeau::core::UsdPerHour;
use fizeau::record::text::{hourly, plain, wrap};
use fizeau::record::{ImportedRun, NamedRun, UnnamedValue};
use fizeau::report::{LevelTable, LevelTableContent, LevelTableRun};
use fizeau::roofline::{CostError, HourlyRate, PriceOrigin, System};

use crate::args::{ParetoRunArgs, SpeedOfLightArgs};
use crate::commands::report;
use crate::exit::{Fail, Named};

/// The levels of all `runs`; says whose price is taken if that matters.
pub(super) fn table(
    runs: &[NamedRun],
    args: &ParetoRunArgs,
    is_priced: bool,
) -> Result<LevelTable, Fail> {
    let named = UnnamedValue::Refused;
    let quality = NamedRun::values(runs, &args.quality, named, number).given_as("--quality")?;
    let devices = NamedRun::values(runs, &args.devices, named, count).given_as("--devices")?;
    let price = |text: &str| {
        let rate: Result<HourlyRate, CostError> = text.parse();
        rate.map(|rate| rate.low).map_err(|why| why.to_string())
    };
    let prices = NamedRun::values(runs, &args.gpu_hour, UnnamedValue::ForAll, price)
        .given_as("--gpu-hour")?;
    let content = runs.iter().map(|run| content(&run.path));
    let content = content.collect::<Result<Vec<_>, Fail>>()?;
    let given = prices.into_iter().zip(devices).zip(quality);
    let mut compared = Vec::new();
    for ((NamedRun { name, .. }, content), given) in runs.iter().zip(content).zip(given) {
        let mut run = LevelTableRun::new(name.clone(), content);
        ((run.price, run.devices), run.quality) = given;
        let published = || published(run.system()?, name, is_priced);
        run.price = run.price.or_else(published);
        compared.push(run);
    }
    if let Some(loads) = LevelTableRun::differing_loads(&compared) {
        tell!("{}", wrap(&plain(&format!("note: the runs are not of the same load: {loads}")), 80));
    }
    Ok(LevelTable::of_compared(&compared))
}

/// What lies in a folder.
fn content(path: &Path) -> Result<LevelTableContent, Fail> {
    Ok(match ImportedRun::read(path).map_err(Fail::usage)? {
        Some(run) => LevelTableContent::Imported(run),
        None => LevelTableContent::Read(Box::new(report::read(
            path,
            &[],
            &SpeedOfLightArgs::default(),
        )?)),
    })
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "give a number".to_owned())
}

fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "give a whole number of at least 1".to_owned())
}

/// The device's published price, and whose it is.
fn published(system: &System, run: &str, is_said: bool) -> Option<UsdPerHour> {
    let rate = HourlyRate::lowest_published(system.device()).ok()?;
    let price = rate.low;
    if let (PriceOrigin::Published { kind, source, date }, true) = (&rate.origin, is_said) {
        let note = format!(
            "note: {run}: {}, the lowest published ({kind}; {source}, \
             {date}); this is not an offer: give the price that you pay with --gpu-hour",
            hourly(&rate)
        );
        tell!("{}", wrap(&plain(&note), 80));
    }
    Some(price)
}
