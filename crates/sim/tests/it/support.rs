//! What several tests need.

use fizeau_core::{EosRule, Nanos, Prompt, Request, RequestId, Stamp, Tape, Tokens, Transport};
use fizeau_sim::{Emission, Job, JobId, Serve, SimTransport, StepLoad};

pub(crate) fn ms(millis: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(millis)
}

pub(crate) fn job(id: u64, prompt: u64, output: u64, at: Stamp) -> Job {
    Job::new(JobId(id), Tokens::new(prompt), Tokens::new(output), at)
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
    let Ok(tape) = transport.send(&request, Stamp::EPOCH, Stamp::EPOCH).await;
    tape
}
