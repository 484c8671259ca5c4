//! From a measured level to its report and its files.

use fizeau_core::{Tape, Tokens};
use fizeau_harness::{Ended, FolderError, LevelRun, Notice, Observer, RunFolder};
use fizeau_metrics::{
    Ceiling, ClientProof, ClientWatch, Ending, Expectations, Headroom, LevelHistograms, Thresholds,
    judge,
};
use fizeau_record::{
    Asked, LengthTally, LevelReport, LevelStatus, LightCurve, LoadPoint, Reference, SpeedOfLight,
    Until, WarmUp,
};

/// What the speed of light of levels is computed from.
#[derive(Debug, Clone, Copy)]
pub struct LightBasis<'a> {
    /// The model on its devices.
    pub reference: Reference<'a>,
    /// The prompt's nominal length, for servers that do not say how long it was.
    pub input: Tokens,
}

impl LightBasis<'_> {
    /// An account of the lengths of a level's replies, for the bound over them.
    #[must_use]
    pub fn lengths(&self) -> LengthTally {
        LengthTally::new(self.input, self.reference.system.model())
    }

    /// What could be done with the requests of all these `levels` together, whose lengths are `all`; none where there are no
    /// requests, or the longest of them does not fit.
    pub fn curve<'l>(
        &self,
        all: &LengthTally,
        levels: impl IntoIterator<Item = &'l LevelReport>,
    ) -> Option<LightCurve> {
        let lights = levels.into_iter().filter_map(|level| level.speed_of_light.light());
        let loads: Vec<_> = lights.map(|light| light.concurrency).collect();
        LightCurve::over(self.reference, all, &loads).ok()
    }
}

/// What is known of the client that measures, beside what it sees of itself.
#[derive(Debug, Clone, Default)]
pub struct ClientLimits {
    /// Where the verdict begins to doubt.
    pub thresholds: Thresholds,
    /// What the run needs of the system beside what there is; none where that is not known.
    pub headroom: Option<Headroom>,
    /// What the client can do at most, where that was measured.
    pub ceiling: Option<Ceiling>,
}

/// What a level is held against.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationContext<'a> {
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<LightBasis<'a>, &'a str>,
    /// What is known of the client.
    pub client: &'a ClientLimits,
    /// What was asked for of the load.
    pub asked: Asked,
    /// That data were sent more than once, in plain words.
    pub repeated: Option<&'a str>,
}

impl EvaluationContext<'_> {
    /// The report of a level at `load`: judged, and beside its bound where there is one.
    #[must_use]
    pub fn report(&self, run: &LevelRun, tallies: &LevelTallies, load: LoadPoint) -> LevelReport {
        let speed_of_light = self.speed_of_light(run, tallies, load);
        let ClientLimits { thresholds, headroom, ceiling } = self.client.clone();
        let watch = ClientWatch { headroom, ceiling, ..run.client.watch };
        let client = ClientProof { watch, ..run.client };
        let expected = Expectations {
            thresholds,
            held_back: run.driven.held_back,
            cache: self.asked.cache,
            abandoned: run.driven.abandoned,
            repeated: self.repeated.map(str::to_owned),
            beyond_speed_of_light: speed_of_light.excess().map(ToString::to_string),
            ending: if run.is_partial() { Ending::Interrupted } else { Ending::Finished },
        };
        LevelReport {
            load,
            asked: self.asked,
            summary: run.summary.clone(),
            client,
            validity: judge(&run.summary, &client, &expected),
            speed_of_light,
            status: match run.is_partial() {
                true => LevelStatus::Partial { reason: "interrupted".to_owned() },
                false => LevelStatus::Finished,
            },
            until: (!run.precision.is_empty())
                .then(|| Until { is_reached: run.is_precise(), outcomes: run.precision.clone() }),
            warm_up: Some(WarmUp { sent: run.warmup.sent, failed: run.warmup.failed }),
            checklist: None,
            unseen: None,
            folder: None,
            detail: None,
        }
    }

    fn speed_of_light(
        &self,
        run: &LevelRun,
        tallies: &LevelTallies,
        load: LoadPoint,
    ) -> SpeedOfLight {
        match (&self.light, &tallies.lengths) {
            (Ok(light), Some(lengths)) => {
                SpeedOfLight::of(light.reference, lengths, load, &run.summary)
            }
            (Ok(_), None) => {
                SpeedOfLight::Absent { reason: "its lengths were not kept".to_owned() }
            }
            (Err(reason), _) => SpeedOfLight::Absent { reason: (*reason).to_owned() },
        }
    }
}

/// What a level's report and files need of its tapes beyond the summary, added up as they come.
#[derive(Debug, Clone, Default)]
pub struct LevelTallies {
    histograms: Option<LevelHistograms>,
    lengths: Option<LengthTally>,
}

impl LevelTallies {
    /// Of nothing yet, for the speed of light alone, where there is a model.
    #[must_use]
    pub fn new(light: Option<LightBasis<'_>>) -> Self {
        Self { histograms: None, lengths: light.map(|light| light.lengths()) }
    }

    /// The same, with the histograms that a level's folder has.
    #[must_use]
    pub fn with_histograms(self) -> Self {
        Self { histograms: Some(LevelHistograms::default()), ..self }
    }

    /// Adds a tape.
    pub fn add(&mut self, tape: &Tape) {
        self.histograms.iter_mut().for_each(|histograms| histograms.add(tape));
        self.lengths.iter_mut().for_each(|lengths| lengths.add(tape));
    }

    /// Adds the lengths of the level's replies to those of all levels.
    pub fn add_lengths_to(&self, all: Option<&mut LengthTally>) {
        if let (Some(all), Some(own)) = (all, &self.lengths) {
            all.merge(own);
        }
    }
}

/// Takes in what a report needs of the tapes of a level.
pub(crate) struct TallyObserver<'a>(pub(crate) &'a mut LevelTallies);

impl Observer for TallyObserver<'_> {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RequestEnded(tape) = notice {
            self.0.add(tape);
        }
    }
}

/// Writes what a level's folder holds besides its tapes.
///
/// # Errors
/// If the system refuses.
pub fn keep_level(
    folder: &RunFolder,
    report: &LevelReport,
    tallies: &LevelTallies,
) -> Result<(), FolderError> {
    folder.write_json("summary.json", report)?;
    let duration = report.summary.throughput.duration.to_nanos().unwrap_or_default();
    match &tallies.histograms {
        Some(histograms) => folder.write_histograms(histograms, duration),
        None => Ok(()),
    }
}

/// How many requests of its plan a run came to, where it ended before the plan did.
#[must_use]
pub fn released(run: &LevelRun) -> Option<u64> {
    let ended_early = run.driven.ended != Ended::Exhausted;
    ended_early.then_some(run.summary.requests.sent)
}
