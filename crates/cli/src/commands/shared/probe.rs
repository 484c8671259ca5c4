//! `--backend auto`: what the endpoint speaks, found out before anything is measured.

use std::fmt::Write;

use fizeau::core::TokenSource;
use fizeau::experiment::DetectedEndpoint;
use fizeau::transport::{Findings, Flow, ForcedLength};

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
