//! Witnesses of the share of the speed of light, worked out by hand.

use fizeau_core::{Nanos, PerSec, Seconds, Tokens};
use fizeau_roofline::{Deployment, Device, KnownModel, PassSums, System};
use fizeau_telemetry::{
    Fetch, ForwardPass, ForwardPassLine, History, JudgedStep, LightWitness, Page, ScheduledWork,
    ServerWindow, SpeedWitnesses, StepsAssessment, Window, WitnessCause, WitnessInput,
};

use super::pages::at;

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
        let fetch = Fetch { asked: at(second * 1_000), answered: at(second * 1_000) };
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
