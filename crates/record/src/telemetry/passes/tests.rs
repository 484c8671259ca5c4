//! Steps of made-up engines beside their bounds.

use fizeau_core::Stamp;
use fizeau_roofline::{Deployment, Device, KnownModel, System};
use fizeau_telemetry::{ClientWindow, Window};

use super::*;
use crate::{ServingDevices, TelemetryWindows};

const SECOND: u64 = 1_000_000_000;

fn system(stages: u32) -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let deployment = Deployment::SINGLE.with_pipeline(stages).unwrap();
    System::new(model, device, deployment).unwrap()
}

/// A level of nine seconds with so many steps, each of eight sequences in 20 ms.
fn said(steps: u64) -> LevelTelemetry {
    let level = Window::alone(Stamp::from_nanos(SECOND), Stamp::from_nanos(10 * SECOND));
    let interval = fizeau_core::Nanos::from_secs(1);
    let devices = ServingDevices::Unknown;
    let windows = TelemetryWindows { level, steady: None, interval, devices, unread: &[] };
    let step = |counter: u64| -> ForwardPassLine {
        let work = serde_json::json!({"num_decode_requests": 8, "sum_decode_kv_tokens": 8000});
        let line = serde_json::json!({
            "source": 0, "at_ns": SECOND + counter, "worker_id": "a", "dp_rank": 0, "counter_id": counter,
            "wall_time": 0.02, "scheduled_requests": work, "queued_requests": {},
        });
        serde_json::from_value(line).unwrap()
    };
    LevelTelemetry::of(&[], windows, &ClientWindow::default())
        .with_passes((0..steps).map(step).collect())
}

fn beside(said: LevelTelemetry, stages: u32) -> LevelTelemetry {
    let system = system(stages);
    said.beside(LevelReference { system: &system, predictor: None }, None)
}

/// Each step took longer than it can, and what did not come of the stream is counted beside them.
#[test]
fn steps_are_held_against_their_bounds_and_the_lost_ones_are_counted() {
    let source = PassSource { passes: 3, lost: 2, forgotten: 5, ..PassSource::default() };
    let told = beside(said(3).with_pass_sources(vec![source.clone(), source]), 1);
    let steps = told.steps.unwrap();
    assert_eq!((steps.steps, steps.lost, told.judged.len()), (3, 14, 3));
    assert!((steps.wall.get() - 60.0).abs() < 1e-9, "{steps:?}");
    assert!(steps.share > 0.0 && steps.share < 1.0, "{steps:?}");
    assert_eq!(steps.decode_share, Some(steps.share));
    assert!(told.findings.is_empty(), "{:?}", told.findings);
    let none = beside(said(0), 1);
    assert_eq!((none.steps, none.judged.len()), (None, 0));
}

/// An engine of several stages times one of them, which is no step: that is found once, however often it is looked at.
#[test]
fn steps_of_one_stage_of_several_have_no_bound() {
    let told = beside(beside(said(3), 2), 2);
    assert_eq!((told.steps.clone(), told.judged.len()), (None, 0));
    assert_eq!(told.findings, [TelemetryFinding::StepsUnbounded { steps: 3, stages: 2 }]);
    assert_eq!(beside(told, 1).findings, []);
    assert_eq!(beside(said(0), 2).findings, [], "no step came");
}

/// A picture has room for two thousand: of more every second one is shown, or every third.
#[test]
fn of_many_steps_some_are_shown_evenly() {
    let shown = |steps: u64| {
        let told = beside(said(steps), 1);
        assert_eq!(told.steps.unwrap().steps, steps);
        told.judged.len()
    };
    assert_eq!([2_000, 2_001, 4_001].map(shown), [2_000, 1_001, 1_334]);
}

#[test]
fn what_the_client_counted_is_one_witness_of_the_speed() {
    let system = system(1);
    let counted = |client| {
        let reference = LevelReference { system: &system, predictor: None };
        said(3).beside(reference, client).witnesses
    };
    let client = Some((Tokens::new(9_000), PerSec::new(1e5)));
    assert!(counted(client).is_some(), "steps and the client both tell");
}
