//! Levels of stored runs, as a fit takes them.

use std::borrow::Cow;
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use fizeau::core::{Seconds, Tokens};
use fizeau::roofline::{Load, Sample, System};
use serde_json::{Value, json};

use super::super::query::SystemQuery;
use super::super::systems::Systems;
use crate::args::DEFAULT_MEMORY_SHARE;

/// The valid levels of the run in `folder`, and why others cannot be used. The run's system is as it
/// was kept with it, but for what `flags` say otherwise.
pub(super) fn levels(
    folder: &Path,
    flags: &SystemQuery<'_>,
) -> Result<Vec<Result<Sample, String>>, String> {
    let sweep = read(&folder.join("sweep.json"));
    let (mut record, levels) = match &sweep {
        Ok(sweep) => {
            let record = json!({"setup": sweep["setup"]});
            (record, sweep["levels"].as_array().cloned().unwrap_or_default())
        }
        Err(error) => match read(&folder.join("summary.json")) {
            Ok(level) => return one(folder, flags, &level).map(|level| vec![level]),
            Err(_) => return Err(error.clone()),
        },
    };
    if let Ok(run) = read(&folder.join("run.json")) {
        record["speed_of_light"] = run["speed_of_light"].clone();
    }
    let (name, system) = system(folder, flags, &record)?;
    Ok(levels.iter().map(|level| sample(&name, &system, flags, level)).collect())
}

/// A run of one level, whose setup is in a file of its own.
fn one(
    folder: &Path,
    flags: &SystemQuery<'_>,
    level: &Value,
) -> Result<Result<Sample, String>, String> {
    let run = read(&folder.join("run.json"))?;
    let (name, system) = system(folder, flags, &run)?;
    Ok(sample(&name, &system, flags, level))
}

fn read(path: &Path) -> Result<Value, String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| said(&error))?;
    serde_json::from_str(&text).map_err(|error| said(&error))
}

/// The run's system, and what its model is called.
fn system(
    folder: &Path,
    flags: &SystemQuery<'_>,
    record: &Value,
) -> Result<(String, System), String> {
    let setup = &record["setup"];
    let kept = |file: &str| {
        let path = folder.join(file);
        path.is_file().then(|| Cow::Owned(path.display().to_string()))
    };
    let said = |name: &str| setup[name].as_str().map(|said| Cow::Owned(said.to_owned()));
    let mut query = flags.clone();
    query.model_config =
        query.model_config.or_else(|| kept("model-config.json")).or_else(|| said("model_config"));
    query.hardware = query.hardware.or_else(|| kept("device.toml")).or_else(|| said("hardware"));
    spread_as(&mut query, &record["speed_of_light"]);
    let name = said("model_config").or_else(|| query.model_config.clone()).unwrap_or_default();
    let mut systems = Systems::default();
    let prepared = systems.get(&query).map_err(str::to_owned)?;
    Ok((name.into_owned(), prepared.system.clone()))
}

/// What flags leave at their defaults is as `run.json` has it, if it does.
fn spread_as(query: &mut SystemQuery<'_>, spread: &Value) {
    let set = |degree: &mut u32, name: &str| {
        let said = spread[name].as_u64().and_then(|said| u32::try_from(said).ok());
        if let Some(said) = said.filter(|_| *degree == 1) {
            *degree = said;
        }
    };
    let degrees = &mut query.degrees;
    set(&mut degrees.tp, "tp");
    set(&mut degrees.pp, "pp");
    set(&mut degrees.ep, "ep");
    set(&mut degrees.dp, "dp");
    set(&mut degrees.replicas, "replicas");
    let text = |name: &str| spread[name].as_str().map(|said| Cow::Owned(said.to_owned()));
    query.weights = query.weights.take().or_else(|| text("weights"));
    query.kv = query.kv.take().or_else(|| text("kv"));
    let most = || spread["max_num_seqs"].as_u64().and_then(NonZeroU64::new);
    query.max_num_seqs = query.max_num_seqs.or_else(most);
    if let Some(share) = spread["memory_share"].as_f64()
        && query.memory_share == DEFAULT_MEMORY_SHARE
    {
        query.memory_share = share;
    }
}

/// The level with the mean lengths that it had.
fn sample(
    name: &str,
    system: &System,
    flags: &SystemQuery<'_>,
    level: &Value,
) -> Result<Sample, String> {
    let at = level["load"]["concurrency"].as_u64().ok_or("a level has no fixed concurrency")?;
    let wrong = |what: &str| format!("concurrency {at}: {what}");
    if level["validity"]["verdict"] != "valid" {
        return Err(wrong("the level is not valid"));
    }
    let completed = level["requests"]["completed"].as_f64().unwrap_or_default();
    let mean = |tokens: &str| {
        let sum =
            level["tokens"][tokens].as_f64().ok_or_else(|| wrong("its tokens are not known"))?;
        Ok::<_, String>(Tokens::new((sum / completed.max(1.0)).round().max(1.0) as u64))
    };
    let concurrency = NonZeroU64::new(at).ok_or_else(|| wrong("none were sent"))?;
    let load = Load::new(mean("input")?, mean("output")?, concurrency);
    let time =
        |metric: &str| level["metrics"][metric]["mean"].as_f64().map(|ms| Seconds::new(ms / 1e3));
    let tpot = time("tpot_ms").ok_or_else(|| wrong("it has no TPOT"))?;
    let refused = |error: &dyn std::error::Error| wrong(&error.to_string());
    let mut sample = Sample::new(system, &load, name, tpot).map_err(|error| refused(&error))?;
    if let Some(engine) = &flags.engine {
        sample = sample.with_engine(engine.as_ref());
    }
    match time("ttft_ms") {
        Some(ttft) => sample.with_ttft(ttft).map_err(|error| refused(&error)),
        None => Ok(sample),
    }
}
