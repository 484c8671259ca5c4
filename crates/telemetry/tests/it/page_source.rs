//! Pages over HTTP, from a server of one test's own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use super::pages::{Ticking, at, content_type, fixtures, instant};
use fizeau_core::Nanos;
use fizeau_roofline::{Deployment, Device, KnownModel, System};
use fizeau_telemetry::{
    DeviceWindow, FetchError, FetchErrorKind, History, Labels, MetricsListener, Page, PageEnd,
    PageError, PageLimits, PageSettings, PageSource, ServerWindow, ServingAssessment, Source,
    Window, in_one_line,
};

/// Answers one request with `answer` and gives back what was asked.
fn serve(answer: Vec<u8>) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut requested = Vec::new();
        let mut piece = [0; 1024];
        while !requested.ends_with(b"\r\n\r\n") {
            let length = stream.read(&mut piece).unwrap();
            requested.extend_from_slice(&piece[..length]);
        }
        // The client may have had enough before the end.
        let _ = stream.write_all(&answer);
        String::from_utf8(requested).unwrap()
    });
    (address, thread)
}

fn reply(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

fn fetched(answer: Vec<u8>, settings: PageSettings) -> (Result<Page, FetchError>, String) {
    let (address, thread) = serve(answer);
    let page = PageSource::beside(&format!("http://{address}/v1/"), settings).page();
    (page, thread.join().unwrap())
}

/// Why `answer` is no page, which is said once in a line of it.
fn refused(answer: Vec<u8>) -> FetchErrorKind {
    let error = fetched(answer, PageSettings::default()).0.unwrap_err();
    let line = in_one_line(&error);
    assert_eq!(line.matches(&error.kind.to_string()).count(), 1, "{line}");
    error.kind
}

#[test]
fn a_page_comes_with_the_header_that_was_given() {
    let settings = PageSettings::default().header("X-Key", "opensesame");
    let (page, requested) = fetched(reply("200 OK", "", "vllm:prompt_tokens_total 7\n"), settings);
    let page = page.unwrap();
    assert_eq!(page.value("vllm:prompt_tokens_total", &Labels::default()), Some(7.0));
    assert!(requested.starts_with("GET /metrics HTTP/1.1\r\n"), "{requested}");
    assert!(requested.to_lowercase().contains("x-key: opensesame"), "{requested}");
}

#[test]
fn each_thing_that_goes_wrong_has_its_sentence() {
    assert_eq!(refused(reply("404 Not Found", "", "{}")), FetchErrorKind::NotFound);
    assert_eq!(refused(reply("401 Unauthorized", "", "")), FetchErrorKind::Refused { status: 401 });
    assert_eq!(refused(reply("500 Oops", "", "")), FetchErrorKind::Status { status: 500 });
    let elsewhere = reply("302 Found", "Location: http://127.0.0.1:1/\r\n", "");
    assert_eq!(refused(elsewhere), FetchErrorKind::Status { status: 302 });
    assert_eq!(
        refused(reply("200 OK", "", "<html></html>")),
        FetchErrorKind::Page(PageError::Html)
    );
    assert_eq!(refused(reply("200 OK", "", "")), FetchErrorKind::Page(PageError::Empty));
}

#[test]
fn a_page_longer_than_may_be_is_not_read_to_its_end() {
    let limits = PageLimits { bytes: 1 << 16, ..PageLimits::default() };
    let settings = PageSettings::default().limits(limits);
    let (page, _) = fetched(reply("200 OK", "", &"a 1\n".repeat(1 << 16)), settings);
    assert_eq!(page.unwrap_err().kind, FetchErrorKind::Page(PageError::TooLong { limit: 1 << 16 }));
    let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\na 1\n";
    let too_long = PageError::TooLong { limit: PageLimits::default().bytes };
    assert_eq!(refused(announced.to_vec()), FetchErrorKind::Page(too_long));
}

#[test]
fn a_body_that_stops_half_way_is_said_to() {
    let chunked = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na 1\nb 2";
    let (page, _) = fetched(chunked.to_vec(), PageSettings::default());
    assert_eq!(page.unwrap().notes.end, PageEnd::CutShort);
    let broken = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n";
    assert_eq!(refused(broken.to_vec()), FetchErrorKind::CutShort);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\na 1\n";
    assert_eq!(refused(chunk.to_vec()), FetchErrorKind::CutShort);
}

#[test]
fn nobody_there_and_nobody_who_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let settings = PageSettings::default().patience(Nanos::from_millis(50));
    let slow =
        PageSource::new(format!("http://me:hunter22@{address}/m?key=hunter22"), settings).page();
    let error = slow.unwrap_err();
    assert!(matches!(error.kind, FetchErrorKind::TooSlow { .. }), "{error:?}");
    drop(listener);
    let gone =
        PageSource::new(format!("http://{address}/m?key=hunter22"), PageSettings::default()).page();
    let gone = gone.unwrap_err();
    assert!(matches!(gone.kind, FetchErrorKind::Connection(_)), "{gone:?}");
    assert!(!format!("{error} {error:?} {gone} {gone:?}").contains("hunter22"));
}

#[test]
fn a_page_of_ones_own_is_there_once_it_is_set() {
    let listener = MetricsListener::start("127.0.0.1:0", Ticking::default()).unwrap();
    let url = format!("http://{}/metrics", listener.address());
    let page = || PageSource::new(&url, PageSettings::default()).page();
    assert_eq!(page().unwrap_err().kind, FetchErrorKind::Status { status: 503 });
    listener.set("up 1\n");
    assert_eq!(page().unwrap().value("up", &Labels::default()), Some(1.0));
}

#[test]
fn a_watch_takes_counts_and_sums_of_what_it_shows_and_no_buckets() {
    let body = "vllm:e2e_request_latency_seconds_count 4\n\
                vllm:request_queue_time_seconds_bucket{le=\"0.1\"} 3\n\
                vllm:request_queue_time_seconds_count 4\n\
                vllm:request_queue_time_seconds_sum 0.9\nunheard_of 1\n";
    let names = |settings| {
        let page = fetched(reply("200 OK", "", body), settings).0.unwrap();
        page.samples.iter().map(|(name, _)| name.metric.to_string()).collect::<Vec<_>>()
    };
    let [bucket, count, sum] =
        ["bucket", "count", "sum"].map(|part| format!("vllm:request_queue_time_seconds_{part}"));
    let others = "vllm:e2e_request_latency_seconds_count".to_owned();
    assert_eq!(names(PageSettings::default().assessed_only()), [count.clone(), sum.clone()]);
    assert_eq!(names(PageSettings::default().known_only()), [others, bucket, count, sum]);
}

/// The page when everything on it has grown by half.
fn grown(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((name, value)) if !line.starts_with('#') && value.parse::<f64>().is_ok() => {
            format!("{name} {:?}\n", value.parse::<f64>().unwrap() * 1.5)
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_a_watch_takes_of_a_page_is_all_that_its_figures_come_from() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let window = Window::within(at(0), at(10_000));
    let (mut assessed, mut devices) = (0, 0);
    for (name, bytes) in fixtures() {
        let first = String::from_utf8(bytes).unwrap();
        let second = if name.ends_with(".json") { first.clone() } else { grown(&first) };
        let kind = content_type(&name).unwrap_or("text/plain");
        let [watched, whole] = [PageSettings::default().assessed_only(), PageSettings::default()]
            .map(|settings| {
                let mut history = History::new();
                for (ms, body) in [(0, &first), (10_000, &second)] {
                    let answer = reply("200 OK", &format!("Content-Type: {kind}\r\n"), body);
                    history.record(instant(ms), &fetched(answer, settings.clone()).0.unwrap());
                }
                let hold = Nanos::from_secs(20);
                let server = ServerWindow::of(&history, window, hold);
                let length = window.length();
                let found = ServingAssessment::of(&server, length, &system, None);
                (
                    found.map_err(|error| error.to_string()),
                    DeviceWindow::all(&history, window, hold),
                )
            });
        assert_eq!(watched, whole, "{name}");
        assessed += u32::from(whole.0.is_ok());
        devices += whole.1.len();
    }
    assert!(assessed >= 6 && devices >= 4, "{assessed} servers, {devices} devices");
}
