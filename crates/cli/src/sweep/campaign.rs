//! Levels of a sweep, measured one by one at whatever load the caller decides, judged and kept.

use std::num::NonZeroU64;

use fizeau::harness::{LevelAsk, LevelLoad, Measure, RunFolder, Sweep, SweptLevel};
use fizeau::report::{LengthTally, LevelReport, LightCurve, LoadPoint};

use super::series::Series;
use crate::client::Client;
use crate::exit::Fail;
use crate::levels::{self, Kept, Yardstick, released};
use crate::progress::Progress;
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
}

impl<'a, M: Measure> Campaign<'a, M> {
    /// Of nothing yet.
    pub(crate) fn new(
        with: M,
        series: &'a Series<'a>,
        client: &'a Client,
        folder: Option<&'a RunFolder>,
    ) -> Self {
        Self {
            sweep: Sweep::new(with, &series.spec, folder),
            lengths: series.physics().map(Physics::lengths),
            progress: Progress::new(),
            series,
            client,
            folder,
        }
    }

    /// Measures a level; none when the run has been called off.
    pub(crate) async fn level(&mut self, ask: LevelAsk) -> Result<Option<LevelReport>, Fail> {
        let mut kept = Kept::new(self.folder, self.series.physics());
        let level = self.sweep.level(ask, &mut (&mut self.progress, &mut kept)).await;
        let Some(level) = level.map_err(Fail::broken)? else { return Ok(None) };
        let report = self.report(&level, &kept)?;
        kept.add_lengths_to(self.lengths.as_mut());
        Ok(Some(report))
    }

    /// What the hardware could do with the requests of all levels so far, at the loads of `reports`.
    pub(crate) fn curve(&self, reports: &[LevelReport]) -> Option<LightCurve> {
        self.series.physics()?.curve(self.lengths.as_ref()?, reports)
    }

    /// The report of a level, once it is on disk.
    fn report(&self, level: &SweptLevel, kept: &Kept) -> Result<LevelReport, Fail> {
        let (series, ask) = (self.series, level.ask);
        let name = level.folder.is_some().then(|| ask.load.folder(ask.visit));
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
