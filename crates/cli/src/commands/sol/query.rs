//! One query, in the words of the command line.

use std::borrow::Cow;

use fizeau::experiment::{LoadQuery, LoadedDevice, LoadedModel, SolQuery, SystemQuery};

use crate::args::{SolArgs, SolLoadArgs, SystemArgs};
use crate::commands::shared::speed;
use crate::exit::{Fail, Named};

/// What the flags ask of which system.
pub(super) fn of(args: &SolArgs) -> SolQuery<'_> {
    let system = system(&args.system, args.calibration.engine.as_deref());
    SolQuery { system, load: load(&args.load) }
}

fn system<'a>(args: &'a SystemArgs, engine: Option<&'a str>) -> SystemQuery<'a> {
    let borrowed = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
    let mut query = SystemQuery::default();
    (query.model_config, query.hardware) = (borrowed(&args.model_config), borrowed(&args.hardware));
    (query.weights, query.kv) = (borrowed(&args.weights), borrowed(&args.kv));
    query.spread = speed::deployed(args);
    // As texts they are borrowed.
    (query.spread.weights, query.spread.kv) = (None, None);
    query.engine = engine.map(Cow::Borrowed);
    query
}

/// A context is that of the token which follows a prompt: of two tokens of output it is the second that a step makes.
fn load(args: &SolLoadArgs) -> LoadQuery {
    let concurrency = args.batch.unwrap_or(args.concurrency);
    match args.context {
        Some(context) => {
            LoadQuery { isl: context.saturating_sub(1), osl: 2, cached: 0, concurrency }
        }
        None => LoadQuery { isl: args.isl, osl: args.osl, cached: args.cached, concurrency },
    }
}

/// Refuses a model or a device that is not named, or not known.
pub(super) fn check_names(args: &SystemArgs) -> Result<(), Fail> {
    let missing =
        |flag: &str, takes: &str| Fail::usage(format!("{flag} is missing; it takes {takes}"));
    let Some(model) = &args.model_config else {
        let takes = "a name that `fizeau models` lists, or a config.json";
        return Err(missing("--model-config", takes));
    };
    let Some(hardware) = &args.hardware else {
        let takes = "a name that `fizeau devices` lists, or a TOML file";
        return Err(missing("--hardware", takes));
    };
    LoadedModel::named(model).named(&format!("--model-config {model}"))?;
    LoadedDevice::named(hardware)?;
    Ok(())
}

/// Refuses flags that stand for others of a load.
pub(super) fn check(args: &SolLoadArgs) -> Result<(), Fail> {
    let most = LoadQuery::MOST;
    for (flag, given, least) in [
        ("context", args.context, 2),
        ("batch", args.batch, 1),
        ("isl", Some(args.isl), 1),
        ("osl", Some(args.osl), 1),
        ("concurrency", Some(args.concurrency), 1),
    ] {
        if let Some(count) = given.filter(|count| !(least..=most).contains(count)) {
            let wrong = format!("--{flag} {count}: give a number from {least} to {most}");
            return Err(Fail::usage(wrong));
        }
    }
    Ok(())
}
