//! A fleet as text: on one screen, and on one line.

use std::fmt::Write;

use fizeau::core::Usd;
use fizeau::record::text::wrap_hanging;
use fizeau::telemetry::{ContextSource, FleetReport, ServingAssessment};

use crate::terminal::say::printable;

/// So many replicas have a row.
const ROWS: usize = 12;
/// So many findings have a line or two.
const NOTES: usize = 4;

/// One screen, in lines of at most `width` columns. Writing to a string does not fail.
pub(super) fn text(report: &FleetReport, width: usize) -> String {
    let mut out = String::new();
    let FleetReport { model, hardware, deployment, replicas, window, .. } = report;
    let telling = format!("{} of {} replicas", report.telling(), replicas.len());
    let head = format!(
        "{} on {hardware} ({deployment}), {telling}, the last {:.0} s",
        printable(model),
        window.get() / 1e3
    );
    let _ = writeln!(out, "{}\n", wrap_hanging(&head, width, "  "));
    match &report.fleet {
        Some(fleet) => figures(&mut out, fleet, width),
        None => out.push_str("waiting for two pages of metrics\n"),
    }
    if let Some(steps) = &report.steps {
        let part = |name: &str, share: Option<f64>| {
            share.map_or_else(String::new, |share| format!(", {name} {}", percent(share)))
        };
        let _ = writeln!(
            out,
            "{} forward passes at {} of their bounds{}{}",
            steps.steps,
            percent(steps.share),
            part("decode alone", steps.decode_share),
            part("with prompts", steps.prefill_share),
        );
    }
    if replicas.len() > 1 {
        rows(&mut out, report, width);
    }
    for finding in report.findings.iter().take(NOTES) {
        let note = format!("note: {}", printable(&finding.to_string()));
        let _ = writeln!(out, "{}", wrap_hanging(&note, width, "      "));
    }
    if report.findings.len() > NOTES {
        let _ = writeln!(out, "note: and {} more", report.findings.len() - NOTES);
    }
    out.trim_end().to_owned()
}

fn figures(out: &mut String, fleet: &ServingAssessment, width: usize) {
    let cost = fleet
        .usd_per_million_output_tokens
        .map_or_else(String::new, |usd| format!("{} a million output tokens; ", dollars(usd)));
    let share = fleet.share.map_or_else(|| "-".to_owned(), percent);
    let _ = writeln!(out, "{share} of the speed of light");
    let _ = writeln!(out, "{cost}limited by: {}\n", fleet.limited_by);
    let mut row = |name: &str, now: String, bound: String, share: Option<f64>, note: &str| {
        let share = share.map_or_else(String::new, percent);
        let line = format!("{name:<20}{now:>10}{bound:>10}{share:>10}  {note}");
        let _ = writeln!(out, "{}", line.trim_end());
    };
    row("", "now".to_owned(), "bound".to_owned(), None, "");
    let rate = |rate: f64| format!("{rate:.0}");
    let bound = fleet.bound_output_tokens_per_s.map_or_else(String::new, |of| rate(of.get()));
    row("output tokens/s", rate(fleet.output_tokens_per_s.get()), bound, fleet.share, "");
    if let Some(decode) = &fleet.decode {
        let note = format!("batch {:.1}, {}", decode.batch, decode.limited_by);
        let [now, bound] = [decode.tpot_ms, decode.bound_tpot_ms].map(|ms| figure(ms.get()));
        row("decode: TPOT, ms", now, bound, Some(decode.share), &note);
    }
    if let Some(prefill) = &fleet.prefill {
        let note = format!("{:.0} tokens, {}", prefill.prompt_tokens, prefill.limited_by);
        let [now, bound] = [prefill.prefill_ms, prefill.bound_ms].map(|ms| figure(ms.get()));
        row("prefill, ms", now, bound, Some(prefill.share), &note);
    }
    if let Some(same) = &fleet.same_latency {
        let cost = same.usd_per_million_output_tokens;
        let cost = cost.map_or_else(String::new, |usd| format!(", {} a million", dollars(usd)));
        let note = format!("batch {}{cost}", same.batch);
        let rate = rate(same.output_tokens_per_s.get());
        row("  at the same TPOT", String::new(), rate, None, &note);
    }
    let _ = writeln!(out, "\n{}\n", wrap_hanging(&state(fleet), width, ""));
}

/// What runs and waits.
fn state(fleet: &ServingAssessment) -> String {
    let mut words = vec![format!("{:.1} running", fleet.running)];
    words.extend(fleet.waiting.map(|waiting| format!("{waiting:.1} waiting")));
    words.extend(fleet.kv_use.map(|share| format!("KV cache {:.0} %", share * 100.0)));
    words.extend(fleet.context.map(|context| {
        let how = if context.source == ContextSource::KvCache { "" } else { "about " };
        format!("context {how}{:.0}", context.tokens)
    }));
    if fleet.cached_share > 0.0 {
        words.push(format!("{:.0} % of prompts cached", fleet.cached_share * 100.0));
    }
    words.extend(fleet.queue.map(|queue| format!("queue {} ms", figure(queue.get()))));
    words.join(", ")
}

fn rows(out: &mut String, report: &FleetReport, width: usize) {
    let left = width.saturating_sub(49).clamp(12, 60);
    let _ = writeln!(
        out,
        "{:<left$}{:>8}{:>8}{:>9}{:>7}  limited by",
        "replica", "running", "waiting", "tokens/s", "share"
    );
    for replica in report.replicas.iter().take(ROWS) {
        let address: String = printable(&replica.address).chars().take(left - 1).collect();
        let Some(of) = &replica.assessment else {
            let _ = writeln!(out, "{address:<left$}{:>8}", "-");
            continue;
        };
        let share =
            of.share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0));
        let waiting = of.waiting.map_or_else(|| "-".to_owned(), |waiting| format!("{waiting:.1}"));
        let _ = writeln!(
            out,
            "{address:<left$}{:>8.1}{waiting:>8}{:>9.0}{share:>7}  {}",
            of.running,
            of.output_tokens_per_s.get(),
            of.limited_by
        );
    }
    if report.replicas.len() > ROWS {
        let _ = writeln!(out, "and {} more", report.replicas.len() - ROWS);
    }
    out.push('\n');
}

/// One line, for a pipe.
pub(super) fn line(report: &FleetReport) -> String {
    let telling = format!("{}/{} replicas", report.telling(), report.replicas.len());
    let mut words = vec![telling];
    if let Some(fleet) = &report.fleet {
        let share =
            |name: &str, share: Option<f64>| share.map(|of| format!("{name} {}", percent(of)));
        words.extend(share("share", fleet.share));
        words.extend(share("decode", fleet.decode.as_ref().map(|decode| decode.share)));
        words.extend(share("prefill", fleet.prefill.as_ref().map(|prefill| prefill.share)));
        words.push(format!("limited by {}", fleet.limited_by));
        words.push(format!("{:.0} output tokens/s", fleet.output_tokens_per_s.get()));
        words.extend(fleet.same_latency.as_ref().map(|same| {
            format!("{:.0} at the bound and the same TPOT", same.output_tokens_per_s.get())
        }));
        words.push(format!("{:.1} running", fleet.running));
        words.extend(fleet.waiting.map(|waiting| format!("{waiting:.1} waiting")));
        let cost = fleet.usd_per_million_output_tokens;
        words.extend(cost.map(|usd| format!("{} a million output tokens", dollars(usd))));
    }
    let found = report.findings.iter().map(|finding| printable(&finding.to_string()));
    let notes: String = found.map(|finding| format!("; {finding}")).collect();
    format!("{}{notes}", words.join(", "))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn dollars(usd: Usd) -> String {
    match usd.get() {
        usd if usd >= 100.0 => format!("${usd:.0}"),
        usd => format!("${usd:.2}"),
    }
}

/// Three digits that count.
fn figure(value: f64) -> String {
    match value {
        large if large >= 100.0 => format!("{large:.0}"),
        middle if middle >= 10.0 => format!("{middle:.1}"),
        small => format!("{small:.2}"),
    }
}
