//! A run's folder, read again: what was run, and its levels computed from their tapes.

use std::path::Path;

use fizeau::experiment::{LevelTallies, SpeedOfLightReference};
use fizeau::metrics::Slo;
use fizeau::record::{
    LevelReport, LevelStatus, LightCurve, Profile, Setup, SweepReport, Unmeasured,
};
use fizeau::record::{StoredEnding, StoredRun};
use fizeau::roofline::HourlyRate;
use serde_json::Value;

use super::level::Level;
use super::{Asked, missing, physics};
use crate::args::PhysicsArgs;
use crate::commands::shared::imported;
use crate::commands::shared::planned::is_sustained;
use crate::commands::shared::price;
use crate::exit::{Fail, Named};

/// A run as its folder has it, computed again.
pub(crate) struct Stored {
    pub(crate) setup: Setup,
    /// The levels, in order of their folders' names.
    pub(crate) levels: Vec<LevelReport>,
    /// The goals of a sweep; none of any other run.
    pub(crate) slo: Option<Slo>,
    /// What the sweep put first where several levels keep the goals.
    pub(crate) profile: Profile,
    /// What the hardware could do with the requests; none where model or device are not known.
    pub(crate) curve: Option<LightCurve>,
    /// The loads that were planned and of which nothing is there.
    pub(crate) unmeasured: Vec<Unmeasured>,
    /// The run at the operating point, after all levels; of a search its long levels, rising.
    pub(crate) sustained: Vec<LevelReport>,
    /// What the speed of light is computed from; none where model or device are not known.
    pub(crate) physics: Option<SpeedOfLightReference>,
    /// What an hour of a device costs; none where nobody knows.
    price: Option<HourlyRate>,
}

impl Stored {
    /// Reads the run in `path`, with per-request goals and speed of light as the run has them, but for what is given.
    pub(crate) fn read(
        path: &Path,
        goodput: &[String],
        physics: &PhysicsArgs,
    ) -> Result<Self, Fail> {
        let run = imported::open_with_tapes(path)?;
        let asked = Asked::as_run(&run, goodput, physics, (None, None))?;
        Self::of(&run, Level::all(&run, &asked)?, &asked)
    }

    pub(super) fn of(run: &StoredRun, levels: Vec<Level>, asked: &Asked) -> Result<Self, Fail> {
        let is_alone = levels.len() == 1;
        let (sustained, levels): (Vec<Level>, Vec<Level>) =
            levels.into_iter().partition(|level| !is_alone && is_sustained(&level.name));
        let (setup, physics, curve) = light(run, &levels, asked)?;
        let sustained = sustained.into_iter().map(|level| level.report).collect();
        let levels: Vec<LevelReport> = levels.into_iter().map(|level| level.report).collect();
        let sweep = sweep_document(run)?;
        let slo = sweep.as_ref().and_then(|sweep| sweep.get("slo")?.as_str());
        let slo = slo.map(|text| text.parse().named("sweep.json: slo")).transpose()?;
        let profile = asked.choosing.over(profile(sweep.as_ref())?);
        let unmeasured = missing::of(run, &levels, sweep.as_ref());
        let price = match &asked.price {
            Some(price) => Some(price.clone()),
            None => price::of_run(run.document())?,
        };
        let price = price::of(price.as_ref(), physics.as_ref(), setup.hardware.as_deref());
        Ok(Self { setup, levels, slo, profile, curve, unmeasured, sustained, physics, price })
    }

    /// All of it side by side.
    pub(crate) fn report(self) -> SweepReport {
        let report = SweepReport::of_runs(self.setup, self.levels, self.slo);
        let report = report.with_profile(self.profile).with_unmeasured(self.unmeasured);
        // Those of a search step down: the lowest is the last.
        let report = report.with_curve(self.curve).with_price(self.price);
        report.with_sustained(self.sustained.into_iter().next())
    }
}

/// Whether `level` is all that is there of a sweep that had more.
pub(super) fn is_rest(run: &StoredRun, level: &LevelReport) -> Result<bool, Fail> {
    let sweep = sweep_document(run)?;
    Ok(!missing::of(run, std::slice::from_ref(level), sweep.as_ref()).is_empty())
}

/// The levels of a sweep that are finished, whole and read again: the names of their folders, their reports, and what was kept of
/// their tapes.
pub(crate) fn finished(run: &StoredRun) -> Result<Vec<(String, LevelReport, LevelTallies)>, Fail> {
    let asked = Asked::as_run(run, &[], &PhysicsArgs::default(), (None, None))?;
    let mut all = Vec::new();
    for stored in run.levels() {
        if stored.ending().map_err(Fail::usage)? == StoredEnding::Finished {
            let level = Level::of(run, stored, &asked)?;
            if level.report.status == LevelStatus::Finished {
                all.push((level.name, level.report, level.kept));
            }
        }
    }
    Ok(all)
}

/// What was run, and what the hardware could do with the requests of all levels.
fn light(
    run: &StoredRun,
    levels: &[Level],
    asked: &Asked,
) -> Result<(Setup, Option<SpeedOfLightReference>, Option<LightCurve>), Fail> {
    let mut setup = run.document().setup.clone();
    let Some(first) = run.levels().first() else {
        return Ok((setup, None, None));
    };
    let Some(physics) = physics::of(run, first, &setup, &asked.physics)? else {
        return Ok((setup, None, None));
    };
    physics::describe(Some(&physics), &asked.physics, &mut setup);
    let mut all = physics.lengths();
    levels.iter().for_each(|level| level.kept.add_lengths_to(Some(&mut all)));
    let reports: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
    let curve = physics.curve(&all, &reports);
    Ok((setup, Some(physics), curve))
}

/// What a sweep put first; of one that does not say, nothing in particular.
fn profile(sweep: Option<&Value>) -> Result<Profile, Fail> {
    let Some(stored) = sweep.and_then(|sweep| sweep.get("profile")) else {
        return Ok(Profile::GENERAL);
    };
    let name = stored.get("name").and_then(Value::as_str);
    let profile = name.and_then(Profile::named).unwrap_or_default();
    let rule = stored.get("step_rule").and_then(Value::as_str);
    let rule = rule.map(|text| text.parse().named("sweep.json: profile.step_rule")).transpose()?;
    Ok(profile.with_rule(rule))
}

/// The schema of the documents that can be read.
const SWEEP: &str = "fizeau.sweep/1";

/// `sweep.json`; none if there is none.
fn sweep_document(run: &StoredRun) -> Result<Option<Value>, Fail> {
    let path = run.path().join("sweep.json");
    let name = path.display().to_string();
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => {
            let document: Value = serde_json::from_slice(&read.named(&name)?).named(&name)?;
            match document["schema"].as_str().unwrap_or_default() {
                SWEEP => Ok(Some(document)),
                other => Err(Fail::usage(format!(
                    "{name}: schema `{other}`, and this program reads `{SWEEP}`"
                ))),
            }
        }
    }
}
