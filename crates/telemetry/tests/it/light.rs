//! Witnesses of the share of the speed of light, worked out by hand.

use std::convert::Infallible;
use std::time::Duration;

use fizeau_core::{Nanos, PerSec, Seconds, Tokens};
use fizeau_roofline::{Deployment, Device, KnownModel, PassSums, System};
use fizeau_telemetry::{
    DeviceWindow, Exporter, Fetch, ForwardPass, ForwardPassLine, History, JudgedStep, Labels,
    LightWitness, MetricKind, Page, Sample, ScheduledWork, ScrapeSettings, Scraper, SeriesName,
    ServerWindow, Source, SpeedWitnesses, StepsAssessment, Window, WitnessCause, WitnessInput,
};

use super::pages::{Ticking, at};

fn system() -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE).unwrap()
}

/// Eight sequences that decode, at half of their bound.
fn pass(system: &System) -> ForwardPass {
    let scheduled_requests = ScheduledWork {
        num_decode_requests: 8,
        sum_decode_kv_tokens: 4_096,
        ..ScheduledWork::default()
    };
    let bound = system.bound_sums(&scheduled_requests.even_sums()).total;
    ForwardPass { wall_time: bound * 2.0, scheduled_requests, ..ForwardPass::default() }
}

/// What an engine's counters say over 10 seconds in which its devices worked for `share` of them, counted so many times over.
fn server(system: &System, share: f64, times: f64, more: &str) -> ServerWindow {
    let mut history = History::new();
    let bytes = system.device().memory_bandwidth().get() * 10.0 * share * times;
    for (second, read) in [(0, 0.0), (10, bytes)] {
        let drafts = if second == 0 { more.replace("=9", "=0") } else { more.to_owned() };
        let page = format!(
            "vllm:estimated_read_bytes_per_gpu_total {}\n\
             vllm:estimated_write_bytes_per_gpu_total {}\n\
             vllm:estimated_flops_per_gpu_total {}\n{}",
            read * 0.75,
            read * 0.25,
            read,
            drafts.replace('=', " ")
        );
        let fetch = Fetch { requested: at(second * 1_000), answered: at(second * 1_000) };
        history.record(fetch, &Page::read(page.as_bytes(), None).unwrap());
    }
    ServerWindow::of(&history, Window::alone(at(0), at(10_000)), Nanos::from_secs(2))
}

/// Steps that fill half of ten seconds, at half of their bounds.
fn steps(system: &System, lost: u64) -> StepsAssessment {
    let pass = pass(system);
    let count = (5.0 / pass.wall_time.get()) as usize;
    let judged = vec![JudgedStep::of(at(1), &pass, system); count];
    StepsAssessment::of_judged(&judged, lost).unwrap()
}

fn heard(system: &System, server: &ServerWindow, steps: &StepsAssessment) -> SpeedWitnesses {
    let input = WitnessInput {
        length: Seconds::new(10.0),
        system,
        client: Some((Tokens::new(2_500), PerSec::new(1_000.0))),
        server: Some(server),
        devices: &[],
        steps: Some(steps),
    };
    SpeedWitnesses::of(&input).unwrap()
}

#[test]
fn witnesses_that_count_the_same_work_agree() {
    let system = system();
    let told = heard(&system, &server(&system, 0.25, 1.0, ""), &steps(&system, 0));
    for told in &told.shares {
        assert!((told.share - 0.25).abs() < 2e-3, "{told:?}");
        assert!(told.low <= told.share && told.share <= told.high);
    }
    assert_eq!(told.shares.len(), 3);
    assert!((told.idle.unwrap() - 0.5).abs() < 2e-3);
    assert_eq!(told.disagreements, []);
}

#[test]
fn a_disagreement_has_its_cause() {
    let system = system();
    let cause = |times, more: &str| {
        let told = heard(&system, &server(&system, 0.25, times, more), &steps(&system, 0));
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<SpeedWitnesses>(&text).unwrap(), told);
        told.disagreements.iter().map(|one| (one.higher, one.cause)).collect::<Vec<_>>()
    };
    let counters = LightWitness::EngineCounters;
    assert_eq!(cause(2.0, ""), [(counters, WitnessCause::DeviceCount)]);
    assert_eq!(
        cause(1.4, "vllm:spec_decode_num_draft_tokens_total=9\n"),
        [(counters, WitnessCause::DraftsBookedAsPrefill)]
    );
    assert_eq!(cause(1.4, ""), [(counters, WitnessCause::Unknown)]);
    assert_eq!(cause(1.03, ""), []);
}

#[test]
fn lost_records_widen_what_steps_say_and_the_client_alone_is_no_witness() {
    let system = system();
    let server = server(&system, 0.25, 1.0, "");
    let all = heard(&system, &server, &steps(&system, 0));
    let some = heard(&system, &server, &steps(&system, 100));
    let of = |told: &SpeedWitnesses| told.share_of(LightWitness::ForwardPasses).unwrap();
    assert!(of(&some).high > of(&all).high && of(&some).low == of(&all).low);
    assert_eq!(some.idle, None);
    let nobody = WitnessInput {
        length: Seconds::new(10.0),
        system: &system,
        client: Some((Tokens::new(2_500), PerSec::new(1_000.0))),
        server: None,
        devices: &[],
        steps: None,
    };
    assert_eq!(SpeedWitnesses::of(&nobody), None);
}

/// What an engine counts of a batch of which it knows all is what the bound needs of it, for a dense model in one format.
#[test]
fn work_counted_is_the_bound() {
    let system = system();
    let sums = PassSums { decoding: 8.0, context: 4_096.0, ..PassSums::default() };
    let (work, bound) = (system.pass_work(&sums), system.bound_sums(&sums));
    let memory = work.bytes.get() / system.device().memory_bandwidth().get();
    assert!((memory / bound.memory().get() - 1.0).abs() < 1e-9);
    let arithmetic = work.flops.get() / system.matrix_rate().get();
    assert!((arithmetic / bound.arithmetic().get() - 1.0).abs() < 1e-9);
    assert!(work.written < work.bytes);
}

#[test]
fn a_line_is_written_and_read() {
    let line = ForwardPassLine { source: 1, at: at(7), pass: pass(&system()) };
    let text = serde_json::to_string(&line).unwrap();
    assert!(text.starts_with(r#"{"source":1,"at_ns":"#), "{text}");
    assert_eq!(serde_json::from_str::<ForwardPassLine>(&text).unwrap(), line);
    // It is a record too, for whoever fits on records.
    assert_eq!(serde_json::from_str::<ForwardPass>(&text).unwrap(), line.pass);
}

/// What devices say of the same load, of which the client and the steps know a quarter.
fn beside_devices(system: &System, devices: &[DeviceWindow], length: Seconds) -> SpeedWitnesses {
    let input = WitnessInput {
        length,
        system,
        client: Some((Tokens::new((250.0 * length.get()) as u64), PerSec::new(1_000.0))),
        server: None,
        devices,
        steps: None,
    };
    SpeedWitnesses::of(&input).unwrap()
}

/// Ten seconds of two GPUs by dcgm-exporter, a page a second, on which DRAM and tensor pipes go up and down by this much around these means.
fn exporter(dram: f64, tensor: f64, by: f64) -> Vec<DeviceWindow> {
    let mut history = History::new();
    for second in 0..=10 {
        let by = if second % 2 == 0 { -by } else { by };
        let of = |gpu: u32| {
            // The second GPU is a tenth busier.
            let (dram, tensor) = (dram + by + 0.1 * f64::from(gpu), tensor + by);
            format!(
                "DCGM_FI_PROF_DRAM_ACTIVE{{gpu=\"{gpu}\",UUID=\"GPU-{gpu}\"}} {dram}\n\
                 DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{gpu=\"{gpu}\",UUID=\"GPU-{gpu}\"}} {tensor}\n"
            )
        };
        let fetch = Fetch { requested: at(second * 1_000), answered: at(second * 1_000) };
        history.record(fetch, &Page::read((of(0) + &of(1)).as_bytes(), None).unwrap());
    }
    DeviceWindow::all(&history, Window::within(at(0), at(10_000)), Nanos::from_secs(2))
}

#[test]
fn the_devices_own_activity_is_a_witness_with_a_range() {
    let (system, length) = (system(), Seconds::new(10.0));
    let told = beside_devices(&system, &exporter(0.6, 0.05, 0.01), length);
    let said = told.share_of(LightWitness::DeviceActivity).unwrap();
    // The mean of both GPUs is 0.65. A value may be as old as the time to the next, a tenth of the level; and tensor pipes may have worked
    // while memory did not.
    assert!((said.share - 0.65).abs() < 1e-9, "{said:?}");
    assert!((said.low - 0.65 * 0.9).abs() < 1e-9, "{said:?}");
    assert!((said.high - (0.65 + 0.05) * 1.1).abs() < 1e-9, "{said:?}");
    let [differ] = &told.disagreements[..] else { panic!("{told:?}") };
    let (devices, client) = (LightWitness::DeviceActivity, LightWitness::ClientThroughput);
    assert_eq!((differ.higher, differ.lower), (devices, client));
    assert_eq!(differ.cause, WitnessCause::UncountedWork);
    assert_eq!(
        differ.to_string(),
        "by the devices' activity the share of the speed of light is 2.60 times that by the client's throughput: devices do what the other \
         does not count: activations, padding, or another program"
    );
}

#[test]
fn devices_agree_where_they_are_as_busy_and_where_nobody_looked_often_enough() {
    let (system, length) = (system(), Seconds::new(10.0));
    // A quarter, by DRAM or by the tensor pipes, whichever are busier.
    for (dram, tensor) in [(0.2, 0.05), (0.1, 0.25)] {
        let told = beside_devices(&system, &exporter(dram, tensor, 0.01), length);
        let said = told.share_of(LightWitness::DeviceActivity).unwrap();
        assert!((said.share - 0.25).abs() < 1e-9, "{said:?}");
        assert_eq!(told.disagreements, []);
    }
    // An exporter that looks every 30 s shows one value all along: it may be of another time.
    let told = beside_devices(&system, &exporter(0.6, 0.05, 0.0), length);
    let said = told.share_of(LightWitness::DeviceActivity).unwrap();
    assert!((said.share - 0.65).abs() < 1e-9 && said.low == 0.0, "{said:?}");
    assert_eq!(told.disagreements, []);
}

/// A device by NVIDIA's own library, as far as a program's own source can say it: the monitors of its performance, in percent.
struct Monitors(u32);

impl Source for Monitors {
    type Error = Infallible;

    fn page(&mut self) -> Result<Page, Infallible> {
        self.0 += 1;
        let dram = if self.0.is_multiple_of(2) { 60.0 } else { 64.0 };
        let mut page = Page::default();
        for (metric, value) in [("nvml_gpm_dram_bw_util", dram), ("nvml_gpm_any_tensor_util", 5.0)]
        {
            let name = SeriesName::new(metric, Labels::new([("gpu", "0"), ("UUID", "GPU-0")]));
            page.kinds.insert(name.metric.clone(), MetricKind::Gauge);
            page.samples.insert(name, Sample { value, told_at_unix_ms: None });
        }
        Ok(page)
    }
}

#[test]
fn a_source_of_ones_own_tells_what_the_device_s_library_would() {
    let settings =
        ScrapeSettings { interval: Nanos::from_secs(3_600), ..ScrapeSettings::default() };
    let scraper = Scraper::start(Monitors(0), Ticking::default(), settings).unwrap();
    for _ in 0..40 {
        assert!(scraper.scrape_now(Duration::from_secs(60)));
    }
    let history = scraper.stop().history;
    assert_eq!(Exporter::of_history(&history), Some(Exporter::Nvml));
    let fetches: Vec<Fetch> = history.fetches().collect();
    let (from, to) = (fetches[0].requested, fetches[fetches.len() - 1].answered);
    let devices = DeviceWindow::all(&history, Window::within(from, to), Nanos::from_secs(1));
    assert_eq!(devices[0].dram_active.as_ref().unwrap().metric, "nvml_gpm_dram_bw_util");
    let length = Seconds::new(to.saturating_since(from).as_secs_f64());
    let told = beside_devices(&system(), &devices, length);
    let said = told.share_of(LightWitness::DeviceActivity).unwrap();
    assert!((0.6..=0.64).contains(&said.share), "{said:?}");
    // Each page has another value, so that it is as sure as forty of them can be.
    assert!(said.low > 0.55 && said.low < said.share && said.high > said.share, "{said:?}");
    let [differ] = &told.disagreements[..] else { panic!("{told:?}") };
    assert_eq!(
        (differ.higher, differ.cause),
        (LightWitness::DeviceActivity, WitnessCause::UncountedWork)
    );
}
