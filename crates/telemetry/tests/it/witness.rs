//! What is said of the client's figures beside the server's.

use fizeau_core::{Millis, Nanos, Tokens};
use fizeau_telemetry::{
    ClientWindow, DeviceWindow, History, Page, ServerGaps, ServerWindow, TelemetryFinding, Window,
    findings,
};

use super::pages::{at, history};

fn server() -> ServerWindow {
    let mut history = history(&["vllm-0.txt", "vllm-1.txt", "vllm-2.txt"], 5_000);
    history.fail(super::pages::instant(6_000), "refused");
    ServerWindow::of(&history, Window::alone(at(1_000), at(9_000)), Nanos::from_secs(2))
}

fn said(client: &ClientWindow, devices: &[DeviceWindow]) -> Vec<String> {
    let found = findings(client, &server(), devices, Nanos::from_secs(1));
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Vec<TelemetryFinding>>(&text).unwrap(), found);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn tokens_that_agree_and_tokens_that_do_not() {
    let client = ClientWindow {
        prompt_tokens: Some(Tokens::new(5_000)),
        output_tokens: Some(Tokens::new(2_590)),
        failed: 2,
        ..ClientWindow::default()
    };
    let expected = [
        "client and server counted the same 5000 prompt tokens",
        "the client counted 2590 generated tokens, the server 2600; the tokens of 2 requests that failed or were cancelled may be the difference",
        "1 of 2 pages of metrics did not come, so gauges have no values for that time: refused",
        "requests were preempted 7 times, with the KV cache 70 % full",
    ];
    assert_eq!(said(&client, &[]), expected);
    // What the client does not know is no finding.
    assert_eq!(said(&ClientWindow::default(), &[]), expected[2..]);
}

#[test]
fn a_server_that_runs_more_than_the_client_sends_is_named() {
    let said =
        |most| said(&ClientWindow { most_in_flight: Some(most), ..ClientWindow::default() }, &[]);
    let expected = "vllm:num_requests_running says that 8.0 requests ran on the average, and the client had at most 2 in flight: another client, or series that count a request more than once";
    assert!(said(2).contains(&expected.to_owned()), "{:?}", said(2));
    assert_eq!(said(8), super::witness::said(&ClientWindow::default(), &[]));
}

#[test]
fn throttled_devices_are_named() {
    let history = history(&["dcgm-0.txt", "dcgm-1.txt", "dcgm-2.txt", "dcgm-3.txt"], 10_000);
    let window = Window::alone(at(5_000), at(25_000));
    let devices = DeviceWindow::all(&history, window, Nanos::from_secs(10));
    let said = said(&ClientWindow::default(), &devices);
    assert!(said.contains(
        &"power or heat lowered the clocks of device 1 of node1 for 50 % of the time".to_owned()
    ));
}

/// Counters of violations miss nothing, reasons are looked at now and then; and a device on two pages is one.
#[test]
fn throttling_that_only_a_counter_saw_is_told_once() {
    let page = |ns: u64| {
        let labels = "{gpu=\"0\",UUID=\"GPU-0\",Hostname=\"a\"}";
        let text = format!(
            "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{labels} 0\nDCGM_FI_DEV_POWER_VIOLATION{labels} {ns}\n"
        );
        Page::read(text.as_bytes(), None).unwrap()
    };
    let mut history = History::new();
    for (ms, ns) in [(0, 0), (1_000, 100), (2_000, 200), (3_000, 300)] {
        history.record(super::pages::instant(ms), &page(ns));
    }
    let window = Window::alone(at(500), at(2_500));
    let once = DeviceWindow::all(&history, window, Nanos::from_secs(1));
    assert_eq!(once[0].throttled_share(), Some(0.0));
    let lowered = |said: Vec<String>| -> Vec<String> {
        said.into_iter().filter(|line| line.contains("clocks")).collect()
    };
    let twice = [once.clone(), once].concat();
    assert_eq!(
        lowered(said(&ClientWindow::default(), &twice)),
        ["power or heat lowered the clocks of device 0 of a"]
    );
}

/// A reply that broke off leaves its tokens unknown, and those of all others are counted still.
#[test]
fn estimated_tokens_of_replies_that_broke_off_may_be_the_difference() {
    let of = |told: u64, estimated: u64, failed: u64| {
        let (output_tokens, estimated_tokens) = (Some(Tokens::new(told)), Tokens::new(estimated));
        said(
            &ClientWindow { output_tokens, estimated_tokens, failed, ..ClientWindow::default() },
            &[],
        )
        .into_iter()
        .find(|line| line.contains("generated tokens"))
    };
    let differ = "the client counted 2540 generated tokens, the server 2600; the tokens of 1 request that failed or was cancelled may be the difference";
    assert_eq!(of(2_500, 40, 1).as_deref(), Some(differ));
    assert_eq!(of(2_500, 40, 0), None, "estimates may be the difference");
    assert_eq!(of(2_590, 40, 1), None);
    assert!(of(2_700, 40, 0).is_some(), "the server counted fewer than it told of itself");
}

/// What llama.cpp's cache had is in no counter of older versions.
#[test]
fn prompts_of_which_a_part_is_counted_nowhere_are_not_compared() {
    let of = |cached: &str| {
        let page = |tokens: u64| {
            let text = format!("llamacpp:prompt_tokens_total {tokens}\n{cached}");
            Page::read(text.as_bytes(), None).unwrap()
        };
        let mut history = History::new();
        history.record(super::pages::instant(0), &page(0));
        history.record(super::pages::instant(2_000), &page(41_000));
        let server =
            ServerWindow::of(&history, Window::alone(at(0), at(2_000)), Nanos::from_secs(2));
        let client =
            ClientWindow { prompt_tokens: Some(Tokens::new(64_000)), ..ClientWindow::default() };
        findings(&client, &server, &[], Nanos::from_secs(1)).len()
    };
    assert_eq!((of(""), of("llamacpp:prompt_tokens_cached_total 0\n")), (0, 1));
}

#[test]
fn a_gauge_that_stands_still_is_stale() {
    let names = ["dcgm-0.txt"; 10];
    let history = history(&names, 1_000);
    let devices = DeviceWindow::all(&history, Window::alone(at(0), at(9_000)), Nanos::from_secs(2));
    let said = said(&ClientWindow::default(), &devices);
    let stale = "DCGM_FI_DEV_POWER_USAGE changed 0 times on 10 pages";
    assert_eq!(said.iter().filter(|line| line.starts_with(stale)).count(), 1, "of two devices");
}

#[test]
fn what_no_gauge_can_say_is_named() {
    for (value, words) in [(17.78, "says 17.78, which cannot be"), (-0.1, "says -0.10,")] {
        let mut server = server();
        server.kv_use.as_mut().unwrap().figure.mean = value;
        let found = findings(&ClientWindow::default(), &server, &[], Nanos::from_secs(1));
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|said| said.contains(words)), "{said:?}");
    }
}

#[test]
fn gaps_have_names() {
    let of = |requests| ClientWindow {
        ttft: std::iter::repeat_n(Millis::new(150.0), requests).collect(),
        ..ClientWindow::default()
    };
    let (server, client) = (server(), of(21));
    let gaps = ServerGaps::of(&client, &server);
    let ttft = gaps.ttft.unwrap();
    assert!((ttft.gap.get() - (150.0 - 2_600.0 / 21.0)).abs() < 1e-9);
    assert_eq!((gaps.tpot, gaps.e2el), (None, None));
    assert_eq!(TelemetryFinding::other_requests(&client, &server).next(), None);
    // Means of other requests are not held against each other.
    let other = of(20);
    assert_eq!(ServerGaps::of(&other, &server), ServerGaps::default());
    let words = TelemetryFinding::other_requests(&other, &server).map(|found| found.to_string());
    assert_eq!(
        words.collect::<Vec<_>>(),
        ["the client has TTFT of 20 requests, the server of 21: their gap is not known"]
    );
}
