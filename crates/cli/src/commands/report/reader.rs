//! A stored run, to be read as it was measured but for what flags say otherwise.

use std::path::Path;

use fizeau::experiment::InputError;
use fizeau::record::{ReadRun, RunReader, SpeedOfLightReference, StoredRun};

use super::level::note_cut;
use crate::args::{ReportArgs, SpeedOfLightArgs, goal};
use crate::commands::shared::{folder, speed};
use crate::exit::{Fail, read_named};

/// Reads the run in `path`, with per-request goals and speed of light as the run has them, but for what is given.
pub(crate) fn read(
    path: &Path,
    goodput: &[String],
    speed_of_light: &SpeedOfLightArgs,
) -> Result<ReadRun, Fail> {
    let run = folder::open_with_tapes(path)?.whole()?;
    let reader = reader(&run, goodput, speed_of_light)?;
    let levels = reader.levels()?;
    run.levels().iter().zip(&levels).for_each(|(stored, level)| note_cut(stored.path(), level.cut));
    Ok(reader.together(levels)?)
}

/// As `args` have it.
pub(super) fn of_args<'a>(run: &'a StoredRun, args: &ReportArgs) -> Result<RunReader<'a>, Fail> {
    let reader = reader(run, &args.goodput, &args.speed_of_light)?;
    let mut reader = reader.with_choice(args.choosing.choice());
    if args.exact {
        reader = reader.exact();
    }
    if let Some(slo) = goal::slo(&args.slo)? {
        takes_other_goals(run)?;
        reader = reader.with_slo(slo);
    }
    if let Some(end) = args.warmup {
        reader = reader.with_warmup(end);
    }
    if let Some(end) = args.cooldown {
        reader = reader.with_cooldown(end);
    }
    Ok(match &args.price.gpu_hour {
        Some(price) => reader.with_price(price.clone()),
        None => reader,
    })
}

/// Refuses other goals for what was measured, round by round or load by load, as its own goals had it.
fn takes_other_goals(run: &StoredRun) -> Result<(), Fail> {
    refuse_if!(
        run.search()?.is_some(),
        "--slo: the loads of a search follow from the goals that it had; `fizeau plan --from {} --slo GOALS` finds the load at which \
         others are kept",
        run.path().display()
    );
    refuse_if!(
        run.document().ab.is_some(),
        "--slo: ab.json has each side's goals as they were judged at the run's end; repeat `fizeau ab` with other goals"
    );
    Ok(())
}

/// With per-request goals and speed of light as the run has them, but for what is given.
pub(crate) fn reader<'a>(
    run: &'a StoredRun,
    goodput: &[String],
    speed_of_light: &SpeedOfLightArgs,
) -> Result<RunReader<'a>, Fail> {
    let mut reader = RunReader::new(run, reference(run, speed_of_light)?).map_err(Fail::usage)?;
    // Formats that the run had are not those of another model.
    if speed_of_light.model_config.is_some()
        || speed_of_light.spread.weights.is_some()
        || speed_of_light.spread.kv.is_some()
    {
        reader = reader.with_precision_of_reference();
    }
    Ok(match goodput {
        [] => reader,
        goodput => reader.with_goals(goal::goodput(goodput)?),
    })
}

/// What was kept with the run, but for what flags say otherwise; none where neither says.
fn reference(
    run: &StoredRun,
    said: &SpeedOfLightArgs,
) -> Result<Option<SpeedOfLightReference>, Fail> {
    if *said == SpeedOfLightArgs::default() {
        return run.reference().map_err(Fail::usage);
    }
    let mut parts = run.reference_parts().map_err(Fail::usage)?;
    if let Some(path) = &said.model_config {
        let name = path.display().to_string();
        let loaded = speed::model_of(&name, &format!("--model-config {name}"))?;
        parts.files.model_config = Some(loaded.text);
        parts.files.quantization = loaded.quantization;
        parts.model_name = Some(name);
    }
    if let Some(name) = &said.hardware {
        parts.files.device = speed::device(name)?.file;
        parts.device_name = Some(name.clone());
    }
    let given = said.calibration.as_ref().filter(|_| !said.is_uncalibrated());
    if let Some(path) = given {
        parts.files.calibration = Some(read_named("--calibration", path, speed::A_CALIBRATION)?);
    }
    parts.deployment = speed::deployment(said, parts.deployment);
    if said.is_uncalibrated() {
        (parts.files.calibration, parts.deployment.engine) = (None, None);
    }
    if !(parts.has_model() && parts.has_device()) {
        let missing = if parts.has_model() { "--hardware" } else { "--model-config" };
        return match said.model_config.is_some() || said.hardware.is_some() {
            true => Err(usage!("{missing}: name it too, since the run has none")),
            false => Ok(None),
        };
    }
    let reference = parts.load().map_err(InputError::from)?;
    Ok(Some(reference.for_prompts_of(run.typical_prompt())))
}
