//! What tokens cost.

use std::num::NonZeroU64;

use fizeau_core::{Tokens, UsdPerHour};
use fizeau_roofline::{CostError, EstimateKind, HourlyRate, PriceOrigin, UniformLoad};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, systems};
use crate::{fixed, llama_8b, single};

fn dollars(price: f64) -> HourlyRate {
    HourlyRate::given(UsdPerHour::new(price)).unwrap()
}

/// `N price / 3600 / TPS x 10^6`: at 2 USD an hour and 1,000 tokens/s, 0.56 USD.
#[test]
fn dollars_per_million_tokens() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).unwrap());
    let cost = system.cost(EstimateKind::Expected, &load, 32.0, &dollars(2.0));
    let rate = system.expected_figures(&load).output_tokens_per_s.get();
    let by_hand = 2.0 / 3600.0 / rate * 1e6;
    assert!((cost.per_million_output_alone.low.get() / by_hand - 1.0).abs() < 1e-12);
    assert_eq!(cost.per_million_cached, None);
    // 30 ms of prefill beside 256 / 32 steps of 7.2 ms.
    assert!((0.33..0.36).contains(&cost.prompt_share), "{}", cost.prompt_share);
}

#[test]
fn a_price_says_whose_it_is() {
    let known = HourlyRate::published(&device("h100-sxm")).unwrap();
    assert!(known.low.get() < known.high.get());
    assert!(matches!(known.origin, PriceOrigin::Published { date, source, .. }
        if !date.is_empty() && !source.is_empty()));
    assert_eq!(dollars(3.0).origin, PriceOrigin::Given);
    let error = HourlyRate::published(&device("tpu-v5e")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no price is known for tpu-v5e; give one, in US dollars per device and hour"
    );
    let free = HourlyRate::given(UsdPerHour::new(0.0));
    assert_eq!(free, Err(CostError::NotAPrice { value: 0.0 }));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn tokens_of_all_kinds_come_to_the_request(
        system in systems(), load in loads(), by in accounts(), batch in 1.0..512.0, price in 0.1..20.0,
    ) {
        let cost = system.cost(by, &load, batch, &dollars(price));
        let millions = |tokens: Tokens| tokens.get() as f64 * 1e-6;
        let cached = load.cached_tokens;
        let computed = Tokens::new(load.input_tokens.get() - cached.get());
        let sum = cost.per_million_input.low.get() * millions(computed)
            + cost.per_million_cached.map_or(0.0, |cost| cost.low.get()) * millions(cached)
            + cost.per_million_output.low.get() * millions(load.output_tokens);
        let request = cost.per_request.low.get();
        prop_assert!((sum / request - 1.0).abs() < 1e-9, "{cost:?}");
        let devices = system.deployment().devices() as f64;
        let rate = system.figures_at(by, &load, batch).requests_per_s.get();
        prop_assert!((request * rate * 3600.0 / (price * devices) - 1.0).abs() < 1e-9);
        prop_assert!(cost.per_million_cached.is_none_or(|cost| cost.low.get() >= 0.0));
    }

    #[test]
    fn costs_fall_as_more_run(
        system in systems(), load in loads(), by in accounts(), few in 1.0..256.0, times in 1.0..8.0,
    ) {
        let at = |batch| system.cost(by, &load, batch, &dollars(1.0)).per_million_output_alone.high.get();
        // Whole numbers per replica and stage: a fraction of a sequence leaves others idle.
        let ways = f64::from(system.deployment().replicas() * system.deployment().pipeline());
        let groups = f64::from(system.deployment().attention_groups());
        let (few, more) = (few * ways * groups, few * times * ways * groups);
        prop_assert!(at_most(at(more), at(few)), "{} {}", at(few), at(more));
    }

    #[test]
    fn the_bound_is_never_dearer(system in systems(), load in loads(), batch in 1.0..512.0) {
        let at = |by| system.cost(by, &load, batch, &dollars(1.0)).per_request.low.get();
        prop_assert!(at_most(at(EstimateKind::Bound), at(EstimateKind::Expected)));
    }
}
