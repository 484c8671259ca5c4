//! `--backend auto`: what the endpoint speaks, found out before anything is measured.

use std::fmt::Write;

use fizeau::core::TokenSource;
use fizeau::experiment::DetectedEndpoint;
use fizeau::transport::{Backend, Findings, Flow, ForcedLength};

use crate::args::EndpointArgs;
use crate::commands::shared::endpoint;
use crate::exit::Fail;
use crate::terminal::runtime;
use crate::terminal::say::say;

/// The value of `--backend` that asks for it.
pub(crate) const AUTO: &str = "auto";

/// `args` with backend and model filled in if they are to be found out at `base_urls`, and what was found; else as they
/// are. The first of several is asked: they are alike.
pub(crate) fn settled(
    args: &EndpointArgs,
    base_urls: &[String],
) -> Result<(EndpointArgs, Option<DetectedEndpoint>), Fail> {
    let (args, found) = found(args, base_urls)?;
    found.as_ref().map_or(Ok(()), |found| say(block(found)))?;
    Ok((args, found))
}

/// As [`settled`], without a word.
pub(crate) fn found(
    args: &EndpointArgs,
    base_urls: &[String],
) -> Result<(EndpointArgs, Option<DetectedEndpoint>), Fail> {
    if args.backend != AUTO {
        return Ok((args.clone(), None));
    }
    let name = args.served_model_name.as_ref().or(args.model.as_ref());
    let spec = endpoint::spec(&embedded(args), base_urls, name.map_or("", String::as_str), "{}")?;
    let found = runtime::single()?.block_on(spec.detect())?;
    let backend = found.backend.to_owned();
    let model = args.model.clone().or_else(|| Some(found.model.clone()));
    Ok((EndpointArgs { backend, model, ..args.clone() }, Some(found)))
}

/// Where backend and model are to be found out: `args` with some in their place, so that all that does not hang on them
/// can be checked before anything is sent.
pub(crate) fn stand_in(args: &EndpointArgs) -> Option<EndpointArgs> {
    let model = args.model.clone().or_else(|| Some("model".to_owned()));
    (args.backend == AUTO).then(|| EndpointArgs { model, ..embedded(args) })
}

/// `args` for the embedded engine, which is known to speak as vLLM does.
pub(crate) fn embedded(args: &EndpointArgs) -> EndpointArgs {
    let backend = if args.backend == AUTO { Backend::Vllm.as_str() } else { &args.backend };
    EndpointArgs { backend: backend.to_owned(), ..args.clone() }
}

/// A few lines for a person.
pub(crate) fn block(found: &DetectedEndpoint) -> String {
    let findings = &found.findings;
    let server = found.server.as_deref().unwrap_or("a server of unknown kind");
    let mut block = format!("found {server}, model {}", found.model);
    let rows = [
        ("backend", format!("{} at {}", found.backend, found.url)),
        ("token counts", counts(findings.token_source).to_owned()),
        ("forced length", length(findings.forced_length)),
        ("tokens per event", bundles(findings)),
        ("events came", flow(findings)),
        ("first events", start(findings.events_before_first_token)),
        ("server timings", timings(findings)),
    ];
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = write!(block, "\n  {name:<18}{value}");
    }
    block
}

const fn counts(source: TokenSource) -> &'static str {
    match source {
        TokenSource::Tokenless => "none: nothing is generated",
        TokenSource::TokenIds => "token ids on each event: exact",
        TokenSource::ContinuousUsage => "running usage on each event: exact",
        TokenSource::Logprobs => "log-probabilities on each event: exact",
        TokenSource::FinalUsageSpread => "usage at the end only, spread over the events",
        TokenSource::Tokenizer => "by a tokenizer of ours",
        TokenSource::Events => "none: events are counted; --tokenizer would count",
    }
}

fn length(forced: ForcedLength) -> String {
    match forced {
        ForcedLength::Refused => "refused: add --no-ignore-eos".to_owned(),
        other => other.to_string(),
    }
}

fn bundles(findings: &Findings) -> String {
    let Some(mean) = findings.tokens_per_event else {
        return "unknown: tokens are not counted".to_owned();
    };
    match findings.first_event_tokens {
        Some(first) => format!("{mean:.2}; in the first event {first}"),
        None => format!("{mean:.2}; in the first event unknown"),
    }
}

fn flow(findings: &Findings) -> String {
    match (findings.flow, findings.zero_gap_share) {
        (Flow::Spaced | Flow::Bursts, Some(share)) => {
            format!("{}; {:.0}% of the gaps are zero", findings.flow, 100.0 * share)
        }
        (flow, _) => flow.to_string(),
    }
}

fn start(quiet: Option<u32>) -> String {
    match quiet {
        None => "not looked at".to_owned(),
        Some(0) => "the first event holds a token".to_owned(),
        Some(1) => "one without a token (a role, say) before the first token".to_owned(),
        Some(n) => format!("{n} without a token before the first token"),
    }
}

fn timings(findings: &Findings) -> String {
    let names: Vec<String> = findings.server_timings.iter().map(ToString::to_string).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
