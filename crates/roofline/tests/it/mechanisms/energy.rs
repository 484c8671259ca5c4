//! Energy, and limits of power.

use std::num::NonZeroU64;

use fizeau_core::{Tokens, Watts};
use fizeau_roofline::{
    Energy, EstimateKind, LimitingResource, PowerDraw, PowerError, System, UniformLoad,
};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, systems};
use crate::{fixed, llama_8b, single};

fn draw() -> PowerDraw {
    PowerDraw {
        arithmetic: Watts::new(450.0),
        memory: Watts::new(200.0),
        link: Watts::new(30.0),
        constant: Watts::new(100.0),
    }
}

fn energy(system: &System, by: EstimateKind, load: &UniformLoad, batch: f64, limit: f64) -> Energy {
    system.energy(by, load, batch, &draw(), Watts::new(limit)).unwrap()
}

fn load() -> UniformLoad {
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).unwrap())
}

/// One sequence reads weights nearly all of the time: 200 W of memory and 100 W at rest, 4.7 ms a token.
#[test]
fn joules_of_a_token() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let one = energy(&system, EstimateKind::Expected, &load(), 1.0, 700.0);
    let watts = one.decode.get();
    assert!((290.0..310.0).contains(&watts), "{watts}");
    let joules = one.per_output_token.get();
    assert!((1.3..1.6).contains(&joules), "{joules}");
    assert!((one.tokens_per_mwh() * joules / 3.6e9 - 1.0).abs() < 1e-12);
    // Prompts draw more.
    assert!(one.prefill.get() > 500.0, "{:?}", one.prefill);
    assert_eq!(one.limited_by, system.limits(&load()));
}

#[test]
fn what_power_limits_is_said() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let limits = energy(&system, EstimateKind::Expected, &load(), 1.0, 350.0).limited_by;
    assert_eq!(
        (limits.prefill, limits.decode),
        (LimitingResource::Power, LimitingResource::Weights)
    );
}

#[test]
fn an_estimate_keeps_to_what_boards_draw() {
    for device in fizeau_roofline::Device::all() {
        let Ok(draw) = PowerDraw::estimate(device) else {
            assert_eq!(device.tdp(), None);
            continue;
        };
        let limit = device.tdp().unwrap().get();
        let all = draw.arithmetic.get() + draw.memory.get() + draw.link.get() + draw.constant.get();
        assert!((0.85..2.0).contains(&(all / limit)), "{}: {all} of {limit} W", device.name);
        let per_byte = draw.memory.get() / device.memory_bandwidth().get();
        assert!((per_byte / 62.4e-12 - 1.0).abs() < 1e-9);
    }
    let error = PowerDraw::estimate(&device("tpu-v5e")).unwrap_err();
    assert!(matches!(&error, PowerError::NoLimit { device } if device == "tpu-v5e"), "{error}");
}

#[test]
fn a_limit_below_the_constant_draw_is_refused() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let limit = Watts::new(100.0);
    let error = system.energy(EstimateKind::Bound, &load(), 1.0, &draw(), limit).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the power limit is 100 W; it must be above the 100 W that the device draws at rest"
    );
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_limit_never_speeds_up(
        system in systems(), load in loads(), by in accounts(), batch in 1.0..512.0,
        low in 110.0..900.0, more in 0.0..500.0,
    ) {
        let (less, more) = (
            energy(&system, by, &load, batch, low),
            energy(&system, by, &load, batch, low + more),
        );
        let free = match by {
            EstimateKind::Bound => system.bound_running(&load, batch),
            EstimateKind::Expected => system.figures_at(by, &load, batch),
        };
        for (slow, fast) in [(less.figures, more.figures), (more.figures, free)] {
            prop_assert!(at_most(fast.ttft.get(), slow.ttft.get()));
            prop_assert!(at_most(fast.step.get(), slow.step.get()));
            prop_assert!(at_most(slow.requests_per_s.get(), fast.requests_per_s.get()));
        }
        prop_assert!(at_most(1.0, less.prefill_stretch) && at_most(1.0, less.decode_stretch));
    }

    #[test]
    fn no_device_draws_more_than_its_limit(
        system in systems(), load in loads(), by in accounts(), batch in 1.0..512.0, limit in 110.0..900.0,
    ) {
        let energy = energy(&system, by, &load, batch, limit);
        prop_assert!(at_most(energy.prefill.get(), limit), "{energy:?}");
        prop_assert!(at_most(energy.decode.get(), limit), "{energy:?}");
        prop_assert!(at_most(energy.mean.get(), limit), "{energy:?}");
        prop_assert!(at_most(100.0, energy.mean.get()), "{energy:?}");
    }

    #[test]
    fn the_bound_is_never_slower_under_a_limit(
        system in systems(), load in loads(), batch in 1.0..512.0, limit in 110.0..900.0,
    ) {
        let at = |by| energy(&system, by, &load, batch, limit).figures;
        let (bound, expected) = (at(EstimateKind::Bound), at(EstimateKind::Expected));
        prop_assert!(at_most(bound.step.get(), expected.step.get()));
        prop_assert!(at_most(bound.ttft.get(), expected.ttft.get()));
        prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()));
    }
}
