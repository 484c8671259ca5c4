//! A design tells more than loads at random, and of each constant nearly what all loads together would.

use fizeau_core::{Seconds, split_mix};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{CalibrationDesignError, CalibrationLoads, MOST};
use crate::calibration::constants::Constant;
use crate::{Deployment, Device, KnownModel, System};

fn loads(model: &str, tensor: u32, engine: Option<&str>) -> CalibrationLoads {
    let model = KnownModel::named(model).unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap();
    CalibrationLoads::new(&System::new(model, device, deployment).unwrap(), engine)
}

fn systems() -> [CalibrationLoads; 3] {
    [
        loads("llama-3.1-8b", 1, Some("vllm")),
        loads("qwen3-30b-a3b", 2, None),
        loads("qwen3-0.6b", 1, Some("another")).slower(20.0),
    ]
}

/// The numbers of the candidates that a design has.
fn chosen(loads: &CalibrationLoads, budget: f64) -> Vec<usize> {
    let design = loads.design(Seconds::new(budget)).unwrap();
    let of = |load| {
        (0..loads.candidates.len()).find(|at| loads.candidates[*at].designed(1.0).load == load)
    };
    design.loads.iter().map(|designed| of(designed.load).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(26), ..ProptestConfig::with_cases(40) })]

    #[test]
    fn a_design_tells_at_least_as_much_as_loads_at_random(
        of in 0_usize..3, budget in 60.0_f64..400.0, seed in any::<u64>(),
    ) {
        let loads = &systems()[of];
        let own = chosen(loads, budget);
        let time = own.iter().map(|at| loads.time(*at)).sum::<f64>();
        prop_assert!(time <= budget);
        let told = loads.information(&own).log_determinant();
        let mut state = seed;
        for _ in 0..20 {
            let (mut random, mut left) = (Vec::new(), time);
            for _ in 0..200 {
                let at = split_mix::next(&mut state) as usize % loads.candidates.len();
                let is_free = random.len() < MOST && !random.contains(&at);
                if is_free && loads.time(at) <= left {
                    left -= loads.time(at);
                    random.push(at);
                }
            }
            let other = loads.information(&random).log_determinant();
            prop_assert!(told >= other - 1e-9, "{told} of {own:?}, {other} of {random:?}");
        }
    }
}

#[test]
fn a_few_minutes_tell_of_each_constant_nearly_what_all_loads_would() {
    for (loads, times) in systems().iter().zip([1.0, 1.0, 20.0]) {
        let all: Vec<usize> = (0..loads.candidates.len()).collect();
        let of_all = loads.information(&all).deviations();
        let own = loads.information(&chosen(loads, 180.0 * times)).deviations();
        for (constant, (own, of_all)) in Constant::all().zip(own.iter().zip(of_all)) {
            assert!(*own <= 3.0 * of_all, "{constant}: {own:.3} of 1 is left, of all {of_all:.3}");
        }
    }
}

#[test]
fn the_same_question_has_the_same_design() {
    let design = |loads: CalibrationLoads| loads.design(Seconds::new(120.0)).unwrap();
    let [first, again] = [(); 2].map(|()| design(loads("llama-3.1-8b", 1, Some("vllm"))));
    assert_eq!(first, again);
    assert_eq!(first.loads[0].load.concurrency.get(), 1);
}

#[test]
fn too_short_a_time_is_refused_with_the_least() {
    for loads in systems() {
        let refused = loads.design(Seconds::new(1.0)).unwrap_err();
        let CalibrationDesignError::TooShort { least, .. } = refused else { panic!("{refused}") };
        assert!(refused.to_string().contains("the 5 smallest loads alone take"), "{refused}");
        assert_eq!(loads.design(least).unwrap().loads.len(), 5);
    }
}

#[test]
fn a_context_too_short_for_the_loads_is_refused() {
    let refused =
        systems()[0].clone().within(fizeau_core::Tokens::new(90)).design(Seconds::new(180.0));
    assert_eq!(refused, Err(CalibrationDesignError::TooFewFit { fitting: 0 }));
}
