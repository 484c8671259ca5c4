//! A fleet as text: on one screen, and on one line.

use std::fmt::Write;

use fizeau_core::Usd;
use fizeau_record::text::{number, percent, usd, wrap_hanging};
use fizeau_telemetry::{ContextSource, FleetReport, ServingAssessment, ServingLimit};

use crate::Shown;
use crate::text::{plain, shortened};

/// So many replicas have a row.
const ROWS: usize = 12;
/// What the headline of a mixture of experts is held against.
const EVENLY: &str = "even routing";
/// So many findings have a line or two.
const NOTES: usize = 4;

impl Shown<'_, FleetReport> {
    /// One screen, in lines of at most `width` columns. `own_price` is what follows a price that is assumed: how to say what is really paid.
    #[must_use]
    pub fn screen(&self, width: usize, own_price: &str) -> String {
        let report = self.0;
        let mut out = String::new();
        let FleetReport { model, hardware, deployment, replicas, window, .. } = report;
        let telling = format!("{} of {} replicas", report.telling(), replicas.len());
        let head = format!(
            "{} on {hardware} ({deployment}), {telling}, the last {:.0} s",
            plain(model),
            window.get() / 1e3
        );
        let _ = writeln!(out, "{}\n", wrap_hanging(&head, width, "  "));
        match &report.fleet {
            Some(fleet) => figures(&mut out, report, (fleet, own_price), width),
            None => out.push_str("waiting for two pages of metrics\n"),
        }
        if let Some(words) = devices(report) {
            let _ = writeln!(out, "{words}");
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
            if let Some(waiting) = &steps.host_bound {
                let _ = writeln!(out, "{}", wrap_hanging(&waiting.to_string(), width, "  "));
            }
        }
        if replicas.len() > 1 {
            rows(&mut out, report, width);
        }
        for finding in report.findings.iter().take(NOTES) {
            let note = format!("note: {}", plain(&finding.to_string()));
            let _ = writeln!(out, "{}", wrap_hanging(&note, width, "      "));
        }
        if report.findings.len() > NOTES {
            let _ = writeln!(out, "note: and {} more", report.findings.len() - NOTES);
        }
        out.trim_end().to_owned()
    }

    /// One line, for a pipe.
    #[must_use]
    pub fn line(&self) -> String {
        let report = self.0;
        let telling = format!("{}/{} replicas", report.telling(), report.replicas.len());
        let mut words = vec![telling];
        if let Some(fleet) = &report.fleet {
            let share =
                |name: &str, share: Option<f64>| share.map(|of| format!("{name} {}", percent(of)));
            words.extend(share(share_of(fleet), fleet.headline()));
            words.extend(share("decode", fleet.headline_decode().map(|decode| decode.share)));
            words.extend(share("prefill", fleet.headline_prefill().map(|prefill| prefill.share)));
            let of_bound = fleet.even_routing.as_ref().and(fleet.share);
            words.extend(of_bound.map(|share| format!("{} of the bound", percent(share))));
            words.push(match fleet.limited_by {
                ServingLimit::Idle => "idle".to_owned(),
                limit => format!("limited by {limit}"),
            });
            words.push(format!("{} output tokens/s", number(fleet.output_tokens_per_s.get())));
            words.extend(fleet.headline_same_latency().map(|same| {
                let what = if fleet.even_routing.is_some() { EVENLY } else { "the bound" };
                let rate = number(same.output_tokens_per_s.get());
                format!("{rate} at {what} and the same TPOT")
            }));
            words.push(format!("{:.1} running", fleet.running));
            words.extend(fleet.waiting.map(|waiting| format!("{waiting:.1} waiting")));
            let cost = fleet.usd_per_million_output_tokens;
            let at = if report.assumed_price.is_some() { " at an assumed price" } else { "" };
            words.extend(cost.map(|usd| format!("{} a million output tokens{at}", dollars(usd))));
            words.extend(devices(report));
        }
        let found = report.findings.iter().map(|finding| plain(&finding.to_string()));
        let notes: String = found.map(|finding| format!("; {finding}")).collect();
        format!("{}{notes}", words.join(", "))
    }
}

/// The figures of `fleet`. Writing to a string does not fail.
fn figures(
    out: &mut String,
    report: &FleetReport,
    (fleet, own_price): (&ServingAssessment, &str),
    width: usize,
) {
    if fleet.limited_by == ServingLimit::Idle {
        out.push_str("the fleet is idle\n\n");
        return;
    }
    headline(out, report, (fleet, own_price), width);
    out.push('\n');
    // The head of a mixture of experts is a longer one.
    let (left, middle, right) =
        if fleet.even_routing.is_some() { (18, 13, 8) } else { (20, 10, 10) };
    let mut row = |name: &str, now: String, bound: String, share: Option<f64>, note: &str| {
        let share = share.map_or_else(String::new, percent);
        let line = format!("{name:<left$}{now:>10}{bound:>middle$}{share:>right$}  {note}");
        let _ = writeln!(out, "{}", line.trim_end());
    };
    let (head, bound) = match &fleet.even_routing {
        Some(even) => (EVENLY, Some(even.bound_output_tokens_per_s)),
        None => ("bound", fleet.bound_output_tokens_per_s),
    };
    row("", "now".to_owned(), head.to_owned(), None, "");
    let bound = bound.map_or_else(String::new, |of| number(of.get()));
    let now = number(fleet.output_tokens_per_s.get());
    row("output tokens/s", now, bound, fleet.headline(), "");
    if let Some(decode) = fleet.headline_decode() {
        let note = format!("batch {:.1}, {}", decode.batch, decode.limited_by);
        let [now, bound] = [decode.tpot, decode.bound_tpot].map(|ms| number(ms.get()));
        row("decode: TPOT, ms", now, bound, Some(decode.share), &note);
    }
    if let Some(prefill) = fleet.headline_prefill() {
        let note = format!("{} tokens, {}", prefill.prompt_tokens, prefill.limited_by);
        let [now, bound] = [prefill.prefill, prefill.bound].map(|ms| number(ms.get()));
        row("prefill, ms", now, bound, Some(prefill.share), &note);
    }
    if let Some(same) = fleet.headline_same_latency() {
        let cost = same.usd_per_million_output_tokens;
        let cost = cost.map_or_else(String::new, |usd| format!(", {} a million", dollars(usd)));
        let note = format!("batch {}{cost}", same.batch);
        let rate = number(same.output_tokens_per_s.get());
        row("  at the same TPOT", String::new(), rate, None, &note);
    }
    let _ = writeln!(out, "\n{}\n", wrap_hanging(&state(fleet), width, ""));
}

/// How near `fleet` comes, what that costs, what limits it, and whose price that is where nobody gave one.
fn headline(
    out: &mut String,
    report: &FleetReport,
    (fleet, own_price): (&ServingAssessment, &str),
    width: usize,
) {
    let cost = fleet
        .usd_per_million_output_tokens
        .map_or_else(String::new, |usd| format!("{} a million output tokens; ", dollars(usd)));
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
    let headline = share(fleet.headline());
    let _ = match &fleet.even_routing {
        None => writeln!(out, "{headline} of the speed of light"),
        Some(_) => writeln!(
            out,
            "{headline} of the speed of light at {EVENLY} of experts\n{} of the bound, which lets all tokens of a step agree on \
             their experts",
            share(fleet.share)
        ),
    };
    let _ = writeln!(out, "{cost}limited by: {}", fleet.limited_by);
    if let Some((price, from)) = report.usd_per_device_hour.zip(report.assumed_price.as_ref()) {
        let price = usd(price.get());
        let words = format!("assumed: ${price} a device-hour ({from}); {own_price}");
        let _ = writeln!(out, "{}", wrap_hanging(&words, width, "  "));
    }
}

/// What the devices draw; none where no page tells.
fn devices(report: &FleetReport) -> Option<String> {
    let told = report.devices?;
    let mut words = vec![format!("{} devices", told.devices)];
    words.extend(told.power.map(|power| format!("{} W", number(power.get()))));
    let each = told.joules_per_token;
    words.extend(each.map(|energy| format!("{} J a token", number(energy.get()))));
    let each = told.tokens_per_joule;
    words.extend(each.map(|tokens| format!("{} tokens a joule", number(tokens.get()))));
    Some(words.join(", "))
}

/// What runs and waits.
fn state(fleet: &ServingAssessment) -> String {
    let mut words = vec![format!("{:.1} running", fleet.running)];
    words.extend(fleet.waiting.map(|waiting| format!("{waiting:.1} waiting")));
    words.extend(fleet.kv_use.map(|share| format!("KV cache {}", percent(share))));
    words.extend(fleet.context.map(|context| {
        let how = if context.source == ContextSource::KvCache { "" } else { "about " };
        format!("context {how}{:.0}", context.tokens)
    }));
    if fleet.cached_share > 0.0 {
        words.push(format!("{} of prompts cached", percent(fleet.cached_share)));
    }
    words.extend(fleet.queue.map(|queue| format!("queue {} ms", number(queue.get()))));
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
        let address = shortened(&plain(&replica.address), left - 1);
        let Some(of) = &replica.assessment else {
            let _ = writeln!(out, "{address:<left$}{:>8}", "-");
            continue;
        };
        let share = of.headline().map_or_else(|| "-".to_owned(), percent);
        let waiting = of.waiting.map_or_else(|| "-".to_owned(), |waiting| format!("{waiting:.1}"));
        let _ = writeln!(
            out,
            "{address:<left$}{:>8.1}{waiting:>8}{:>9}{share:>7}  {}",
            of.running,
            number(of.output_tokens_per_s.get()),
            of.limited_by
        );
    }
    if report.replicas.len() > ROWS {
        let _ = writeln!(out, "and {} more", report.replicas.len() - ROWS);
    }
    out.push('\n');
}

/// What the share of a line is called.
const fn share_of(fleet: &ServingAssessment) -> &'static str {
    if fleet.even_routing.is_some() { "share at even routing" } else { "share" }
}

/// The screen has no room for the unit in letters.
fn dollars(amount: Usd) -> String {
    format!("${}", usd(amount.get()))
}
