//! What several tests need.

use std::sync::LazyLock;

use fizeau_core::{
    EosRule, Nanos, Prompt, Release, Request, RequestId, Stamp, Tape, Tokens, Transport,
};
use fizeau_roofline::{Device, KnownModel, Model, System};
use fizeau_sim::{Emission, EngineJob, JobId, Overheads, Serve, SimTransport, StepLoad};

pub(crate) fn ms(millis: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(millis)
}

pub(crate) fn job(id: u64, prompt: u64, output: u64, at: Stamp) -> EngineJob {
    EngineJob::new(JobId(id), Tokens::new(prompt), Tokens::new(output), at)
}

/// Runs an engine until it has nothing more to do.
pub(crate) fn drain(engine: &mut impl Serve) -> Vec<Emission> {
    let mut emissions = Vec::new();
    while let Some(at) = engine.next_event() {
        engine.advance(at, &mut |emission| emissions.push(emission));
    }
    emissions
}

/// The tokens of one job.
pub(crate) fn of(emissions: &[Emission], id: u64) -> Vec<Emission> {
    let mine = emissions.iter().filter(|emission| emission.job == JobId(id));
    mine.copied().collect()
}

/// A step that costs what it carries, so that load shows in latency: in microseconds 1,000, and 100 a decoding sequence,
/// 10 a prompt token.
pub(crate) fn affine(load: &StepLoad) -> Nanos {
    let tokens = load.prefill_tokens.get();
    Nanos::from_micros(1_000 + 100 * load.decode_sequences + 10 * tokens)
}

pub(crate) fn request(id: u64, prompt: u64, output: u64) -> Request {
    let prompt = Prompt::TokenIds(vec![7; prompt as usize]);
    Request { eos: EosRule::Ignore, ..Request::new(RequestId(id), prompt, Tokens::new(output)) }
}

/// Sends a request at once; the error type has no values.
pub(crate) async fn send(transport: &SimTransport, request: Request) -> Tape {
    let Ok(tape) = transport.send(&request, Release::at(Stamp::EPOCH)).await;
    tape
}

/// The silicon alone.
pub(crate) const NONE: Overheads = Overheads {
    bandwidth_efficiency: 1.0,
    compute_efficiency: 1.0,
    per_step: Nanos::ZERO,
    per_sequence: Nanos::ZERO,
    per_layer: Nanos::ZERO,
    per_collective: Nanos::ZERO,
};

/// Models of every kind, in deployments of every kind.
pub(crate) const SYSTEMS: [(&str, &str, &str); 11] = [
    ("qwen3-0.6b", "h100-sxm", "1 device"),
    ("llama-3.1-70b", "h100-sxm", "TP4"),
    ("llama-3.1-70b", "h200-sxm", "TP2 PP2"),
    ("gpt-oss-120b", "h200-sxm", "1 device"),
    ("gpt-oss-20b", "h100-sxm", "DP2 EP2"),
    ("deepseek-v3", "b200-sxm", "TP8"),
    ("deepseek-v3.2", "b200-sxm", "DP8 EP8"),
    ("qwen3-next-80b-a3b", "h200-sxm", "TP2"),
    ("nemotron-h-56b", "h200-sxm", "TP4"),
    ("llama-4-scout", "h200-sxm", "TP4"),
    ("gemma-3-27b", "h100-sxm", "TP2"),
];

/// One of them.
pub(crate) fn system(which: usize) -> System {
    static MADE: LazyLock<Vec<System>> = LazyLock::new(|| SYSTEMS.map(made).into());
    MADE[which].clone()
}

fn made((name, device, deployment): (&str, &str, &str)) -> System {
    let known = KnownModel::named(name).map(|known| known.model().unwrap());
    let model = known.unwrap_or_else(|_| Model::from_config_json(&config(name)).unwrap());
    System::new(model, Device::named(device).unwrap().clone(), deployment.parse().unwrap()).unwrap()
}

/// The config of a model that is not built in.
pub(crate) fn config(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/configs");
    std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()
}
