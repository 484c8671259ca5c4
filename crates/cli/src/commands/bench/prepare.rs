//! All that can be decided of a run against an endpoint before anything is sent.

use fizeau::experiment::{Answering, PreparedEndpoint, in_flight};
use fizeau::record::Engine;

use super::Job;
use super::trial::{Trial, nominal, text_after};
use crate::args::{BenchArgs, EndpointArgs};
use crate::commands::shared::client;
use crate::commands::shared::endpoint;
use crate::commands::shared::record::NO_PHYSICS;
use crate::commands::shared::{record, speed, workload};
use crate::exit::Fail;

/// The run against `endpoint`. Files are read; nothing is sent.
pub(super) fn prepare<'a>(args: &'a BenchArgs, endpoint: &EndpointArgs) -> Result<Job<'a>, Fail> {
    let base_urls = base_urls(args);
    let called = call(args, endpoint, &base_urls)?;
    let engine = Engine::Remote { description: args.engine.clone() };
    let mut answering = Answering::new(called.describe(), engine);
    answering.light = speed::from_args(&args.physics)?.ok_or_else(|| NO_PHYSICS.to_owned());
    let mut origin = record::origin();
    origin.precision.clone_from(&args.precision);
    let model = args.endpoint.model.as_deref().unwrap_or_else(|| called.target.model());
    let mut trial = Trial::new(&args.level, (&called.target, model), answering, &origin)?;
    let level = &mut trial.level;
    let (requests, pacing) = (level.work.requests().get(), level.work.plan().pacing());
    let most = in_flight(requests, level.load.max_in_flight, pacing);
    let wanted = endpoint::reached(&endpoint.connections).needs(&base_urls, most);
    level.client = client::spec(&args.client)?.prepare(wanted)?;
    Ok(Job { called, trial })
}

pub(super) fn base_urls(args: &BenchArgs) -> Vec<String> {
    let host = args.host.host.as_deref().unwrap_or("127.0.0.1");
    let port = args.host.port.unwrap_or(8000);
    match &*args.endpoint.base_url {
        [] if host.contains(':') => vec![format!("http://[{host}]:{port}")],
        [] => vec![format!("http://{host}:{port}")],
        urls => urls.to_vec(),
    }
}

fn call(
    args: &BenchArgs,
    endpoint: &EndpointArgs,
    base_urls: &[String],
) -> Result<PreparedEndpoint, Fail> {
    let name = endpoint.served_model_name.as_ref().or(endpoint.model.as_ref());
    let name = name.ok_or_else(|| Fail::usage("--model: name the model as the server knows it"))?;
    let asked = workload::spec(&args.level.workload, nominal(&args.level))?;
    let keep_text = asked.keep_text(text_after(&args.level));
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(endpoint, base_urls, name, &extra, keep_text)
}
