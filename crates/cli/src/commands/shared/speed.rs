//! From arguments to the speed of light of a run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use fizeau::experiment::{
    InputError, InputField, LoadedDevice, LoadedModel, ReferenceSpec, SystemQuery,
};
use fizeau::record::{
    DeploymentRecord, LevelReport, NoReference, SpeedOfLight, SpeedOfLightReference,
};
use fizeau::roofline::Calibration;

use crate::args::refusal::refused;
use crate::args::{SpeedOfLightArgs, SpreadArgs, SystemArgs};
use crate::exit::{Fail, Named, read_named};
use crate::terminal::say::say;

/// The speed of light that the flags ask for; none if neither model nor device was given. What is predicted is what a calibration
/// says of the engine that `engine` names in somebody's own words. Says what the reader should know of them.
///
/// # Errors
/// If one of both is missing or is not understood, or the model does not fit.
pub(crate) fn from_args(
    args: &SpeedOfLightArgs,
    engine: Option<&str>,
) -> Result<Option<SpeedOfLightReference>, Fail> {
    let mut deployment = deployment(args, DeploymentRecord::default());
    let Some((path, hardware)) = both(&args.model_config, &args.hardware)? else {
        refuse_if!(
            deployment != DeploymentRecord::default() || args.calibration.is_some(),
            "--tp, --weights and their like describe the model on its devices: give --model-config NAME and --hardware NAME too, or leave \
            them out"
        );
        return Ok(None);
    };
    let mut spec = ReferenceSpec::new(path.display().to_string(), hardware);
    if !args.is_uncalibrated() {
        deployment.engine = engine.and_then(Calibration::engine_named_in).map(str::to_owned);
        spec.calibration.clone_from(&args.calibration);
    }
    spec.deployment = deployment;
    let reference = doubted(hardware, spec.load())?;
    let reference = match args.is_uncalibrated() {
        true => reference.uncalibrated(),
        false => reference,
    };
    reference.notes().for_each(|note| tell!("note: {note}"));
    Ok(Some(reference))
}

/// Which flags name what a speed of light is of.
pub(crate) const MODEL_AND_DEVICE: &str =
    "Speed of light: not computed; add --model-config NAME and --hardware NAME";

/// Says so where one of `levels` has no speed of light since nobody named them.
pub(crate) fn say_missing<'a>(
    levels: impl IntoIterator<Item = &'a LevelReport>,
) -> Result<(), Fail> {
    if is_missing(levels) { say(MODEL_AND_DEVICE) } else { Ok(()) }
}

/// Names the flags alone, where the report says already that there is no speed of light.
pub(crate) fn say_flags(levels: &[LevelReport]) -> Result<(), Fail> {
    match is_missing(levels) {
        true => say("Add --model-config NAME and --hardware NAME for the speed of light."),
        false => Ok(()),
    }
}

fn is_missing<'a>(levels: impl IntoIterator<Item = &'a LevelReport>) -> bool {
    let missing = SpeedOfLight::NoReference(NoReference::NotGiven);
    levels.into_iter().any(|level| level.speed_of_light == missing)
}

/// Model and device, which are named together or not at all.
pub(crate) fn both<'a, M>(
    model: &'a Option<M>,
    hardware: &'a Option<String>,
) -> Result<Option<(&'a M, &'a str)>, Fail> {
    match (model, hardware) {
        (Some(model), Some(hardware)) => Ok(Some((model, hardware))),
        (Some(_), None) => bail!("--hardware: name the device that --model-config is for"),
        (None, Some(_)) => bail!("--model-config: name the model that --hardware is for"),
        (None, None) => Ok(None),
    }
}

/// `loaded`, once what looks wrong with the device is said.
pub(crate) fn doubted<T>(hardware: &str, loaded: Result<T, InputError>) -> Result<T, Fail> {
    let is_read = |error: &InputError| error.field != InputField::ModelConfig;
    if loaded.as_ref().err().is_none_or(is_read) {
        // What is wrong with the device itself is said by `loaded`.
        drop(device(hardware));
    }
    Ok(loaded?)
}

/// `own`, but for what flags say otherwise.
pub(crate) fn deployment(args: &SpeedOfLightArgs, own: DeploymentRecord) -> DeploymentRecord {
    let mut all = spread(&args.spread, own);
    all.draft = args.draft.unwrap_or(all.draft);
    all.memory_share = args.memory_share.unwrap_or(all.memory_share);
    all.max_num_seqs = args.max_num_seqs.or(all.max_num_seqs);
    all
}

/// How the flags of a system spread, store and serve a model.
pub(crate) fn deployed(args: &SystemArgs) -> DeploymentRecord {
    let mut all = spread(&args.spread, DeploymentRecord::default());
    (all.memory_share, all.max_num_seqs) = (args.memory_share, args.max_num_seqs);
    all.choices = args.choices.into();
    all
}

/// `own`, but for how flags spread and store the model.
pub(crate) fn spread(args: &SpreadArgs, own: DeploymentRecord) -> DeploymentRecord {
    let mut all = own;
    let degrees = [
        (&mut all.tp, args.tp),
        (&mut all.pp, args.pp),
        (&mut all.ep, args.ep),
        (&mut all.dp, args.dp),
        (&mut all.replicas, args.replicas),
    ];
    for (degree, given) in degrees {
        *degree = given.unwrap_or(*degree);
    }
    all.weights = args.weights.clone().or(all.weights);
    all.kv = args.kv.clone().or(all.kv);
    all
}

/// The flags that spread and store a model so, each behind a blank.
pub(crate) fn flags(of: &DeploymentRecord) -> String {
    let degrees = [("tp", of.tp), ("pp", of.pp), ("ep", of.ep), ("dp", of.dp)];
    let degrees = degrees.into_iter().filter(|(_, degree)| *degree > 1);
    let degrees = degrees.map(|(flag, degree)| format!(" --{flag} {degree}"));
    let formats = [("weights", &of.weights), ("kv", &of.kv)].into_iter();
    let formats =
        formats.filter_map(|(flag, format)| Some(format!(" --{flag} {}", format.as_ref()?)));
    degrees.chain(formats).collect()
}

/// Refuses a model or a device that is not named, or not known.
pub(crate) fn asked(args: &SystemArgs) -> Result<(), Fail> {
    let missing = |flag: &str, takes: &str| usage!("{flag} is missing; it takes {takes}");
    let Some(model) = &args.model_config else {
        let takes = "a name that `fizeau models` lists, or a config.json";
        return Err(missing("--model-config", takes));
    };
    let Some(hardware) = &args.hardware else {
        let takes = "a name that `fizeau devices` lists, or a TOML file";
        return Err(missing("--hardware", takes));
    };
    model_of(model, &format!("--model-config {model}"))?;
    LoadedDevice::named(hardware)?;
    Ok(())
}

/// The model of this name, or in this file; `given` is what named it.
pub(crate) fn model_of(name: &str, given: &str) -> Result<LoadedModel, Fail> {
    let known =
        if Path::new(name).exists() { "" } else { "; `fizeau models` lists the built-in models" };
    LoadedModel::named(name).map_err(|error| usage!("{given}: {error}{known}"))
}

/// The system that the flags name, for `fizeau sol` and what asks like it.
pub(crate) fn query<'a>(args: &'a SystemArgs, engine: Option<&'a str>) -> SystemQuery<'a> {
    let borrowed = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
    let mut query = SystemQuery::default();
    (query.model_config, query.hardware) = (borrowed(&args.model_config), borrowed(&args.hardware));
    (query.weights, query.kv) = (borrowed(&args.spread.weights), borrowed(&args.spread.kv));
    query.deployment = deployed(args);
    // As texts they are borrowed.
    (query.deployment.weights, query.deployment.kv) = (None, None);
    query.engine = engine.map(Cow::Borrowed);
    query
}

// The device that a command line means, and how it is known to behave.

/// What was said of devices: a run asks for its own once a level, and once is enough to hear it.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The device that `--hardware` names. What looks wrong with one of the user's own is said on standard error.
pub(crate) fn device(hardware: &str) -> Result<LoadedDevice, Fail> {
    let found = LoadedDevice::named(hardware)?;
    for doubt in found.doubts() {
        let note = format!("note: --hardware {hardware}: {doubt}");
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(note.clone()) {
            tell!("{note}");
        }
    }
    Ok(found)
}

/// What `--calibration` takes.
pub(crate) const A_CALIBRATION: &str = "a file that `fizeau calibrate` or `fizeau sol --fit` wrote";

/// The calibration in the file that `--calibration` names.
pub(crate) fn calibration(path: &Path) -> Result<Calibration, Fail> {
    let text = read_named("--calibration", path, A_CALIBRATION)?;
    Calibration::from_json(&text).named(&format!("--calibration {}", path.display()))
}

/// The device by its name, or the one in the file of that name. `whose` stands before what is wrong.
pub(crate) fn find_device(hardware: &str, whose: &'static str) -> Result<LoadedDevice, Fail> {
    LoadedDevice::named(hardware).map_err(|error| refused(&error, |_| whose.to_owned()))
}
