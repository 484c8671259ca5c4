//! Levels of another tool that belong together.

use fizeau_pareto::{Objective, frontier};
use serde::{Deserialize, Serialize};

use super::{ImportedAbout, ImportedCounts, ImportedLevel};
use crate::text::counted_devices;
use crate::{
    ArrivalMoments, Checklist, ClientHost, ConnectionRecord, EndpointRecord, EngineRecord,
    NOT_RECORDED, RequestedLoad, RunSetup, ToolVersion, UnknownFact, WorkloadRecord,
};
use fizeau_core::{LevelLoad, LoadKind, distinct};

/// Levels that another tool measured of one model with one setting, by rising load.
///
/// It serializes as a document of schema `fizeau.imported-run/1`: its levels, each as its own file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRun {
    name: String,
    levels: Vec<ImportedLevel>,
}

/// What gives the load of a level, and nothing else of the run.
const LOAD: [&str; 6] =
    ["max_concurrency", "request_rate", "num_prompts", "burstiness", "num_warmups", "seed"];

/// Whether a setting is of the load: a sweep may spell it as the flag.
fn is_of_load(name: &str) -> bool {
    LOAD.contains(&name.replace('-', "_").as_str())
}

/// The latencies that a frontier is drawn over, the first that levels have.
const TAILS: [&str; 4] = ["p99_e2el_ms", "p99_ttft_ms", "p99_tpot_ms", "p50_tpot_ms"];

impl ImportedRun {
    /// The checklist of a run of figures alone, of which no row is known.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        Checklist::unknown("imported without tapes: nothing can be checked")
    }

    /// A run of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, mut levels: Vec<ImportedLevel>) -> Self {
        levels.sort_by(|a, b| {
            let kind = |level: &ImportedLevel| level.level_load().kind() == LoadKind::Rate;
            let load = |level: &ImportedLevel| level.level_load().value();
            kind(a).cmp(&kind(b)).then(load(a).total_cmp(&load(b)))
        });
        Self { name: name.into(), levels }
    }

    /// Runs of whatever levels: those of one tool, model, backend and setting are one run, and those with tapes apart from those
    /// without. Each is named for its model, and for the settings in which it differs from the others.
    #[must_use]
    pub fn of_levels(levels: Vec<ImportedLevel>) -> Vec<Self> {
        let mut groups: Vec<(Identity, Vec<ImportedLevel>)> = Vec::new();
        for level in levels {
            let key = identity(&level);
            let is_like = |(known, group): &&mut (Identity, Vec<ImportedLevel>)| {
                *known == key && group.first().is_none_or(|first| has_lengths_of(first, &level))
            };
            match groups.iter_mut().find(is_like) {
                Some((_, group)) => group.push(level),
                None => groups.push((key, vec![level])),
            }
        }
        let keys: Vec<Identity> = groups.iter().map(|(key, _)| key.clone()).collect();
        let differs = |part: &(String, String)| keys.iter().any(|key| !key.contains(part));
        let named = |(key, levels): (Identity, Vec<ImportedLevel>)| {
            let parts = key.iter().filter(|part| part.0 == "model" || differs(part));
            let words = parts.filter_map(|(name, value)| word(name, value));
            // What all else has alike differs in its lengths.
            let is_twice = keys.iter().filter(|known| **known == key).count() > 1;
            let lengths = levels.first().filter(|_| is_twice).and_then(lengths);
            let words: Vec<String> = words.chain(lengths).collect();
            let name = if words.is_empty() { "imported".to_owned() } else { words.join(" ") };
            Self::new(name, levels)
        };
        groups.into_iter().map(named).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same by another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Its levels, closed loops before open ones, each kind rising.
    #[must_use]
    pub fn levels(&self) -> &[ImportedLevel] {
        &self.levels
    }

    /// The same levels, to take what they hold.
    #[must_use]
    pub fn into_levels(self) -> Vec<ImportedLevel> {
        self.levels
    }

    /// Whether each level has what its requests did.
    #[must_use]
    pub fn has_tapes(&self) -> bool {
        !self.levels.is_empty() && self.levels.iter().all(|level| !level.tapes.is_empty())
    }

    /// What was run, as far as the first level tells; what no file says is `not recorded`.
    #[must_use]
    pub fn setup(&self) -> RunSetup {
        let unknown = || NOT_RECORDED.to_owned();
        let first = self.levels.first();
        let about = first.map(|level| level.about.clone()).unwrap_or_default();
        let source = first.map(|level| level.source.clone());
        let (tool, version) = source.map_or_else(
            || (unknown(), unknown()),
            |source| (source.tool, source.version.unwrap_or_else(unknown)),
        );
        let settings: Vec<String> = self.settings();
        RunSetup {
            tool: ToolVersion { name: tool, version, commit: None },
            started: about.date.unwrap_or_else(unknown),
            command_line: Vec::new(),
            endpoint: EndpointRecord {
                base_url: unknown(),
                path: String::new(),
                backend: about.backend.unwrap_or_else(unknown),
                model: about.model.unwrap_or_else(unknown),
                connections: ConnectionRecord {
                    lifetime: unknown(),
                    stamps: unknown(),
                    ..ConnectionRecord::default()
                },
                prefix_cache: None,
            },
            engine: EngineRecord::Remote {
                description: (!settings.is_empty()).then(|| settings.join(", ")),
            },
            workload: WorkloadRecord {
                dataset: about.dataset.unwrap_or_else(unknown),
                input_tokens: self.mean_words("prompt_tokens"),
                output_tokens: self.mean_words("output_tokens"),
                seed: None,
                arrivals: self.arrivals(),
                requested: first.map(ImportedLevel::requested_load).unwrap_or_default(),
            },
            host: ClientHost { os: unknown(), cpu: None, cores: None },
            model_config: None,
            hardware: None,
            deployment: about.devices.map(counted_devices),
            precision: None,
        }
    }

    /// What sets it apart, in words.
    #[must_use]
    pub fn settings(&self) -> Vec<String> {
        let first = self.levels.first().map(|level| &level.about);
        let settings = first.into_iter().flat_map(|about| &about.settings);
        let settings = settings.filter(|(name, _)| !is_of_load(name));
        settings.map(|(name, value)| format!("{name}={value}")).collect()
    }

    fn mean_words(&self, name: &str) -> String {
        let mean = self.levels.first().and_then(|level| level.figure(name));
        mean.map_or_else(|| NOT_RECORDED.to_owned(), |mean| format!("{mean:.0} on average"))
    }

    fn arrivals(&self) -> String {
        let is_open = |level: &ImportedLevel| level.load.requests_per_s.is_some();
        match (self.levels.iter().all(is_open), self.levels.iter().any(is_open)) {
            (true, _) => "at a rate".to_owned(),
            (false, true) => "at a rate, or as slots become free".to_owned(),
            (false, false) => "as slots become free".to_owned(),
        }
    }

    /// The levels that stand for their loads: of a load that was measured more than once the one with the median of the request
    /// rates (of two the lower), since the luckiest is no configuration of its own.
    #[must_use]
    pub fn one_a_load(&self) -> Vec<usize> {
        let mut loads: Vec<(LevelLoad, Vec<usize>)> = Vec::new();
        for (index, level) in self.levels.iter().enumerate() {
            let load = level.level_load();
            // Two loads that are not known need not be the same.
            let same = loads.iter_mut().find(|(known, _)| *known == load && !level.load.is_unknown);
            match same {
                Some((_, same)) => same.push(index),
                None => loads.push((load, vec![index])),
            }
        }
        let rate = |index: &usize| {
            let level = self.levels.get(*index);
            level.and_then(|level| level.figure("requests_per_s")).unwrap_or_default()
        };
        let median = |(_, mut same): (LevelLoad, Vec<usize>)| {
            same.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
            same.get(same.len().saturating_sub(1) / 2).copied()
        };
        loads.into_iter().filter_map(median).collect()
    }

    /// The latency that its frontier is over: the first of p99 E2EL, TTFT and TPOT and p50 TPOT that a level has.
    #[must_use]
    pub fn tail(&self) -> Option<&'static str> {
        let has = |name: &&str| self.levels.iter().any(|level| level.figures.contains_key(*name));
        TAILS.into_iter().find(has)
    }

    /// The levels that no other beats in requests per second and that latency, one a load, by rising rate.
    #[must_use]
    pub fn frontier(&self) -> Vec<usize> {
        let Some(tail) = self.tail() else { return Vec::new() };
        let point = |index: usize| {
            let level = self.levels.get(index).filter(|level| level.left_out().is_none())?;
            Some((index, [level.figure("requests_per_s")?, level.figure(tail)?]))
        };
        let known = self.one_a_load().into_iter().filter_map(point);
        let (indices, points): (Vec<usize>, Vec<[f64; 2]>) = known.unzip();
        // Only a NaN makes a point unfit, and figures are finite.
        let best = frontier(&points, &[Objective::Maximize, Objective::Minimize]);
        let mut best: Vec<(usize, f64)> = best
            .unwrap_or_default()
            .into_iter()
            .filter_map(|at| Some((*indices.get(at)?, points.get(at)?[0])))
            .collect();
        best.sort_by(|a, b| a.1.total_cmp(&b.1));
        best.into_iter().map(|(index, _)| index).collect()
    }

    /// What is not quite as its name says, each once.
    #[must_use]
    pub fn caveats(&self) -> Vec<&str> {
        let all = self.levels.iter().flat_map(|level| &level.caveats).map(String::as_str);
        distinct(all)
    }

    /// What is not known of some level, each once.
    #[must_use]
    pub fn not_known(&self) -> Vec<&UnknownFact> {
        distinct(self.levels.iter().flat_map(|level| &level.not_known))
    }

    /// What it holds, in a line: `2 levels of llama, measured by vllm bench; with tapes`.
    #[must_use]
    pub fn words(&self) -> String {
        let levels = match self.levels.as_slice() {
            [_] => "1 level".to_owned(),
            many => format!("{} levels", many.len()),
        };
        let tool = self.levels.first().map_or("", |level| level.source.tool.as_str());
        let holds =
            if self.has_tapes() { "with the record of each request" } else { "figures alone" };
        format!("{levels} of {}, measured by {tool}; {holds}", self.title())
    }

    /// Model, devices and backend in one line, as far as they are known.
    #[must_use]
    pub fn title(&self) -> String {
        let about = self.levels.first().map(|level| level.about.clone()).unwrap_or_default();
        let ImportedAbout { model, backend, devices, .. } = about;
        let devices = devices.map(counted_devices);
        let model = model.unwrap_or_else(|| self.name.clone());
        let words: Vec<String> = [Some(model), devices, backend].into_iter().flatten().collect();
        words.join(", ")
    }
}

impl ImportedLevel {
    /// `concurrency`, `requests_per_s` or `unknown`.
    #[must_use]
    pub fn load_kind(&self) -> &'static str {
        if self.load.is_unknown { "unknown" } else { self.level_load().kind().key() }
    }

    /// What was asked of the load: an open loop's law of gaps is not in every file.
    #[must_use]
    pub fn requested_load(&self) -> RequestedLoad {
        let record: RecordedLoad = serde_json::from_str(&self.record).unwrap_or_default();
        // vLLM's JSON has a word for even gaps, since it has no infinity.
        let is_even = record.burstiness.as_str() == Some("inf");
        let burstiness = record.burstiness.as_f64().filter(|burstiness| *burstiness > 0.0);
        let burstiness = burstiness.or_else(|| is_even.then_some(f64::INFINITY));
        let rate = self.load.requests_per_s;
        let cv_squared = self.load.cv_squared.or_else(|| burstiness.map(|shape| 1.0 / shape));
        let law = |rate| ArrivalMoments { rate: Some(rate), cv_squared };
        RequestedLoad { arrivals: rate.map(law), ..RequestedLoad::default() }
    }
}

/// What is read of a tool's own record beyond what was imported: the shape of a gamma law of gaps, by vLLM's name.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordedLoad {
    burstiness: serde_json::Value,
}

/// By hand, since the document shows what follows from the levels (set-up, frontier) and is never read again.
impl Serialize for ImportedRun {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'static str,
            name: &'a str,
            setup: RunSetup,
            frontier: Vec<usize>,
            frontier_over: Option<[&'static str; 2]>,
            levels: &'a [ImportedLevel],
        }
        let document = Document {
            schema: "fizeau.imported-run/1",
            name: &self.name,
            setup: self.setup(),
            frontier: self.frontier(),
            frontier_over: self.tail().map(|tail| ["requests_per_s", tail]),
            levels: &self.levels,
        };
        document.serialize(to)
    }
}

/// Names and values.
type Identity = Vec<(String, String)>;

/// What levels of one run have in common.
fn identity(level: &ImportedLevel) -> Identity {
    let ImportedAbout { model, backend, dataset, settings, .. } = &level.about;
    let mut all = vec![("tool".to_owned(), level.source.tool.clone())];
    let maybe = [("model", model), ("backend", backend), ("dataset", dataset)];
    let known =
        maybe.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    all.extend(known);
    let settings = settings.iter().filter(|(name, _)| !is_of_load(name));
    all.extend(settings.map(|(name, value)| (name.clone(), value.clone())));
    let tapes = if level.tapes.is_empty() { "figures" } else { "tapes" };
    all.push(("holds".to_owned(), tapes.to_owned()));
    all
}

/// Mean tokens of a prompt and of a reply, as a name has them.
fn lengths(level: &ImportedLevel) -> Option<String> {
    let of = |mean: Option<f64>| mean.map_or_else(|| "?".to_owned(), |mean| format!("{mean:.0}"));
    let [prompt, reply] = mean_tokens(level);
    prompt.or(reply)?;
    Some(format!("{} to {} tokens", of(prompt), of(reply)))
}

fn mean_tokens(level: &ImportedLevel) -> [Option<f64>; 2] {
    let ImportedCounts { completed, input_tokens, output_tokens, .. } = level.counts;
    let mean = |tokens: Option<u64>| Some(tokens? as f64 / completed as f64);
    [input_tokens, output_tokens].map(|tokens| mean(tokens).filter(|mean| mean.is_finite()))
}

/// Mean lengths that differ by more than this share are of another workload, unless so few were drawn that chance explains it.
const OTHER_LENGTHS: f64 = 0.1;

/// Whether prompts and replies of both are as long, as far as is known.
fn has_lengths_of(level: &ImportedLevel, other: &ImportedLevel) -> bool {
    let pairs = mean_tokens(level).into_iter().zip(mean_tokens(other));
    let mut known = pairs.filter_map(|(own, its)| own.zip(its));
    let drawn = level.counts.completed.min(other.counts.completed) as f64;
    let share = OTHER_LENGTHS.max(drawn.sqrt().recip());
    known.all(|(own, its)| (own - its).abs() <= share * own.max(its))
}

/// What a part of the identity adds to a name.
fn word(name: &str, value: &str) -> Option<String> {
    let last = || value.rsplit('/').find(|part| !part.is_empty()).map(str::to_owned);
    match name {
        "model" => last(),
        "tool" | "backend" | "dataset" | "holds" => Some(value.to_owned()),
        _ => Some(format!("{name}={value}")),
    }
}
