//! What `fizeau watch` shows of a fleet, as its page has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fizeau::core::{Clock, Nanos, Stamp};
use fizeau::experiment::{SolSystems, SystemQuery};
use fizeau::record::text::percent;
use fizeau::report::Shown;
use fizeau::roofline::HourlyRate;
use fizeau::telemetry::{FleetReport, FleetSettings, FleetWatch, Page, PageError, Source};

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
fn report(model: &str) -> FleetReport {
    report_of(model, ["10.0.0.1", "10.0.0.2"])
}

/// The same at these addresses.
fn report_of(model: &str, [first, second]: [&str; 2]) -> FleetReport {
    let mut systems = SolSystems::default();
    let system = systems.get(&SystemQuery::new(model, "h100-sxm")).unwrap();
    let mut settings = FleetSettings::new(model, system.system.clone());
    settings.price = HourlyRate::given(fizeau::core::UsdPerHour::new(2.0)).ok();
    settings.interval = Nanos::from_secs(3_600);
    let (clock, mut watch) = (ByHand::default(), FleetWatch::new(settings));
    for (address, running, rate) in [(first, 24, 6), (second, 12, 3)] {
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
    let report = report("llama-3.1-8b");
    let text = Shown(&report).screen(80, "--gpu-hour is what you pay");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/watch.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut parts: Vec<&str> = page.split("```\n").collect();
    let at = parts.iter().position(|part| part.contains("of the speed of light\n$")).unwrap();
    let shown = format!("{text}\n\n{}\n", Shown(&report).line());
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        parts[at] = &shown;
        std::fs::write(path, parts.join("```\n")).unwrap();
        return;
    }
    assert_eq!(parts[at], shown, "FIZEAU_WRITE_PAGES=1 writes it");
}

/// What tells replicas apart is at the end of their addresses.
#[test]
fn rows_of_long_addresses_can_be_told_apart() {
    let host = "gpu-node-17.cluster.internal.example";
    let addresses = ["a", "b"].map(|of| format!("{host}.{of}"));
    let report = report_of("llama-3.1-8b", addresses.each_ref().map(String::as_str));
    let text = Shown(&report).screen(80, "");
    let rows = text.lines().filter(|line| line.starts_with("..."));
    let names: Vec<&str> = rows.filter_map(|row| row.split_whitespace().next()).collect();
    let [first, second] = names[..] else { panic!("{text}") };
    assert_ne!(first, second, "{text}");
}

/// The share of a mixture of experts is first that at even routing, on the screen and on the line; that of the bound stands beside it.
#[test]
fn experts_have_both_shares() {
    let report = report("gpt-oss-120b");
    let (text, line) = (Shown(&report).screen(80, ""), Shown(&report).line());
    let fleet = report.fleet.as_ref().unwrap();
    let [even, bound] = [fleet.headline(), fleet.share].map(|share| percent(share.unwrap()));
    assert_ne!(even, bound);
    for said in [
        format!("{even} of the speed of light at even routing of experts"),
        format!("{bound} of the bound"),
    ] {
        assert!(text.contains(&said), "{said}: {text}");
    }
    assert!(text.lines().any(|line| line.trim() == "now even routing"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(line.contains(&format!("share at even routing {even}")), "{line}");
    assert!(line.contains(&format!("{bound} of the bound")), "{line}");
}
