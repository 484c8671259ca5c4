//! Several servers, watched.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fizeau_core::{Clock, Nanos, Stamp, UsdPerHour, Watts};
use fizeau_roofline::{Deployment, Device, HourlyRate, KnownModel, System};
use fizeau_telemetry::{
    FleetFinding, FleetReport, FleetSettings, FleetWatch, Page, PageError, Source,
};

const PATIENCE: Duration = Duration::from_secs(60);

fn system() -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE).unwrap()
}

/// A clock that the test moves on by whole seconds.
#[derive(Clone, Default)]
struct ByHand(Arc<AtomicU64>);

impl ByHand {
    fn wait(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn seconds(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Clock for ByHand {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + Nanos::from_secs(self.seconds())
    }
}

/// Sixteen requests run all the time and get 1,000 tokens a second together; there as long as the switch says.
struct Engine {
    clock: ByHand,
    is_there: Arc<AtomicBool>,
}

impl Source for Engine {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        let tokens = 1_000 * self.clock.seconds();
        let text = format!("vllm:num_requests_running 16\nvllm:generation_tokens_total {tokens}\n");
        let text = if self.is_there.load(Ordering::SeqCst) { text } else { "<html>".to_owned() };
        Page::read(text.as_bytes(), None)
    }
}

/// A watch of as many engines as there are switches, after twenty seconds.
fn watched(switches: &[Arc<AtomicBool>], clock: &ByHand) -> FleetWatch {
    let mut settings = FleetSettings::new("llama-3.1-8b", system());
    settings.price = HourlyRate::given(UsdPerHour::new(2.0)).ok();
    settings.interval = Nanos::from_secs(3_600);
    let mut watch = FleetWatch::new(settings);
    for (number, is_there) in switches.iter().enumerate() {
        let (clock, is_there) = (clock.clone(), Arc::clone(is_there));
        let engine = Engine { clock: clock.clone(), is_there };
        watch.add(&format!("http://{number}/metrics"), engine, clock).unwrap();
    }
    for seconds in [0, 10, 10] {
        clock.wait(seconds);
        watch.ask_now(PATIENCE);
    }
    watch
}

fn switches(count: usize) -> Vec<Arc<AtomicBool>> {
    (0..count).map(|_| Arc::new(AtomicBool::new(true))).collect()
}

#[test]
fn replicas_are_one_fleet_and_each_itself() {
    let clock = ByHand::default();
    let watch = watched(&switches(2), &clock);
    let report = watch.report(clock.now());
    let fleet = report.fleet.as_ref().unwrap();
    assert_eq!((report.telling(), fleet.devices, fleet.running), (2, 2, 32.0));
    let each =
        |of: &fizeau_telemetry::ReplicaReport| of.assessment.as_ref().unwrap().output_tokens_per_s;
    assert!(report.replicas.iter().all(|of| (each(of).get() - 1_000.0).abs() < 1e-6));
    assert!((fleet.output_tokens_per_s.get() - 2_000.0).abs() < 1e-6);
    // A step reads the weights in 4.48 ms; a token takes 16.
    assert!((fleet.share.unwrap() - 0.28).abs() < 0.001, "{fleet:?}");
    let bounds = report.replicas.iter().map(|of| of.assessment.as_ref().unwrap());
    let bounds: f64 = bounds.map(|of| of.bound_output_tokens_per_s.unwrap().get()).sum();
    assert!((fleet.bound_output_tokens_per_s.unwrap().get() / bounds - 1.0).abs() < 1e-9);
    // Nothing on these pages says how long contexts are.
    let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().all(|line| line.contains("the length of contexts is not reported")),
        "{said:?}"
    );
    assert!(!report.is_unreached() && !report.is_foreign());
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<FleetReport>(&text).unwrap(), report);
}

/// A page of another program.
struct Foreign;

impl Source for Foreign {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        Page::read(b"up 1\n", None)
    }
}

#[test]
fn a_fleet_of_other_programs_is_not_taken_for_one_that_does_not_answer() {
    let clock = ByHand::default();
    let mut settings = FleetSettings::new("llama-3.1-8b", system());
    settings.interval = Nanos::from_secs(3_600);
    let mut watch = FleetWatch::new(settings);
    watch.add("a", Foreign, clock.clone()).unwrap();
    for seconds in [0, 10, 10] {
        clock.wait(seconds);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    assert!(report.is_foreign() && !report.is_unreached(), "{:?}", report.findings);
}

#[test]
fn a_source_is_explained_by_whoever_knows_what_helps() {
    let is_there = Arc::new(AtomicBool::new(false));
    let engine = Engine { clock: ByHand::default(), is_there: Arc::clone(&is_there) };
    let mut source = engine.explained(|error| format!("{error} (try --key)"));
    assert!(source.page().unwrap_err().to_string().ends_with(" (try --key)"));
    is_there.store(true, Ordering::SeqCst);
    assert!(source.page().is_ok());
}

#[test]
fn who_is_gone_is_a_gap_and_not_a_zero() {
    let (clock, all) = (ByHand::default(), switches(2));
    let watch = watched(&all, &clock);
    all[1].store(false, Ordering::SeqCst);
    // Hours go by without a page.
    let later = clock.now() + Nanos::from_secs(4 * 3_600);
    let silent = watch.report(later);
    assert_eq!((silent.telling(), silent.fleet), (0, None));
    let is_silent =
        |finding: &FleetFinding| matches!(finding, FleetFinding::Silent { since: Some(_), .. });
    assert!(silent.findings.iter().all(is_silent), "{:?}", silent.findings);
    // A page that did not come between others is a gap.
    clock.wait(10);
    watch.ask_now(PATIENCE);
    all[1].store(true, Ordering::SeqCst);
    clock.wait(10);
    watch.ask_now(PATIENCE);
    let back = watch.report(clock.now());
    assert_eq!(back.telling(), 2);
    let gap =
        back.findings.iter().find(|finding| matches!(finding, FleetFinding::Gap { .. })).unwrap();
    assert!(
        gap.to_string().starts_with("http://1/metrics: 1 page did not come: this is HTML"),
        "{gap}"
    );
}

/// The window of all would else be as short as what the one that came late tells of.
#[test]
fn who_has_just_come_does_not_silence_the_others() {
    let (clock, all) = (ByHand::default(), switches(2));
    all[1].store(false, Ordering::SeqCst);
    let watch = watched(&all, &clock);
    clock.wait(3_600);
    watch.ask_now(PATIENCE);
    all[1].store(true, Ordering::SeqCst);
    for _ in 0..2 {
        clock.wait(5);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    assert_eq!(report.telling(), 1, "{:?}", report.findings);
    assert!(report.window.get() > 20_000.0 && report.fleet.is_some(), "{report:?}");
    let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    let back = "http://1/metrics: its pages go back 5 s, and those of others ";
    assert!(said.iter().any(|line| line.starts_with(back)), "{said:?}");
}

#[test]
fn nothing_is_said_of_the_time_of_a_gap() {
    let clock = ByHand::default();
    let watch = watched(&switches(1), &clock);
    // Longer than values stand: what was counted then was counted nobody knows when.
    clock.wait(5 * 3_600);
    watch.ask_now(PATIENCE);
    assert_eq!(watch.report(clock.now()).telling(), 0);
    clock.wait(10);
    watch.ask_now(PATIENCE);
    let report = watch.report(clock.now());
    assert_eq!((report.telling(), report.window.get()), (1, 10_000.0));
}

/// A GPU that draws 700 W, by its exporter.
struct Gpu(ByHand);

impl Source for Gpu {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        let (name, joules) = ("{gpu=\"0\",UUID=\"GPU-0\"}", 700 * self.0.seconds());
        let text = format!(
            "DCGM_FI_DEV_POWER_USAGE{name} 700\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{name} {joules}000\n"
        );
        Page::read(text.as_bytes(), None)
    }
}

#[test]
fn a_page_of_devices_is_no_replica_and_tells_the_energy_of_a_token() {
    let clock = ByHand::default();
    let mut settings = FleetSettings::new("llama-3.1-8b", system());
    (settings.interval, settings.window) = (Nanos::from_secs(3_600), Nanos::from_secs(15));
    let mut watch = FleetWatch::new(settings);
    let engine = Engine { clock: clock.clone(), is_there: Arc::new(AtomicBool::new(true)) };
    watch.add("http://engine/metrics", engine, clock.clone()).unwrap();
    watch.add("http://gpu/metrics", Gpu(clock.clone()), clock.clone()).unwrap();
    for seconds in [0, 10, 10, 10] {
        clock.wait(seconds);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    assert_eq!((report.telling(), report.replicas.len()), (1, 1));
    let devices = report.devices.unwrap();
    assert_eq!((devices.devices, devices.power), (1, Some(Watts::new(700.0))));
    assert!((devices.joules_per_token.unwrap().get() - 0.7).abs() < 1e-9, "{devices:?}");
    assert!((devices.tokens_per_joule.unwrap().get() - 1.0 / 0.7).abs() < 1e-9, "{devices:?}");
    let series = report.to_prometheus();
    assert!(series.contains("\nfizeau_watch_device_power_watts 700\n"), "{series}");
    assert!(series.contains("\nfizeau_watch_output_tokens_per_joule 1.42"), "{series}");
}

/// A page that is always the same but for the clock: one of Dynamo's front end, or, once it is turned off, none.
struct FrontEnd {
    clock: ByHand,
    is_there: Arc<AtomicBool>,
}

impl Source for FrontEnd {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        let tokens = 1_000 * self.clock.seconds();
        let text = format!(
            "dynamo_frontend_output_tokens_total {tokens}\ndynamo_frontend_inflight_requests 16\n"
        );
        let text = if self.is_there.load(Ordering::SeqCst) { text } else { "<html>".to_owned() };
        Page::read(text.as_bytes(), None)
    }
}

#[test]
fn a_front_end_is_no_replica_beside_its_engines_and_what_dies_beside_them_is_told() {
    let (clock, is_there) = (ByHand::default(), Arc::new(AtomicBool::new(true)));
    let mut watch = watched(&switches(2), &clock);
    let front_end = FrontEnd { clock: clock.clone(), is_there: Arc::clone(&is_there) };
    watch.add("http://front-end/metrics", front_end, clock.clone()).unwrap();
    for _ in 0..3 {
        clock.wait(10);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    let fleet = report.fleet.as_ref().unwrap();
    assert_eq!((report.replicas.len(), fleet.running), (2, 32.0));
    assert!((fleet.output_tokens_per_s.get() - 2_000.0).abs() < 1e-6);
    let is_told = |finding: &FleetFinding| matches!(finding, FleetFinding::Silent { .. });
    assert!(!report.findings.iter().any(is_told), "{:?}", report.findings);

    let mut settings = FleetSettings::new("llama-3.1-8b", system());
    settings.interval = Nanos::from_secs(1);
    let mut watch = FleetWatch::new(settings);
    let engine = Engine { clock: clock.clone(), is_there: Arc::new(AtomicBool::new(true)) };
    let front_end = FrontEnd { clock: clock.clone(), is_there: Arc::clone(&is_there) };
    watch.add("http://engine/metrics", engine, clock.clone()).unwrap();
    watch.add("http://front-end/metrics", front_end, clock.clone()).unwrap();
    for second in 0..20 {
        is_there.store(second < 5, Ordering::SeqCst);
        clock.wait(1);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    let is_its = |finding: &FleetFinding| matches!(finding, FleetFinding::Silent { address, .. } if address == "http://front-end/metrics");
    assert!(report.findings.iter().any(is_its), "{:?}", report.findings);
    assert_eq!(report.telling(), 1);
}

/// An engine that says everything twice, says some of it as no number, and whose clock goes back.
struct Odd(ByHand);

impl Source for Odd {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        let (tokens, told) = (1_000 * self.0.seconds(), 1_000_000 - self.0.seconds());
        let text = format!(
            "vllm:num_requests_running 16 {told}\n\
             vllm:generation_tokens_total {tokens} {told}\n\
             vllm:generation_tokens_total {tokens} {told}\n\
             vllm:kv_cache_usage_perc NaN {told}\n"
        );
        Page::read(text.as_bytes(), None)
    }
}

#[test]
fn lines_that_are_not_as_they_should_be_are_told_and_the_rest_counts() {
    let clock = ByHand::default();
    let mut settings = FleetSettings::new("llama-3.1-8b", system());
    settings.interval = Nanos::from_secs(3_600);
    let mut watch = FleetWatch::new(settings);
    watch.add("a", Odd(clock.clone()), clock.clone()).unwrap();
    for seconds in [0, 10, 10] {
        clock.wait(seconds);
        watch.ask_now(PATIENCE);
    }
    let report = watch.report(clock.now());
    assert_eq!(report.telling(), 1);
    let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    for trouble in [
        "a: pages that tell an earlier time than the page before: ",
        "a: values that are no finite numbers: ",
        "a: lines that repeat a series of the same page: 1, the first of them vllm:generation_tokens_total",
    ] {
        let of_it = said.iter().filter(|line| line.starts_with(trouble)).count();
        assert_eq!(of_it, 1, "{trouble}: {said:?}");
    }
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<FleetReport>(&text).unwrap(), report);
}

#[test]
fn who_never_came_says_why() {
    let (clock, all) = (ByHand::default(), switches(1));
    all[0].store(false, Ordering::SeqCst);
    let report = watched(&all, &clock).report(clock.now());
    let said: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("http://0/metrics: no page yet: this is HTML"), "{said:?}");
    assert!(report.is_unreached() && !report.is_foreign());
}

/// All that the text's metrics are called.
fn names(text: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = text.match_indices("fizeau_watch_").map(|(at, _)| &text[at..]);
    starts.map(|rest| &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())]).collect()
}

#[test]
fn what_is_exported_is_a_page_of_metrics() {
    let clock = ByHand::default();
    let report = watched(&switches(1), &clock).report(clock.now());
    let text = report.to_prometheus();
    let page = Page::read(text.as_bytes(), None).unwrap();
    assert_eq!((page.notes.unreadable_lines, page.notes.duplicates), (0, 0), "{text}");
    let known: BTreeSet<&str> = FleetReport::series_names().collect();
    assert!(names(&text).is_subset(&known), "{text}");
    let share =
        page.samples.iter().find(|(name, _)| &*name.metric == "fizeau_watch_speed_of_light_ratio");
    assert_eq!(share.map(|(_, sample)| Some(sample.value)), Some(report.fleet.unwrap().share));
}

#[test]
fn dashboard_and_alerts_name_what_is_exported() {
    let known: BTreeSet<&str> = FleetReport::series_names().collect();
    for file in ["watch.json", "watch-alerts.yaml"] {
        let path = format!("{}/../../docs/grafana/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let named = names(&text);
        let unknown: Vec<_> = named.difference(&known).collect();
        assert!(unknown.is_empty() && named.len() >= 4, "{file}: {unknown:?} {named:?}");
    }
    let path = format!("{}/../../docs/grafana/watch.json", env!("CARGO_MANIFEST_DIR"));
    let dashboard: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(panel["title"].is_string() && panel["gridPos"]["w"].is_u64(), "{panel}");
        let targets = panel["targets"].as_array().unwrap();
        assert!(targets.iter().all(|target| target["expr"].is_string()), "{panel}");
    }
}
