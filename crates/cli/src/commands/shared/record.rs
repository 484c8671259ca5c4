//! What goes on record about a run: when, with what command line, on which machine.

use fizeau::core::Nanos;
use fizeau::experiment::{PreparedEndpoint, PreparedWorkload, RunOrigin};
use fizeau::record::SpeedOfLightReference;
use fizeau::record::{ClientPlan, Json, LevelPlan, RequestTimeouts, RunDocument, RunTime, Setup};
use fizeau::roofline::HourlyRate;

use crate::exit::Fail;

/// `run.json` of a run that asks `work` of somebody, in virtual time unless it [is measured](measured).
pub(crate) fn asked(
    setup: &Setup,
    work: &PreparedWorkload,
    levels: Vec<LevelPlan>,
    goodput: &[String],
) -> Result<RunDocument, Fail> {
    let mut document = RunDocument::new(setup.clone(), work.record()?, work.asked_lengths());
    document.time = Some(RunTime::Virtual);
    document.levels = levels;
    document.goodput = goodput.to_vec();
    Ok(document)
}

/// The same of a run that `client` measures at the endpoint that is `called`; the wall clock showed `epoch_unix_ns` at its epoch.
pub(crate) fn measured(
    mut document: RunDocument,
    called: &PreparedEndpoint,
    client: ClientPlan,
    epoch_unix_ns: u64,
) -> Result<RunDocument, Fail> {
    let limits = &called.timeouts;
    document.epoch_unix_ns = Some(epoch_unix_ns);
    document.time = None;
    document.sampling = Json::parse(&called.extra_body).ok().filter(|body| !body.is_empty());
    document.timeouts = RequestTimeouts {
        connect_ms: limits.connect.map(Nanos::to_millis),
        first_token_ms: limits.first_token.map(Nanos::to_millis),
        idle_ms: limits.idle.map(Nanos::to_millis),
        total_ms: limits.total.map(Nanos::to_millis),
    };
    document.client = Some(client);
    document.probed = called.found.as_ref().map(Json::of).transpose().map_err(Fail::broken)?;
    Ok(document)
}

/// Puts on record what the speed of light is computed from, and what an hour of a device costs, where somebody said.
pub(crate) fn physics(
    document: &mut RunDocument,
    light: Option<&SpeedOfLightReference>,
    price: Option<&HourlyRate>,
) {
    document.speed_of_light = light.map(|light| light.deployment().clone());
    document.gpu_hour_usd = price.map(HourlyRate::low);
}

/// Who runs this, from now on.
pub(crate) fn origin() -> RunOrigin {
    let words = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    RunOrigin::now().with_command_line(words)
}
