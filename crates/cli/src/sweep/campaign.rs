//! Levels of a sweep, measured one by one at whatever load the caller decides, judged and kept.

use std::num::NonZeroU64;
use std::time::Duration;

use fizeau::core::LevelLoad;
use fizeau::core::Nanos;
use fizeau::experiment::LevelAsk;
use fizeau::experiment::{Sweep, SweptLevel};
use fizeau::harness::{Cancel, Measure};
use fizeau::record::{LevelRole, RunFolder, level_folder};
use fizeau::report::{LengthTally, LevelReport, LightCurve, LoadPoint};

use super::resume::Resumed;
use super::series::Series;
use crate::client::Client;
use crate::exit::Fail;
use crate::levels::{self, Kept, Yardstick, released};
use crate::progress::{After, Progress, Title};
use crate::speed::Physics;

/// Levels of a sweep under way. Each is on disk before it is given back.
pub(crate) struct Campaign<'a, M> {
    series: &'a Series<'a>,
    client: &'a Client,
    folder: Option<&'a RunFolder>,
    sweep: Sweep<'a, M>,
    progress: Progress,
    /// The lengths of all replies so far; none where there is no model.
    lengths: Option<LengthTally>,
    /// What of a sweep that goes on was measured before.
    resumed: Resumed,
    cancel: Cancel,
}

impl<'a, M: Measure> Campaign<'a, M> {
    /// Of nothing yet, for `command`.
    pub(crate) fn new(
        command: &'static str,
        with: M,
        series: &'a Series<'a>,
        client: &'a Client,
        folder: Option<&'a RunFolder>,
        resumed: Resumed,
    ) -> Self {
        let cancel = with.cancel().clone();
        let title = Title::of(command, &series.setup);
        Self {
            progress: Progress::new(series.view, title, &cancel),
            cancel,
            resumed,
            sweep: Sweep::new(with, &series.spec, folder),
            lengths: series.physics().map(Physics::lengths),
            series,
            client,
            folder,
        }
    }

    /// Measures a level; none when the run has been called off.
    pub(crate) async fn level(&mut self, ask: LevelAsk) -> Result<Option<LevelReport>, Fail> {
        self.run((ask, None)).await
    }

    /// Measures whether the load of the operating point can be kept up; none when the run has been called off.
    pub(crate) async fn sustained(&mut self, ask: LevelAsk) -> Result<Option<LevelReport>, Fail> {
        self.shows(1, ask.size.time, After::Takes(Duration::ZERO));
        self.run((ask, Some(LevelRole::Sustained))).await
    }

    /// Whether the level was measured before the sweep was broken off.
    pub(super) fn has(&self, ask: LevelAsk) -> bool {
        self.resumed.has(&level_folder(ask.load, ask.visit, None))
    }

    /// Whether the run has been called off.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// What is known of the next level: how many there are in all, how long it takes, and what comes after it.
    pub(crate) fn shows(&mut self, of: usize, time: Option<Nanos>, after: After) {
        let time = time.filter(|_| self.series.is_by_time);
        self.progress.next(of, time.map(|time| Duration::from_nanos(time.as_nanos())), after);
    }

    /// Says `text` to whoever watches.
    pub(super) fn note(&self, text: &str) {
        self.progress.note(text);
    }

    async fn run(
        &mut self,
        (ask, role): (LevelAsk, Option<LevelRole>),
    ) -> Result<Option<LevelReport>, Fail> {
        let name = level_folder(ask.load, ask.visit, role);
        if let Some((report, kept)) = self.resumed.take(&name) {
            self.keep(&kept, role);
            return Ok(Some(report));
        }
        if let Some(folder) = self.folder.filter(|_| self.resumed.is_some()) {
            folder.set_aside(&name).map_err(Fail::broken)?;
        }
        let mut kept = Kept::new(self.folder, self.series.physics());
        let observer = &mut (&mut self.progress, &mut kept);
        let level = match role {
            None => self.sweep.level(ask, observer).await,
            Some(LevelRole::Sustained) => self.sweep.sustained(ask, observer).await,
        };
        let Some(level) = level.map_err(Fail::broken)? else { return Ok(None) };
        let report = self.report(&level, &kept, name)?;
        self.keep(&kept, role);
        Ok(Some(report))
    }

    /// Takes the lengths of a level of the curve to those of all.
    fn keep(&mut self, kept: &Kept, role: Option<LevelRole>) {
        if role.is_none() {
            kept.add_lengths_to(self.lengths.as_mut());
        }
    }

    /// What the hardware could do with the requests of all levels so far, at the loads of `reports`.
    pub(crate) fn curve(&self, reports: &[LevelReport]) -> Option<LightCurve> {
        self.series.physics()?.curve(self.lengths.as_ref()?, reports)
    }

    /// The report of a level, once it is on disk.
    fn report(&self, level: &SweptLevel, kept: &Kept, name: String) -> Result<LevelReport, Fail> {
        let (series, ask) = (self.series, level.ask);
        let name = level.folder.is_some().then_some(name);
        let repeated = level.plan.repeats().map(|repeats| repeats.to_string());
        let sent = series.sample.of_level(level.plan.clone());
        let yardstick = Yardstick {
            physics: series.physics.as_ref().map_err(|reason| *reason),
            client: self.client,
            asked: sent.asked_of(NonZeroU64::MIN, released(&level.run)),
            abandoned: level.run.driven.abandoned,
            repeated: repeated.as_deref(),
        };
        let report = levels::report(&level.run, kept, load_point(ask.load), yardstick, name);
        if let Some(folder) = &level.folder {
            levels::write(folder, &level.run, kept, &report)?;
        }
        Ok(report)
    }
}

/// A load as reports have it.
pub(crate) fn load_point(load: LevelLoad) -> LoadPoint {
    match load {
        LevelLoad::Concurrency(slots) => LoadPoint::Concurrency(slots.get()),
        LevelLoad::Rate(rate) => LoadPoint::Rate(rate),
    }
}
