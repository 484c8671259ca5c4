//! What tokens cost.

use std::num::NonZeroU64;

use fizeau_core::{Tokens, UsdPerHour, Watts};
use fizeau_roofline::{
    Acceptance, CostError, Drafter, EstimateKind, HourlyRate, Pass, PhaseSchedule, PowerDraw,
    PriceOrigin, Speculation, UniformLoad,
};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, model, systems};
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
    // A prompt takes 30 ms of arithmetic, of which it adds some 25 ms to the pass that reads it; a request takes 83 ms.
    assert!((0.29..0.32).contains(&cost.prompt_share), "{}", cost.prompt_share);
}

/// The bound of a cost is that of the bound's rate, for which all memory is used: 34 sequences run of the 105 that it could hold.
/// So is that of energy, and of drafts.
#[test]
fn no_use_of_the_memory_is_cheaper_than_the_bound() {
    let fp8 = model("llama-3.1-70b").with_weights(&"fp8".parse().unwrap());
    let system = single(fp8, &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(128), Tokens::new(512), NonZeroU64::new(256).unwrap());
    let running = system.running_batch(&load);
    let bound = system.bound_figures(&load);
    assert!(running < 0.5 * system.ideal_max_batch(&load).min(256.0), "{running}");
    let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;

    let rate = bound.output_tokens_per_s.get();
    let cost = system.cost(EstimateKind::Bound, &load, running, &dollars(2.0));
    let alone = cost.per_million_output_alone.low.get();
    assert!(close(alone, 2.0 / 3600.0 / rate * 1e6), "{alone}");

    let draw = PowerDraw::estimate(system.device()).unwrap();
    let energy = |limit| {
        system.energy(EstimateKind::Bound, &load, running, &draw, Watts::new(limit)).unwrap()
    };
    assert!(close(energy(1e6).figures.output_tokens_per_s.get(), rate));
    assert_eq!(energy(1e6).figures.step, bound.step);

    let lookup = Speculation::new(Acceptance::uniform(0.7).unwrap(), Drafter::Lookup);
    let none = lookup.chain(&system, EstimateKind::Bound, &load, running, 0);
    assert!(close(none.figures.output_tokens_per_s.get(), rate));
    let cost = lookup.cost(&system, EstimateKind::Bound, &load, &none, &dollars(2.0));
    assert!(close(cost.per_million_output_alone.low.get(), alone));
}

/// A prompt costs what it adds to the pass that reads it, since the weights are read there for those that decode anyway; one
/// that nobody decodes beside costs its pass.
#[test]
fn a_prompt_costs_what_it_adds_to_the_pass_that_reads_it() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(128), Tokens::new(256), NonZeroU64::new(64).unwrap());
    let share =
        |batch| system.cost(EstimateKind::Expected, &load, batch, &dollars(2.0)).prompt_share;
    let ms = |pass: &Pass| system.expected_pass(pass).total.to_millis().get();
    let request = |batch: f64| {
        let rate = system.expected_at(&load, batch, PhaseSchedule::Mixed).requests_per_s;
        1e3 / rate.get()
    };

    let alone = ms(&system.prefill_pass(&load));
    assert!((share(1.0) * request(1.0) / alone - 1.0).abs() < 1e-9, "{} {alone}", share(1.0));

    let mut beside = system.decode_pass(&load, 64.0);
    beside.decoding = 63.0;
    let mut mixed = beside;
    (mixed.prompts, mixed.positions) = (1.0, system.prefill_pass(&load).positions);
    let adds = ms(&mixed) - ms(&beside);
    assert!(adds < 0.5 * alone, "{adds} {alone}");
    assert!((share(64.0) * request(64.0) / adds - 1.0).abs() < 1e-9, "{} {adds}", share(64.0));
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
        let figures = match by {
            EstimateKind::Bound => system.bound_running(&load, batch),
            EstimateKind::Expected => system.figures_at(by, &load, batch),
        };
        let rate = figures.requests_per_s.get();
        prop_assert!((request * rate * 3600.0 / (price * devices) - 1.0).abs() < 1e-9);
        prop_assert!(cost.per_million_cached.is_none_or(|cost| cost.low.get() >= 0.0));
    }

    /// Drafts of no tokens cost what plain serving does, and whatever the draft the request costs what its devices take.
    #[test]
    fn drafts_cost_what_their_requests_take(
        system in systems(), load in loads(), by in accounts(), batch in 1.0..512.0, length in 0_u32..6,
    ) {
        let lookup = Speculation::new(Acceptance::uniform(0.7).unwrap(), Drafter::Lookup);
        let chain = |length| lookup.chain(&system, by, &load, batch, length);
        let drafted = |length| lookup.cost(&system, by, &load, &chain(length), &dollars(1.0));
        let plain = system.cost(by, &load, batch, &dollars(1.0));
        let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs().max(1e-12);
        let none = drafted(0);
        prop_assert!(close(none.prompt_share, plain.prompt_share), "{none:?} {plain:?}");
        prop_assert!(close(none.per_request.low.get(), plain.per_request.low.get()));
        let cost = drafted(length);
        let rate = chain(length).figures.requests_per_s.get();
        let devices = system.deployment().devices() as f64;
        prop_assert!(close(cost.per_request.low.get() * rate * 3600.0, devices), "{cost:?}");
        prop_assert!((0.0..=1.0).contains(&cost.prompt_share), "{cost:?}");
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
