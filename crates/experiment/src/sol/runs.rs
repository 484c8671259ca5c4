//! Levels of stored runs, as a fit takes them.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::path::Path;

use fizeau_core::{Bytes, Seconds, Tokens};
use fizeau_record::{
    DeploymentRecord, InvalidLevels, LevelReport, RunDocument, RunSetup, SpeedOfLightReference,
    StoredLevel, StoredRun,
};
use fizeau_roofline::{CalibrationSample, System, UniformLoad};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::samples::above;
use super::seen::of_engine;
use super::steps::{self, SeenRequests};
use super::{SampleError, SolQueryError, SolSystems, SystemQuery, UnfittedServing};

/// What is read of `sweep.json`.
#[derive(Deserialize)]
struct SweepFile {
    setup: RunSetup,
    #[serde(default)]
    levels: Vec<LevelFile>,
}

/// What is read of a level, in `sweep.json` or in `summary.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LevelFile {
    load: LoadFile,
    requested: RequestedFile,
    validity: ValidityFile,
    requests: RequestsFile,
    tokens: TokensFile,
    metrics: MetricsFile,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LoadFile {
    concurrency: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestedFile {
    /// What a prefix cache was expected to supply: `none`, `share` or `reuse`.
    cache: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ValidityFile {
    verdict: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestsFile {
    completed: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TokensFile {
    input: Option<f64>,
    output: Option<f64>,
    cached_share: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MetricsFile {
    ttft_ms: Option<LatencyFile>,
    tpot_ms: Option<LatencyFile>,
}

#[derive(Deserialize)]
struct LatencyFile {
    mean: Option<f64>,
}

impl SystemQuery<'_> {
    /// The levels of the run in `folder`, as a fit takes them, and why others cannot be used; those that are not valid as `invalid` says. The
    /// run's system is as it was kept with it, but for what this query says otherwise. Behind them are the steps that can be read off the
    /// tapes of the levels, as [forward passes](CalibrationSample::is_pass): of one replica without pipeline stages or attention groups, whose
    /// tokens came one at a time. What is faster than the bound is left out, whatever `invalid` says.
    ///
    /// # Errors
    /// If the folder holds no run that can be read, or its system is not known.
    pub fn samples_of_run(
        &self,
        folder: &Path,
        invalid: InvalidLevels,
    ) -> Result<Vec<Result<CalibrationSample, SampleError>>, SolQueryError> {
        let kept = read::<RunDocument>(&folder.join("run.json"));
        if let Some(part) = kept.as_ref().ok().and_then(RunDocument::part) {
            return Err(SolQueryError::new(format_args!(
                "{}: it is the part of shard {part} alone; name the folder of the whole run",
                folder.display()
            )));
        }
        let (setup, spread, levels) = match read::<SweepFile>(&folder.join("sweep.json")) {
            Ok(SweepFile { setup, levels }) => {
                (setup, kept.ok().and_then(|run| run.speed_of_light), levels)
            }
            // A run of one level, whose setup is in a file of its own.
            Err(error) => match read::<LevelFile>(&folder.join("summary.json")) {
                Ok(level) => kept.map(|run| (run.setup, run.speed_of_light, vec![level]))?,
                Err(_) => return Err(error),
            },
        };
        let served = spread.as_ref().and_then(UnfittedServing::of);
        let (name, system) = self.of_run(folder, setup, spread)?;
        let sample = |level: &LevelFile| level.sample(&name, &system, self, (served, invalid));
        let mut samples: Vec<_> = levels.iter().map(sample).collect();
        if steps::can_be_seen(&system) && samples.iter().any(Result::is_ok) {
            samples.extend(self.steps_of_run(folder, &name, &system, invalid)?);
        }
        Ok(samples)
    }

    /// The steps that the tapes of its usable levels show; none of a run without tapes.
    fn steps_of_run(
        &self,
        folder: &Path,
        name: &str,
        system: &System,
        invalid: InvalidLevels,
    ) -> Result<Vec<Result<CalibrationSample, SampleError>>, SolQueryError> {
        let Ok(run) = StoredRun::open(folder) else { return Ok(Vec::new()) };
        let usable = |level: &StoredLevel| {
            let summary = read::<LevelFile>(&level.path().join("summary.json")).ok()?;
            let is_told = summary.unfitted().is_none();
            (is_told && summary.is_usable(invalid)).then_some(summary.load.concurrency)
        };
        let mut samples = Vec::new();
        for level in run.levels() {
            let Some(concurrency) = usable(level) else { continue };
            let mut requests = SeenRequests::default();
            level.each_tape(|tape| requests.add(&tape)).map_err(SolQueryError::new)?;
            let seen = requests.samples(concurrency, system, name, self.engine.as_deref());
            samples.extend(seen.map_err(SolQueryError::new)?);
        }
        Ok(samples)
    }

    /// The sample, of the engine that the query names.
    pub(super) fn of_engine(&self, sample: CalibrationSample) -> CalibrationSample {
        of_engine(sample, self.engine.as_deref())
    }

    /// The run's system, and what its model is called.
    fn of_run(
        &self,
        folder: &Path,
        setup: RunSetup,
        spread: Option<DeploymentRecord>,
    ) -> Result<(String, System), SolQueryError> {
        let kept = |file: &str| {
            let path = folder.join(file);
            path.is_file().then(|| Cow::Owned(path.display().to_string()))
        };
        let mut query = self.clone();
        let said = setup.model_config.map(Cow::<str>::Owned);
        let config = query.model_config.or_else(|| kept("model-config.json"));
        query.model_config = config.or_else(|| said.clone());
        let device = query.hardware.or_else(|| kept("device.toml"));
        query.hardware = device.or_else(|| setup.hardware.map(Cow::Owned));
        let reserve = spread.as_ref().map_or(0, |own| own.reserve_bytes);
        if let Some(own) = spread {
            query.spread_as(own);
        }
        let name = said.or_else(|| query.model_config.clone()).unwrap_or_default();
        let mut systems = SolSystems::default();
        let system = systems.get(&query)?.system.clone();
        let mut serving = *system.serving();
        serving.reserve = Bytes::new(reserve as f64);
        Ok((name.into_owned(), system.with_serving(serving)))
    }

    /// What is as by default is as the run has it.
    fn spread_as(&mut self, run: DeploymentRecord) {
        let spread = &mut self.deployment;
        for (degree, own) in [
            (&mut spread.tp, run.tp),
            (&mut spread.pp, run.pp),
            (&mut spread.ep, run.ep),
            (&mut spread.dp, run.dp),
            (&mut spread.replicas, run.replicas),
        ] {
            *degree = if *degree == 1 { own } else { *degree };
        }
        spread.max_num_seqs = spread.max_num_seqs.or(run.max_num_seqs);
        if spread.memory_share == DeploymentRecord::MEMORY_SHARE {
            spread.memory_share = run.memory_share;
        }
        self.weights = self.weights.take().or_else(|| run.weights.map(Cow::Owned));
        self.kv = self.kv.take().or_else(|| run.kv.map(Cow::Owned));
    }
}

/// A level that was measured just now, as a fit takes it.
pub(crate) fn sample_of(
    report: &LevelReport,
    light: &SpeedOfLightReference,
    engine: Option<&str>,
    invalid: InvalidLevels,
) -> Result<CalibrationSample, SampleError> {
    let wrong = |error: &dyn std::error::Error| SampleError::Level(error.to_string());
    // As it is in its file, so that a fit of the folder is the same.
    let text = report.to_json().map_err(|error| wrong(&error))?;
    let level: LevelFile = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let query = SystemQuery { engine: engine.map(Cow::Borrowed), ..SystemQuery::default() };
    let served = UnfittedServing::of(light.deployment());
    level.sample(light.model_name(), light.reference().system, &query, (served, invalid))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, SolQueryError> {
    let said =
        |error: &dyn std::fmt::Display| SolQueryError(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| said(&error))?;
    serde_json::from_str(&text).map_err(|error| said(&error))
}

impl LevelFile {
    fn is_usable(&self, invalid: InvalidLevels) -> bool {
        self.validity.verdict == "valid" || invalid == InvalidLevels::Included
    }

    /// Why it cannot be fitted whatever else its run says: prompts were meant to be cached, and replies do not say how much of them was.
    fn unfitted(&self) -> Option<UnfittedServing> {
        let is_meant = self.requested.cache.as_deref().is_some_and(|cache| cache != "none");
        (is_meant && self.tokens.cached_share.is_none()).then_some(UnfittedServing::UnknownCache)
    }

    /// The level with the mean lengths that it had, of a run that is not served plainly where that is said.
    fn sample(
        &self,
        name: &str,
        system: &System,
        query: &SystemQuery<'_>,
        (served, invalid): (Option<UnfittedServing>, InvalidLevels),
    ) -> Result<CalibrationSample, SampleError> {
        let open = || SampleError::Level("a level has no fixed concurrency".to_owned());
        let at = self.load.concurrency.ok_or_else(open)?;
        let wrong = |what: &str| SampleError::Level(format!("concurrency {at}: {what}"));
        if !self.is_usable(invalid) {
            let verdict = self.validity.verdict.clone();
            return Err(SampleError::NotValid { concurrency: at, verdict });
        }
        if let Some(serving) = served.or_else(|| self.unfitted()) {
            return Err(SampleError::Serving { concurrency: at, serving });
        }
        let completed = self.requests.completed as f64;
        let mean = |tokens: Option<f64>| {
            let sum = tokens.ok_or_else(|| wrong("its tokens are not known"))?;
            Ok::<_, SampleError>(Tokens::new((sum / completed.max(1.0)).round().max(1.0) as u64))
        };
        let concurrency = NonZeroU64::new(at).ok_or_else(|| wrong("none were sent"))?;
        let input = mean(self.tokens.input)?;
        let cached = self.tokens.cached_share.unwrap_or_default() * input.get() as f64;
        let load = UniformLoad::new(input, mean(self.tokens.output)?, concurrency)
            .with_cached(Tokens::new(cached.round() as u64));
        let time = |of: &Option<LatencyFile>| of.as_ref()?.mean.map(|ms| Seconds::new(ms / 1e3));
        let tpot = time(&self.metrics.tpot_ms).ok_or_else(|| wrong("it has no TPOT"))?;
        let refused = |error: &dyn std::error::Error| wrong(&error.to_string());
        above(|| format!("concurrency {at}"), tpot, system.bound_figures(&load).step)?;
        let sample =
            CalibrationSample::new(system, &load, name, tpot).map_err(|error| refused(&error))?;
        let sample = query.of_engine(sample);
        match time(&self.metrics.ttft_ms) {
            Some(ttft) => sample.with_ttft(ttft).map_err(|error| refused(&error)),
            None => Ok(sample),
        }
    }
}
