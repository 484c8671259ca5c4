//! Levels whose pages are made up.

use fizeau_core::Bytes;
use fizeau_telemetry::{Fetch, Page};

use super::*;

mod pace;

fn at(ms: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(ms)
}

/// A source whose `pages` came at so many milliseconds.
fn source(address: &str, pages: &[(u64, &str)]) -> ScrapedPages {
    let mut report = ScrapeReport::default();
    for (ms, text) in pages {
        let page = Page::read(text.as_bytes(), None).unwrap();
        report.history.record(Fetch { requested: at(*ms), answered: at(*ms) }, &page);
    }
    ScrapedPages { address: address.to_owned(), report }
}

/// What they say of a level from the first to the ninth second, of 100 generated tokens, on so many devices.
fn said(pages: &[ScrapedPages], devices: Option<u64>) -> LevelTelemetry {
    said_beside(pages, devices, &[])
}

/// The same beside servers that are not read.
fn said_beside(pages: &[ScrapedPages], devices: Option<u64>, unread: &[String]) -> LevelTelemetry {
    let level = Window::alone(at(1_000), at(9_000));
    let devices = devices.map_or(ServingDevices::Unknown, ServingDevices::Count);
    let interval = Nanos::from_secs(1);
    let windows = TelemetryWindows { level, steady: Some(level), interval, devices, unread };
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

/// Half of the load is another server's, of which nothing is known: what this one says of itself is not what the server did.
#[test]
fn a_part_of_the_servers_does_not_pass_for_all() {
    let half = [engine("a", [0, 50])];
    let unread = ["http://b/metrics".to_owned()];
    let told = said_beside(&half, None, &unread);
    assert_eq!((&told.server, &told.steady, told.gaps), (&None, &None, ServerGaps::default()));
    let finding = TelemetryFinding::ServersUnread { addresses: unread.to_vec() };
    assert_eq!(told.findings, [finding]);
    assert!(troubles(&told)[0].starts_with("no metrics come from http://b/metrics"));
    // Where no server is read there is nothing to take for all.
    assert_eq!(said_beside(&[], None, &unread).findings, []);
}

/// One of four workers is named beside their front end: that one knows of all tokens.
#[test]
fn a_front_end_speaks_where_its_engines_are_not_all_there() {
    let told = said(&[front_end(), engine("a", [0, 25])], None);
    assert_eq!(generated(&told), Some(100.0));
    let finding = TelemetryFinding::EnginesMissing { engines: 25, front_end: 100 };
    assert!(told.findings.contains(&finding), "{:?}", told.findings);
    let all = said(&[front_end(), engine("a", [0, 101])], None);
    assert_eq!(generated(&all), Some(101.0), "tokens that no request got");
}

/// Eight GPUs of one machine, of which the first ones work.
fn gpus(busy: u32) -> ScrapedPages {
    let page = |second: u64| -> String {
        let gpu = |gpu: u32| {
            let is_busy = gpu < busy;
            let watts: u64 = if is_busy { 400 } else { 70 };
            let labels = format!("{{gpu=\"{gpu}\",UUID=\"GPU-{gpu}\"}}");
            format!(
                "DCGM_FI_DEV_GPU_UTIL{labels} {}\nDCGM_FI_DEV_POWER_USAGE{labels} {watts}.{second}\n\
                 DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{labels} {}\n",
                u64::from(is_busy) * 90,
                watts * 1_000 * second
            )
        };
        (0..8).map(gpu).collect()
    };
    let pages: Vec<(u64, String)> = (0..=10).map(|second| (second * 1_000, page(second))).collect();
    let pages: Vec<(u64, &str)> = pages.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    source("dcgm", &pages)
}

/// A machine's other GPUs do nothing: they are no part of what serves.
#[test]
fn devices_that_did_nothing_do_not_serve() {
    for serving in [None, Some(1)] {
        let told = said(&[gpus(1)], serving);
        assert_eq!(told.devices.len(), 1, "{serving:?}");
        let each = told.joules_per_token.unwrap().get();
        assert!((each - 32.0).abs() < 0.1, "400 W for 8 s and 100 tokens: {each}");
        assert_eq!(told.findings, [TelemetryFinding::IdleDevices { idle: 7, busy: 1 }]);
        assert_eq!(told.notes(), [""; 0], "it is nothing against the level");
    }
    // Nobody knows which two of three serve, nor where the second of one is.
    for (busy, serving) in [(3, 2), (1, 2)] {
        let told = said(&[gpus(busy)], Some(serving));
        assert_eq!((told.energy, told.serving_devices().len()), (None, 0), "{busy} {serving}");
    }
    assert_eq!(said(&[gpus(0)], None).joules_per_token, None);
}

/// A GPU that somebody else uses may be throttled, and what serves is not for that.
#[test]
fn other_devices_limit_nothing() {
    let page = |ns: u64| {
        let one = |gpu: u32| {
            format!("DCGM_FI_DEV_POWER_VIOLATION{{gpu=\"{gpu}\",UUID=\"GPU-{gpu}\"}} {ns}\n")
        };
        one(0) + &one(1)
    };
    let pages: Vec<(u64, String)> = (0..=10).map(|second| (second * 1_000, page(second))).collect();
    let pages: Vec<(u64, &str)> = pages.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
    let of = |serving| said(&[source("dcgm", &pages)], Some(serving)).limit();
    assert_eq!((of(1), of(2).is_some()), (None, true));
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
        assert_eq!(said.tokens_per_joule, Some(PerJoule::new(1.0)), "{own:?}");
        assert!(said.findings.is_empty(), "{:?}", said.findings);
    }
    for deployed in [1, 8] {
        let said = said(&pages, Some(deployed));
        assert_eq!((said.energy, said.joules_per_token), (None, None));
        assert_eq!(said.devices.len(), 2, "each says of itself what it took");
        assert_eq!(said.tokens_per_joule, None);
        assert_eq!(
            said.findings,
            [TelemetryFinding::OtherDevices { reported: 2, serving: deployed }]
        );
    }
}

fn troubles(said: &LevelTelemetry) -> Vec<String> {
    let bad = said.findings.iter().filter(|finding| finding.is_objection());
    assert_eq!(said.notes().len(), bad.count(), "each has its line");
    let text = serde_json::to_string(&said.findings).unwrap();
    assert_eq!(serde_json::from_str::<Vec<TelemetryFinding>>(&text).unwrap(), said.findings);
    assert!(said.notes().iter().all(|note| note.lines().count() == 1));
    said.notes()
}

/// A page at an edge of the level that stops half way hides by how much counters grew: then nothing is said of them, and nothing is held
/// against the client's count.
#[test]
fn counters_behind_the_end_of_a_page_that_stopped_half_way_are_unknown() {
    let whole = |tokens: u64| {
        format!(
            "vllm:prompt_tokens_total{{engine=\"0\"}} {tokens}\nvllm:generation_tokens_total {tokens}\n"
        )
    };
    let cut = |tokens: u64| {
        format!("vllm:prompt_tokens_total{{engine=\"0\"}} {tokens}\nvllm:generation_tok")
    };
    let of = |pages: [String; 3]| {
        let [before, within, behind] = &pages;
        let told = said(&[source("a", &[(500, before), (5_000, within), (9_500, behind)])], None);
        let server = told.server.as_ref().unwrap();
        let prompt = server.prompt_tokens.as_ref().map(|told| told.figure.delta);
        (prompt, generated(&told), troubles(&told).len())
    };
    assert_eq!(of([whole(0), cut(50), whole(100)]), (Some(100.0), Some(100.0), 1));
    assert_eq!(of([whole(0), whole(50), cut(100)]), (Some(100.0), None, 1));
    assert_eq!(of([cut(0), whole(50), whole(100)]), (Some(100.0), None, 1));
}

/// What is missing of a page for any of these reasons is said, and the rest counts.
#[test]
fn pages_that_are_not_as_they_should_be_are_told_in_one_line_each() {
    let good = "vllm:generation_tokens_total 7\n";
    let of = |last: &str| {
        let told = said(
            &[source(
                "a",
                &[(500, good), (5_000, last), (9_500, "vllm:generation_tokens_total 107\n")],
            )],
            None,
        );
        assert_eq!(generated(&told), Some(100.0), "{last}");
        troubles(&told)
    };
    assert_eq!(of("vllm:generation_tokens_total 50\n"), Vec::<String>::new());
    assert_eq!(
        of("vllm:generation_tokens_total 50\nvllm:num_requ"),
        ["a: pages that stopped half way: 1; the rest of each is missing"]
    );
    assert_eq!(
        of("vllm:generation_tokens_total NaN\nvllm:kv_cache_usage_perc NaN\n"),
        ["a: values that are no finite numbers: 2; they are left out"]
    );
    let twice = "vllm:generation_tokens_total 7\nvllm:generation_tokens_total 9\n";
    let told =
        said(&[source("a", &[(500, twice), (9_500, "vllm:generation_tokens_total 107\n")])], None);
    assert_eq!(generated(&told), Some(100.0));
    assert_eq!(
        troubles(&told),
        [
            "a: lines that repeat a series of the same page: 1, the first of them vllm:generation_tokens_total{}; the first value counts"
        ]
    );
}

#[test]
fn names_that_have_changed_are_told() {
    let renamed =
        [(500, "vllm:num_requests_running 2\nvllm:made_total 7\n"), (9_500, "vllm:made_total 9\n")];
    let told = said(&[source("a", &renamed)], None);
    assert_eq!(generated(&told), None);
    assert_eq!(
        troubles(&told),
        ["a: the metrics page of vLLM has no known series for generated tokens"]
    );
    let told = said(&[source("a", &[(500, "my_metric 1\n"), (9_500, "my_metric 2\n")])], None);
    let unknown = troubles(&told);
    assert!(
        unknown.len() == 1 && unknown[0].starts_with("a: no name on this page is known"),
        "{unknown:?}"
    );
    let none = "vllm:generation_tokens_total NaN\n";
    let told = said(&[source("a", &[(500, none), (9_500, none)])], None);
    assert_eq!(troubles(&told), ["a: values that are no finite numbers: 2; they are left out"]);
    // An exporter of devices and a front end that say what they are for are as they should be.
    let dcgm = source("dcgm", &[(500, "DCGM_FI_DEV_SM_CLOCK{gpu=\"0\",UUID=\"GPU-0\"} 1980\n")]);
    let told = said(&[dcgm, front_end(), engine("b", [0, 100])], None);
    assert_eq!(troubles(&told), Vec::<String>::new());
}

/// The level is as it was measured; what the exporter said until then stands.
#[test]
fn an_exporter_that_is_gone_in_the_midst_is_a_gap() {
    let page =
        |joules: u32| format!("DCGM_FI_DEV_POWER_USAGE{{gpu=\"0\",UUID=\"GPU-0\"}} {joules}\n");
    let mut dcgm = source("dcgm", &[(500, &page(300)), (1_500, &page(310)), (2_500, &page(320))]);
    for second in 3..10 {
        let fetch =
            Fetch { requested: at(second * 1_000 + 500), answered: at(second * 1_000 + 501) };
        dcgm.report.history.fail(fetch, "connection refused");
    }
    let told = said(&[dcgm, engine("a", [0, 100])], None);
    assert!(told.notes().contains(
        &"dcgm: 6 of 8 pages did not come, and nothing is known of that time: connection refused".to_owned()
    ), "{:?}", told.notes());
    let power = told.devices[0].power.as_ref().unwrap().figure;
    assert!(power.covered < 0.6 && power.mean > 300.0, "{power:?}");
    assert_eq!(generated(&told), Some(100.0));
}

#[test]
fn hosts_of_servers_are_told_by_the_address_of_their_exporter() {
    let page = |idle: u64, user: u64| {
        format!(
            "node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {idle}\n\
             node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\n\
             node_memory_MemAvailable_bytes 4096\n"
        )
    };
    let (before, after) = (page(100, 20), page(102, 26));
    let host = source("node", &[(1_000, &before), (9_000, &after)]);
    let told = said(&[host, engine("a", [0, 100])], None);
    assert_eq!(told.server_hosts.keys().collect::<Vec<_>>(), ["node"]);
    let host = told.server_hosts["node"];
    assert!((host.cpu_busy.unwrap() - 0.75).abs() < 1e-9, "{host:?}");
    assert_eq!(host.memory_available, Some(Bytes::new(4096.0)));
    assert_eq!(troubles(&told), Vec::<String>::new());
    let text = serde_json::to_string(&told).unwrap();
    let read: LevelTelemetry = serde_json::from_str(&text).unwrap();
    assert_eq!(read.server_hosts, told.server_hosts);
}

#[test]
fn any_metric_is_told_by_its_name() {
    let page = |count: u32, level: u32| {
        format!(
            "# TYPE queue_depth gauge\nqueue_depth{{queue=\"a\"}} {level}\nqueue_depth{{queue=\"b\"}} 1\n\
             my_own_metric_total{{of=\"x\"}} {count}\nmy_own_metric_total{{of=\"y\"}} 5\n\
             # TYPE served counter\nserved {count}\n"
        )
    };
    let (before, after) = (page(10, 3), page(42, 3));
    let pages = [source("own", &[(1_000, &before), (5_000, &before), (9_000, &after)])];
    let names = ["queue_depth", "my_own_metric", "my_own_metric_total", "served", "not_there"]
        .map(str::to_owned);
    let told = said(&pages, None).with_requested_metrics(&pages, &names, Nanos::from_secs(1));
    let values: Vec<(&str, f64)> =
        told.other_metrics.iter().map(|(name, figure)| (name.as_str(), figure.value())).collect();
    let expected = [
        ("my_own_metric", 32.0),
        ("my_own_metric_total", 32.0),
        ("queue_depth", 4.0),
        ("served", 32.0),
    ];
    assert_eq!(values, expected);
    assert_eq!(
        troubles(&told),
        ["no page has the metric not_there, which was asked for by its name"]
    );
    let text = serde_json::to_string(&told).unwrap();
    let read: LevelTelemetry = serde_json::from_str(&text).unwrap();
    assert_eq!(read.other_metrics, told.other_metrics);
}

#[test]
fn an_engine_that_is_gone_in_the_midst_is_told_with_the_reason() {
    let mut gone = engine("a", [0, 0]);
    gone.report.cost.pages = 10;
    for second in 6..9 {
        let fetch = Fetch { requested: at(second * 1_000), answered: at(second * 1_000 + 1) };
        gone.report.history.fail(fetch, "http://a: no connection");
    }
    let told = said(&[engine("b", [0, 100]), gone], None);
    let is_it = |note: &&String| note.contains(" pages of metrics did not come, ");
    let notes = troubles(&told);
    let missing: Vec<&String> = notes.iter().filter(is_it).collect();
    assert!(missing.len() == 1 && missing[0].ends_with(": http://a: no connection"), "{notes:?}");
    let before = r#"{"kind":"pages_missing","missing":5,"came":1}"#;
    let read: TelemetryFinding = serde_json::from_str(before).unwrap();
    assert!(matches!(read, TelemetryFinding::PagesMissing { answered: 1, why: None, .. }));
}

/// Pages are stamped by the run's own clock, which goes forward alone: a server whose own clock goes back gets one line.
#[test]
fn a_server_whose_clock_goes_backwards_changes_no_figure() {
    let page =
        |tokens: u64, told_at: u64| format!("vllm:generation_tokens_total {tokens} {told_at}\n");
    let pages = [
        (500, page(0, 1_700_000_009_000)),
        (5_000, page(60, 1_700_000_001_000)),
        (9_500, page(100, 5)),
    ];
    let pages = pages.each_ref().map(|(ms, text)| (*ms, text.as_str()));
    let told = said(&[source("a", &pages)], None);
    let line = "a: pages that tell an earlier time than the page before: 2; only this machine's clock is used";
    assert_eq!((generated(&told), troubles(&told)), (Some(100.0), vec![line.to_owned()]));
}

/// What keeps more load from giving more: requests put off, clocks lowered, or a cache that has no room; full is from 97 % on.
#[test]
fn what_limits_a_server_is_told_in_words() {
    let of = |peak: f64, preemptions: u64| {
        let page = |times: u64| {
            format!("vllm:kv_cache_usage_perc {peak}\nvllm:num_preemptions_total {times}\n")
        };
        let pages = [(500, page(0)), (5_000, page(0)), (9_500, page(preemptions))];
        let pages = pages.each_ref().map(|(ms, text)| (*ms, text.as_str()));
        said(&[source("a", &pages)], None).limit()
    };
    assert_eq!(of(0.96, 0), None);
    assert_eq!(of(0.97, 0).as_deref(), Some("the KV cache was 97 % full"));
    let preempted = "requests were preempted 3 times, with the KV cache 98 % full";
    assert_eq!(of(0.98, 3).as_deref(), Some(preempted), "the cache is not told twice");
    let mut both = said(&[], None);
    assert_eq!(both.limit(), None);
    let lowered =
        |device: &str| TelemetryFinding::Throttled { device: device.to_owned(), share: None };
    both.findings = vec![lowered("0"), lowered("1")];
    let words = "power or heat lowered the clocks of device 0; power or heat lowered the clocks of device 1";
    assert_eq!(both.limit().as_deref(), Some(words));
}

/// A stream of records that lost some, ended or never began has a line; one that is whole has none.
#[test]
fn what_is_missing_of_a_stream_of_passes_is_told() {
    let whole = PassSource { address: "tcp://a".to_owned(), passes: 90, ..PassSource::default() };
    let note = |change: &dyn Fn(&mut PassSource)| {
        let mut source = whole.clone();
        change(&mut source);
        said(&[], None).with_pass_sources(vec![source]).notes().join("; ")
    };
    assert_eq!(note(&|_| {}), "");
    assert_eq!(note(&|of| of.passes = 0), "no forward pass came from tcp://a");
    let lost = "10 of 100 forward-pass records of tcp://a were lost";
    assert_eq!(note(&|of| of.lost = 10), lost);
    let each = |of: &mut PassSource| (of.lost, of.unreadable, of.forgotten) = (2, 3, 5);
    assert_eq!(note(&each), lost);
    let none = |of: &mut PassSource| (of.passes, of.unreadable) = (0, 4);
    assert_eq!(note(&none), "4 of 4 forward-pass records of tcp://a were lost");
    let ended = "forward passes of tcp://a ended: refused";
    assert_eq!(note(&|of| of.failure = Some("refused".to_owned())), ended);
    let lines = |counted: u64, read: usize| {
        let source = PassSource { passes: counted, ..whole.clone() };
        said(&[], None).with_pass_sources(vec![source]).cut(0, read)
    };
    assert_eq!(lines(90, 90), [""; 0]);
    let cut = "forward-pass.jsonl was cut or edited: it has 89 of 90 lines, and those are used";
    assert_eq!(lines(90, 89), [cut]);
}

#[test]
fn a_host_that_says_nothing_is_not_there() {
    let host = |host: HostWindow| said(&[], None).with_host(host).host;
    assert_eq!(host(HostWindow::default()), None);
    let mut busy = HostWindow::default();
    busy.cpu_busy = Some(0.5);
    assert_eq!(host(busy), Some(busy));
}

/// What was kept of pages shows what the pages showed.
#[test]
fn a_level_that_is_read_again_has_the_timelines_that_it_had() {
    let power =
        |watts: u32| format!("DCGM_FI_DEV_POWER_USAGE{{gpu=\"0\",UUID=\"GPU-0\"}} {watts}\n");
    let dcgm = source("dcgm", &[(500, &power(300)), (5_500, &power(310)), (9_500, &power(320))]);
    let at_work = "dynamo_frontend_inflight_requests 4\n";
    let front = source("front", &[(500, at_work), (5_000, at_work), (9_500, at_work)]);
    let pages = [dcgm, engine("a", [0, 100]), front.clone()];
    let told = said(&pages, None);
    assert!(told.power_timelines.iter().any(|points| !points.is_empty()));
    assert_ne!(told.timeline[1], ServerTimeline::default());
    assert_eq!(told.timeline[2], ServerTimeline::default(), "its requests would be there twice");
    let alone = said(&[front], None);
    assert_ne!(alone.timeline[0], ServerTimeline::default());
    let lines: Vec<HistoryLine> = ScrapedPages::lines(&pages).collect();
    assert_eq!(told.lines, Some(lines.len() as u64));
    let mut bare = told.clone();
    (bare.timeline, bare.power_timelines) = (Vec::new(), Vec::new());
    let again = bare.with_lines(&lines);
    assert_eq!(again.timeline, told.timeline);
    assert_eq!(again.power_timelines, told.power_timelines);
    assert_eq!(told.cut(lines.len(), 0), [""; 0]);
    let cut = format!(
        "telemetry.jsonl was cut or edited: it has 1 of {} lines, and those are used",
        lines.len()
    );
    assert_eq!(told.cut(1, 0), [cut]);
}
