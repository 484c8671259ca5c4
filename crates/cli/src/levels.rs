//! From a measured level to its report.

use fizeau::harness::{Ended, LevelRun, Notice, Observer};
use fizeau::metrics::{ClientProof, ClientWatch, Ending, Expectations, LevelHistograms, judge};
use fizeau::record::RunFolder;
use fizeau::report::{
    Asked, LengthTally, LevelReport, LevelStatus, LoadPoint, SpeedOfLight, Until, WarmUp,
};

use crate::client::Client;
use crate::exit::Fail;
use crate::speed::Physics;

/// Why there is no speed of light where nobody gave a model and a device.
pub(crate) const NO_PHYSICS: &str =
    "no model and device were given: --model-config FILE --hardware NAME";

/// What a level's report and files need of its tapes beyond the summary, added up as they come.
pub(crate) struct Kept {
    /// For the histograms of a run's folder; none where there is no folder.
    histograms: Option<LevelHistograms>,
    /// For the speed of light; none where there is no model.
    lengths: Option<LengthTally>,
}

impl Kept {
    /// Of nothing yet.
    pub(crate) fn new(folder: Option<&RunFolder>, physics: Option<&Physics>) -> Self {
        let histograms = folder.map(|_| LevelHistograms::default());
        Self { histograms, lengths: physics.map(Physics::lengths) }
    }
}

impl Kept {
    /// Adds the lengths of the level's replies to those of all levels.
    pub(crate) fn add_lengths_to(&self, all: Option<&mut LengthTally>) {
        if let (Some(all), Some(own)) = (all, &self.lengths) {
            all.merge(own);
        }
    }
}

impl Observer for Kept {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RequestEnded(tape) = notice {
            self.histograms.iter_mut().for_each(|histograms| histograms.add(tape));
            self.lengths.iter_mut().for_each(|lengths| lengths.add(tape));
        }
    }
}

/// What levels of a run are held against.
#[derive(Clone, Copy)]
pub(crate) struct Yardstick<'a> {
    /// What the speed of light is computed from, or why there is none.
    pub(crate) physics: Result<&'a Physics, &'a str>,
    pub(crate) client: &'a Client,
    /// What was asked for of the load.
    pub(crate) asked: Asked,
    /// How many planned requests were never sent, because a turn before them failed.
    pub(crate) abandoned: u64,
    /// That data were sent more than once, in plain words.
    pub(crate) repeated: Option<&'a str>,
}

/// The report of a level, beside its bound where there is one.
pub(crate) fn report(
    run: &LevelRun,
    kept: &Kept,
    load: LoadPoint,
    yardstick: Yardstick<'_>,
    folder: Option<String>,
) -> LevelReport {
    let speed_of_light = speed_of_light(run, kept, load, yardstick.physics);
    let (headroom, ceiling) = (yardstick.client.headroom, yardstick.client.ceiling);
    let watch = ClientWatch { headroom, ceiling, ..run.client.watch };
    let client = ClientProof { watch, ..run.client };
    let expected = Expectations {
        thresholds: yardstick.client.thresholds,
        held_back: run.driven.held_back,
        cache: yardstick.asked.cache,
        abandoned: yardstick.abandoned,
        repeated: yardstick.repeated.map(str::to_owned),
        beyond_speed_of_light: speed_of_light.excess().map(ToString::to_string),
        ending: if run.is_partial() { Ending::Interrupted } else { Ending::Finished },
    };
    LevelReport {
        load,
        asked: yardstick.asked,
        summary: run.summary.clone(),
        client,
        validity: judge(&run.summary, &client, &expected),
        speed_of_light,
        status: if run.is_partial() {
            LevelStatus::Partial { reason: "interrupted".to_owned() }
        } else {
            LevelStatus::Finished
        },
        until: (!run.precision.is_empty())
            .then(|| Until { is_reached: run.is_precise(), outcomes: run.precision.clone() }),
        warm_up: Some(WarmUp { sent: run.warmup.sent, failed: run.warmup.failed }),
        checklist: None,
        unseen: None,
        folder,
        detail: None,
    }
}

/// How many requests of its plan a run came to, where it ended before the plan did.
pub(crate) fn released(run: &LevelRun) -> Option<u64> {
    let ended_early = run.driven.ended != Ended::Exhausted;
    ended_early.then_some(run.summary.requests.sent)
}

/// Writes what a level's folder holds besides its tapes.
pub(crate) fn write(
    folder: &RunFolder,
    run: &LevelRun,
    kept: &Kept,
    report: &LevelReport,
) -> Result<(), Fail> {
    folder.write_json("summary.json", report).map_err(Fail::broken)?;
    let duration = run.summary.throughput.duration.to_nanos().unwrap_or_default();
    match &kept.histograms {
        Some(histograms) => folder.write_histograms(histograms, duration).map_err(Fail::broken),
        None => Ok(()),
    }
}

/// What the speed of light of a run was computed from, as files of its folder.
/// The second has the name that it has beside a config, so that it is found there.
pub(crate) const PHYSICS: [&str; 4] =
    ["model-config.json", "hf_quant_config.json", "device.toml", "calibration.json"];

/// Keeps the model's config with the run, and what else was read from files, so that its speed of light can be computed
/// again.
pub(crate) fn write_config(folder: &RunFolder, physics: Option<&Physics>) -> Result<(), Fail> {
    let Some(physics) = physics else { return Ok(()) };
    for (name, text) in PHYSICS.into_iter().zip(physics.files()) {
        if let Some(text) = text {
            folder.write_text(name, text).map_err(Fail::broken)?;
        }
    }
    Ok(())
}

fn speed_of_light(
    run: &LevelRun,
    kept: &Kept,
    load: LoadPoint,
    physics: Result<&Physics, &str>,
) -> SpeedOfLight {
    match (physics, &kept.lengths) {
        (Ok(physics), Some(lengths)) => {
            SpeedOfLight::of(physics.reference(), lengths, load, &run.summary)
        }
        (Ok(_), None) => SpeedOfLight::Absent { reason: NO_PHYSICS.to_owned() },
        (Err(reason), _) => SpeedOfLight::Absent { reason: reason.to_owned() },
    }
}
