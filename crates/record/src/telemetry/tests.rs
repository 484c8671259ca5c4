//! Levels whose pages are made up.

use fizeau_telemetry::{Fetch, Page};

use super::*;

fn at(ms: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(ms)
}

/// A source whose `pages` came at so many milliseconds.
fn source(address: &str, pages: &[(u64, &str)]) -> ScrapedPages {
    let mut report = ScrapeReport::default();
    for (ms, text) in pages {
        let page = Page::read(text.as_bytes(), None).unwrap();
        report.history.record(Fetch { asked: at(*ms), answered: at(*ms) }, &page);
    }
    ScrapedPages { address: address.to_owned(), report }
}

/// What they say of a level from the first to the ninth second, of 100 generated tokens, on so many devices.
fn said(pages: &[ScrapedPages], devices: Option<u64>) -> LevelTelemetry {
    let level = Window::alone(at(1_000), at(9_000));
    let windows = TelemetryWindows { level, steady: None, interval: Nanos::from_secs(1), devices };
    let client = ClientWindow {
        output_tokens: Some(Tokens::new(100)),
        ttft: std::iter::repeat_n(Millis::new(130.0), 10).collect(),
        ..ClientWindow::default()
    };
    LevelTelemetry::of(pages, windows, &client)
}

fn engine(address: &str, tokens: [u64; 2]) -> ScrapedPages {
    let [before, after] = tokens.map(|tokens| {
        format!("vllm:generation_tokens_total {tokens}\nvllm:num_requests_running 2\n")
    });
    let page = |second: u64| (second * 1_000 + 500, if second < 9 { &*before } else { &*after });
    source(address, &(0..10).map(page).collect::<Vec<_>>())
}

fn front_end() -> ScrapedPages {
    let page = |tokens: u64, count: u64, seconds: f64| {
        format!(
            "dynamo_frontend_output_tokens_total {tokens}\n\
             dynamo_frontend_inflight_requests 4\n\
             # TYPE dynamo_frontend_time_to_first_token_seconds histogram\n\
             dynamo_frontend_time_to_first_token_seconds_bucket{{le=\"+Inf\"}} {count}\n\
             dynamo_frontend_time_to_first_token_seconds_sum {seconds}\n\
             dynamo_frontend_time_to_first_token_seconds_count {count}\n"
        )
    };
    source("front", &[(500, &page(0, 0, 0.0)), (9_500, &page(100, 10, 1.2))])
}

fn generated(said: &LevelTelemetry) -> Option<f64> {
    Some(said.server.as_ref()?.generation_tokens.as_ref()?.figure.delta)
}

#[test]
fn a_front_end_is_not_added_to_its_engines_and_is_next_to_the_client() {
    let alone = said(&[front_end()], None);
    let both = said(&[front_end(), engine("a", [5, 65]), engine("b", [0, 40])], None);
    assert_eq!((generated(&alone), generated(&both)), (Some(100.0), Some(100.0)));
    let running = both.server.as_ref().unwrap().running.as_ref().unwrap();
    assert!((running.figure.mean - 4.0).abs() < 1e-9, "{running:?}");
    // Of ten requests 1.2 s: 120 ms by the front end, where engines say nothing of it.
    assert_eq!(alone.gaps.ttft, both.gaps.ttft);
    assert!((both.gaps.ttft.unwrap().gap.get() - 10.0).abs() < 1e-6);
    assert_eq!(both.timeline.first(), Some(&ServerTimeline::default()));
}

#[test]
fn without_a_page_between_the_warm_up_and_the_first_request_nothing_is_counted() {
    let late = |first: u64| {
        let pages = [
            (first, "vllm:generation_tokens_total 7\n"),
            (9_500, "vllm:generation_tokens_total 107\n"),
        ];
        said(&[source("a", &pages)], None)
    };
    let missing = TelemetryFinding::NoPageBefore { address: "a".to_owned() };
    assert_eq!(generated(&late(1_000)), Some(100.0));
    assert!(!late(1_000).findings.contains(&missing));
    let told = late(1_001);
    assert_eq!(generated(&told), None);
    assert_eq!(told.findings, [missing]);
    assert_eq!(told.notes().len(), 1);
}

#[test]
fn a_token_takes_no_energy_of_devices_that_are_not_measured() {
    let page = |millijoules: u64| {
        let one = |gpu| {
            format!(
                "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{gpu=\"{gpu}\",UUID=\"GPU-{gpu}\"}} {millijoules}\n"
            )
        };
        one(0) + &one(1)
    };
    let pages = [source("dcgm", &[(1_000, &page(0)), (9_000, &page(50_000))])];
    for own in [None, Some(2)] {
        let said = said(&pages, own);
        assert_eq!(said.joules_per_token, Some(Joules::new(1.0)), "{own:?}");
        assert!(said.findings.is_empty(), "{:?}", said.findings);
    }
    for deployed in [1, 8] {
        let said = said(&pages, Some(deployed));
        assert_eq!((said.energy, said.joules_per_token), (Some(Joules::new(100.0)), None));
        assert_eq!(said.findings, [TelemetryFinding::OtherDevices { told: 2, serving: deployed }]);
    }
}
