//! A fleet as text: on one screen, and on one line.

use std::fmt::Write;

use fizeau::core::Usd;
use fizeau::record::text::{number, percent, usd, wrap_hanging};
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
        Some(fleet) => figures(&mut out, report, fleet, width),
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

fn figures(out: &mut String, report: &FleetReport, fleet: &ServingAssessment, width: usize) {
    let cost = fleet
        .usd_per_million_output_tokens
        .map_or_else(String::new, |usd| format!("{} a million output tokens; ", dollars(usd)));
    let share = fleet.share.map_or_else(|| "-".to_owned(), percent);
    let _ = writeln!(out, "{share} of the speed of light");
    let _ = writeln!(out, "{cost}limited by: {}", fleet.limited_by);
    if let Some((price, from)) = report.usd_per_device_hour.zip(report.assumed_price.as_ref()) {
        let price = usd(price.get());
        let words = format!("assumed: ${price} a device-hour ({from}); --gpu-hour is what you pay");
        let _ = writeln!(out, "{}", wrap_hanging(&words, width, "  "));
    }
    out.push('\n');
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
        let [now, bound] = [decode.tpot, decode.bound_tpot].map(|ms| number(ms.get()));
        row("decode: TPOT, ms", now, bound, Some(decode.share), &note);
    }
    if let Some(prefill) = &fleet.prefill {
        let note = format!("{} tokens, {}", prefill.prompt_tokens, prefill.limited_by);
        let [now, bound] = [prefill.prefill, prefill.bound].map(|ms| number(ms.get()));
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

/// What the devices draw; none where no page tells.
fn devices(report: &FleetReport) -> Option<String> {
    let told = report.devices?;
    let mut words = vec![format!("{} devices", told.devices)];
    words.extend(told.power.map(|power| format!("{} W", number(power.get()))));
    let each = told.joules_per_token;
    words.extend(each.map(|energy| format!("{} J a token", number(energy.get()))));
    Some(words.join(", "))
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
        let address: String = printable(&replica.address).chars().take(left - 1).collect();
        let Some(of) = &replica.assessment else {
            let _ = writeln!(out, "{address:<left$}{:>8}", "-");
            continue;
        };
        let share = of.share.map_or_else(|| "-".to_owned(), percent);
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
        let at = if report.assumed_price.is_some() { " at an assumed price" } else { "" };
        words.extend(cost.map(|usd| format!("{} a million output tokens{at}", dollars(usd))));
        words.extend(devices(report));
    }
    let found = report.findings.iter().map(|finding| printable(&finding.to_string()));
    let notes: String = found.map(|finding| format!("; {finding}")).collect();
    format!("{}{notes}", words.join(", "))
}

fn dollars(amount: Usd) -> String {
    format!("${}", usd(amount.get()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use fizeau::core::{Clock, Nanos, Stamp};
    use fizeau::experiment::{SolSystems, SystemQuery};
    use fizeau::roofline::HourlyRate;
    use fizeau::telemetry::{FleetSettings, FleetWatch, Page, PageError, Source};

    use super::*;

    /// Seconds that the test lets go by.
    #[derive(Clone, Default)]
    struct ByHand(Arc<AtomicU64>);

    impl Clock for ByHand {
        fn now(&self) -> Stamp {
            Stamp::EPOCH + Nanos::from_secs(self.0.load(Ordering::SeqCst))
        }
    }

    /// A server with so many running requests, of which so many end each second; each has 1,000 tokens in and 200 out.
    struct Engine(ByHand, u64, u64);

    impl Source for Engine {
        type Error = PageError;

        fn page(&mut self) -> Result<Page, PageError> {
            let Self(clock, running, rate) = self;
            let ended = *rate * clock.0.load(Ordering::SeqCst);
            let (prompts, tokens) = (1_000 * ended, 200 * ended);
            let (steps, prefill, queue) =
                (0.018 * tokens as f64, 0.040 * ended as f64, 0.002 * ended as f64);
            let kv_use = 1_100.0 * *running as f64 / (16.0 * 24_000.0);
            let text = format!(
                "vllm:num_requests_running {running}\nvllm:num_requests_waiting 0\n\
                 vllm:kv_cache_usage_perc {kv_use}\n\
                 vllm:cache_config_info{{num_gpu_blocks=\"24000\",block_size=\"16\"}} 1\n\
                 vllm:generation_tokens_total {tokens}\nvllm:prompt_tokens_total {prompts}\n\
                 vllm:request_success_total {ended}\n\
                 vllm:inter_token_latency_seconds_count {tokens}\nvllm:inter_token_latency_seconds_sum {steps}\n\
                 vllm:request_prefill_time_seconds_count {ended}\nvllm:request_prefill_time_seconds_sum {prefill}\n\
                 vllm:request_queue_time_seconds_count {ended}\nvllm:request_queue_time_seconds_sum {queue}\n"
            );
            Page::read(text.as_bytes(), None)
        }
    }

    /// Two replicas over thirty seconds.
    fn report() -> FleetReport {
        let mut systems = SolSystems::default();
        let system = systems.get(&SystemQuery::new("llama-3.1-8b", "h100-sxm")).unwrap();
        let mut settings = FleetSettings::new("llama-3.1-8b", system.system.clone());
        settings.price = HourlyRate::given(fizeau::core::UsdPerHour::new(2.0)).ok();
        settings.interval = Nanos::from_secs(3_600);
        let (clock, mut watch) = (ByHand::default(), FleetWatch::new(settings));
        for (address, running, rate) in [("10.0.0.1", 24, 6), ("10.0.0.2", 12, 3)] {
            let engine = Engine(clock.clone(), running, rate);
            watch.add(&format!("http://{address}:8000/metrics"), engine, clock.clone()).unwrap();
        }
        for seconds in [0, 15, 15] {
            clock.0.fetch_add(seconds, Ordering::SeqCst);
            watch.ask_now(Duration::from_secs(60));
        }
        watch.report(clock.now())
    }

    /// The page shows what is printed; with `FIZEAU_WRITE_PAGES` set it is written anew.
    #[test]
    fn the_screen_is_that_of_the_page() {
        let report = report();
        let text = text(&report, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/watch.md");
        let page = std::fs::read_to_string(path).unwrap();
        let mut parts: Vec<&str> = page.split("```\n").collect();
        let at = parts.iter().position(|part| part.contains("of the speed of light\n$")).unwrap();
        let shown = format!("{text}\n\n{}\n", line(&report));
        if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
            parts[at] = &shown;
            std::fs::write(path, parts.join("```\n")).unwrap();
            return;
        }
        assert_eq!(parts[at], shown, "FIZEAU_WRITE_PAGES=1 writes it");
    }
}
