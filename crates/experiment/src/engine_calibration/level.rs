//! One load of a calibration, measured as a level.

use std::num::NonZeroU32;

use fizeau_core::{Nanos, RequestPurpose, Tape, Tokens};
use fizeau_harness::{Cancel, Measure};
use fizeau_record::{LevelDetail, LevelReport};
use fizeau_roofline::DesignedLoad;
use fizeau_workload::{Length, Lengths};

use crate::endpoint::EndpointSource;
use crate::event::{AfterLevel, LevelPosition, RunEvent, RunNote, Watcher};
use crate::experiment::{Experiment, RunConduct};
use crate::input::ExperimentError;
use crate::level::LevelSettings;
use crate::sol::SeenRequests;

/// Requests that are all alike march in step, and wait for one another as those that are not do not.
const SPREAD: f64 = 0.25;

/// A load as an experiment, and its place among the others.
pub(super) struct DesignedLevel {
    pub(super) experiment: Experiment<LevelSettings>,
    pub(super) designed: DesignedLoad,
    pub(super) at: usize,
    pub(super) of: Option<usize>,
    /// How long the loads after it take.
    pub(super) later: Nanos,
}

/// What was measured of a load.
pub(super) struct MeasuredLoad {
    pub(super) designed: DesignedLoad,
    pub(super) report: LevelReport,
    /// To tell its steps from.
    pub(super) requests: SeenRequests,
}

/// A level of `designed` that sends no more after `time`.
pub(super) fn settings(designed: &DesignedLoad, time: Nanos) -> LevelSettings {
    let mut level = LevelSettings::default();
    let about = |nominal: Tokens| Length::Uniform { nominal, ratio: SPREAD };
    level.workload.lengths = Lengths::Independent {
        input: about(designed.load.input_tokens),
        output: about(designed.load.output_tokens),
    };
    level.workload.requests = Some(designed.requests);
    level.max_in_flight = NonZeroU32::try_from(designed.load.concurrency).ok();
    level.warmups = Some(designed.warmups);
    level.time = Some(time);
    level
}

/// What its folder is called.
pub(super) fn name(designed: &DesignedLoad) -> String {
    let load = designed.load;
    let (input, output) = (load.input_tokens.get(), load.output_tokens.get());
    format!("concurrency-{:04}-in-{input}-out-{output}", load.concurrency)
}

/// Who measures the levels.
pub(super) trait LevelRuns {
    /// What calls them off.
    fn cancel<'a>(&'a self, conduct: &'a RunConduct) -> &'a Cancel;

    /// Measures one.
    async fn run(
        &mut self,
        level: DesignedLevel,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLoad, ExperimentError>;
}

/// Over HTTP.
#[derive(Default)]
pub(super) struct OverHttp {
    /// The endpoint, once it is found out what it is and takes.
    found: Option<EndpointSource>,
    /// What was told of it, which every level finds anew.
    told: Vec<RunNote>,
}

impl LevelRuns for OverHttp {
    fn cancel<'a>(&'a self, conduct: &'a RunConduct) -> &'a Cancel {
        &conduct.cancel
    }

    async fn run(
        &mut self,
        mut level: DesignedLevel,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLoad, ExperimentError> {
        if let Some(found) = &self.found {
            level.experiment.conduct.endpoint = found.clone();
        }
        let mut watcher = Placed::new(&level, watcher, std::mem::take(&mut self.told));
        let opened = Box::pin(level.experiment.prepare()?.open(&mut watcher)).await?;
        self.found = opened.endpoints().first().cloned().map(EndpointSource::from);
        let report = Box::pin(opened.run(&mut watcher)).await?.report;
        self.told = watcher.told;
        Ok(MeasuredLoad { designed: level.designed, report, requests: watcher.requests })
    }
}

/// With whatever can measure.
pub(super) struct With<M>(pub(super) M);

impl<M: Measure> LevelRuns for With<M> {
    fn cancel<'a>(&'a self, _: &'a RunConduct) -> &'a Cancel {
        self.0.cancel()
    }

    async fn run(
        &mut self,
        level: DesignedLevel,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLoad, ExperimentError> {
        let mut watcher = Placed::new(&level, watcher, Vec::new());
        let report = level.experiment.run_with(&mut self.0, &mut watcher).await?.report;
        Ok(MeasuredLoad { designed: level.designed, report, requests: watcher.requests })
    }
}

/// Tells a level by its load and its place among the others, and nothing twice of their endpoint; and keeps what its steps are told from.
struct Placed<'a, W> {
    watcher: &'a mut W,
    told: Vec<RunNote>,
    name: String,
    position: LevelPosition,
    later: Nanos,
    requests: SeenRequests,
}

impl<'a, W: Watcher> Placed<'a, W> {
    fn new(level: &DesignedLevel, watcher: &'a mut W, told: Vec<RunNote>) -> Self {
        let load = level.designed.load;
        let (input, output) = (load.input_tokens.get(), load.output_tokens.get());
        let name = format!("concurrency {}, {input} in, {output} out", load.concurrency);
        let position = LevelPosition { number: level.at + 1, of: level.of };
        let (later, requests) = (level.later, SeenRequests::default());
        Self { watcher, told, name, position, later, requests }
    }
}

impl<W: Watcher> Watcher for Placed<'_, W> {
    fn event(&mut self, event: RunEvent) {
        if let RunEvent::Note(note) = &event {
            if self.told.contains(note) {
                return;
            }
            self.told.push(note.clone());
        }
        self.watcher.event(match event {
            RunEvent::LevelStarted(mut started) => {
                started.name.clone_from(&self.name);
                started.position = Some(self.position);
                started.after = AfterLevel::Takes(self.later);
                RunEvent::LevelStarted(started)
            }
            other => other,
        });
    }

    fn tape(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Load {
            self.requests.add(tape);
        }
        self.watcher.tape(tape);
    }

    fn detail(&mut self, level: &LevelReport, most: Option<NonZeroU32>) -> Option<LevelDetail> {
        self.watcher.detail(level, most)
    }

    fn watches_requests(&self) -> bool {
        self.watcher.watches_requests()
    }
}
