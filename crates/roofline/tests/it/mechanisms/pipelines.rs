//! Mechanisms over several pipeline stages: how long a lone prompt takes, and how long it keeps the stages busy.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Seconds, Tokens, UsdPerHour, Watts};
use fizeau_roofline::{
    CacheTransfer, Deployment, Disaggregation, EstimateKind, HourlyRate, PhaseSchedule, PowerDraw,
    ServingGoal, ServingNeed, System, UniformLoad,
};
use proptest::prelude::*;

use crate::fixed;
use crate::known::{at_most, device, loads, model};

fn system(stages: u32) -> System {
    let deployment = Deployment::SINGLE.with_pipeline(stages).unwrap();
    System::new(model("qwen3-32b"), device("h200-sxm"), deployment).unwrap()
}

fn load() -> UniformLoad {
    UniformLoad::new(Tokens::new(8192), Tokens::new(256), NonZeroU64::new(32).unwrap())
}

fn near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-9
}

fn apart(one: &System) -> Disaggregation<'_> {
    Disaggregation {
        prefill: one,
        prefill_instances: NonZeroU32::MIN,
        decode: one,
        decode_instances: NonZeroU32::MIN,
        link: *one.device().link().unwrap(),
        transfer: CacheTransfer::BeforeSecondToken,
    }
}

/// Stages work on parts of a prompt at the same time, whoever asks.
#[test]
fn a_bound_has_one_time_to_first_token() {
    let four = system(4);
    let bound = four.bound_figures(&load()).ttft.get();
    assert!(near(apart(&four).answer(&load()).bound.ttft.get(), bound));
    let longest = |stages| {
        let goal = ServingGoal::new([ServingNeed::Ttft(Seconds::new(0.5))]).unwrap();
        let most = Tokens::new(1 << 20);
        let found = system(stages).largest_context(EstimateKind::Bound, &load(), 1.0, &goal, most);
        found.unwrap().context.get()
    };
    assert!(2 * longest(4) > 5 * longest(1), "{} {}", longest(4), longest(1));
}

/// Four chunks through four stages take seven turns of a stage.
#[test]
fn chunks_follow_each_other_through_the_stages() {
    let load = UniformLoad { concurrency: NonZeroU64::MIN, ..load() };
    for by in EstimateKind::ALL {
        let at = |stages| {
            system(stages).chunked(by, &load, 1.0, Tokens::new(2049)).unwrap().figures.ttft.get()
        };
        let ratio = at(4) / at(1);
        assert!((0.42..0.47).contains(&ratio), "{by:?} {ratio}");
    }
}

/// The stages are busy with a prompt as long as one device would be.
#[test]
fn what_keeps_the_stages_busy() {
    let rate = HourlyRate::given(UsdPerHour::new(1.0)).unwrap();
    let draw = PowerDraw::estimate(&device("h200-sxm")).unwrap();
    let (one, four) = (system(1), system(4));
    let energy = |system: &System| {
        system.energy(EstimateKind::Bound, &load(), 32.0, &draw, Watts::new(500.0)).unwrap()
    };
    assert!(near(energy(&four).prefill_stretch, energy(&one).prefill_stretch));
    // A lone prompt needs the same energy, and has the room of four devices.
    assert!(near(4.0 * energy(&four).figures.ttft.get(), energy(&one).figures.ttft.get()));
    // As many sequences in each stage: the phases share the time as on one device.
    let share = |system: &System, batch| {
        system.cost(EstimateKind::Bound, &load(), batch, &rate).prompt_share
    };
    assert!(near(share(&four, 128.0), share(&one, 32.0)));
    let serial = |system: &System, batch| {
        system.bound_at(&load(), batch, PhaseSchedule::Serial).requests_per_s
    };
    assert!(near(serial(&four, 128.0).get(), 4.0 * serial(&one, 32.0).get()));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn the_bound_is_never_beaten(
        stages in 1_u32..=8, load in loads(), batch in 1.0..512.0, room in 64_u64..8192,
    ) {
        let system = system(stages);
        let chunked = |by| system.chunked(by, &load, batch, Tokens::new(batch as u64 + room));
        if let (Some(bound), Some(expected)) =
            (chunked(EstimateKind::Bound), chunked(EstimateKind::Expected))
        {
            prop_assert!(at_most(bound.figures.ttft.get(), expected.figures.ttft.get()));
            prop_assert!(at_most(bound.figures.step.get(), expected.figures.step.get()));
        }
        let answer = apart(&system).answer(&load);
        prop_assert!(at_most(answer.bound.ttft.get(), answer.expected.ttft.get()));
        let draw = PowerDraw::estimate(system.device()).unwrap();
        let limited = |by| system.energy(by, &load, batch, &draw, Watts::new(400.0)).unwrap().figures;
        let (bound, expected) = (limited(EstimateKind::Bound), limited(EstimateKind::Expected));
        prop_assert!(at_most(bound.ttft.get(), expected.ttft.get()));
        prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()));
        let serial = system.bound_at(&load, batch, PhaseSchedule::Serial);
        let expected = system.expected_at(&load, batch, PhaseSchedule::Serial);
        prop_assert!(at_most(serial.step.get(), expected.step.get()));
    }
}
