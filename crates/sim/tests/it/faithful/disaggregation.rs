//! Prefill apart from decode, against the same devices doing both.

use std::cell::RefCell;
use std::num::NonZeroU32;

use fizeau_core::{Bytes, BytesPerSec, Nanos};
use fizeau_roofline::CacheTransfer;
use fizeau_sim::{
    DisaggregatedEngine, Engine, EngineJob, Handover, ReplicaRouting, Replicas, StepLoad, StepTime,
};

use super::observe::{Seen, engine, mean, most, roomy, run, step};
use crate::support::{job, ms};
use crate::theory::chance::Draws;

/// Prompts of 3,000 tokens and answers of 60, twelve a second.
fn jobs() -> Vec<EngineJob> {
    let (mut draws, mut at) = (Draws(42), ms(0));
    let one = |id| {
        at += draws.gap(Nanos::from_millis(83));
        job(id, 3_000, 60, at)
    };
    (0..150).map(one).collect()
}

/// NVLink between the two sides.
fn handover(transfer: CacheTransfer) -> Handover {
    Handover {
        per_token: Bytes::new(131_072.0),
        per_sequence: Bytes::new(0.0),
        links: NonZeroU32::MIN,
        bandwidth: BytesPerSec::new(450e9),
        latency: Nanos::from_micros(10),
        transfer,
        layers: NonZeroU32::new(32).unwrap(),
    }
}

fn apart(transfer: CacheTransfer) -> Vec<Seen> {
    let engines = || vec![engine(roomy())];
    run(&mut DisaggregatedEngine::new(engines(), engines(), handover(transfer)).unwrap(), &jobs())
}

fn together() -> Vec<Seen> {
    let engines = vec![engine(roomy()), engine(roomy())];
    run(&mut Replicas::new(engines, ReplicaRouting::LeastInFlight).unwrap(), &jobs())
}

/// DistServe (Zhong et al., OSDI 2024, arXiv 2401.09670) and Splitwise (Patel et al., ISCA 2024, arXiv
/// 2311.18677): two devices that do both stall decoding for as long as a prompt takes; one that only
/// decodes never does.
#[test]
fn disaggregation_removes_prefill_from_tpot() {
    let (together, apart) = (together(), apart(CacheTransfer::BeforeFirstToken));
    let stall = |seen: &[Seen]| most(seen.iter().flat_map(|seen| seen.gaps[1..].iter().copied()));
    let prompt = step().step_time(&StepLoad {
        prefill_sequences: 1,
        prefill_tokens: fizeau_core::Tokens::new(3_000),
        prefill_context_tokens: fizeau_core::Tokens::new(3_000),
        prefill_pairs: 3_000 * 3_001 / 2,
        sampled_sequences: 1,
        ..StepLoad::default()
    });
    let prompt = prompt.as_secs_f64();
    assert!(stall(&together) > prompt, "{} {prompt}", stall(&together));
    assert!(stall(&apart) < 0.2 * prompt, "{} {prompt}", stall(&apart));
    let tpot = |seen: &[Seen]| mean(seen.iter().map(Seen::tpot));
    assert!(tpot(&apart) < 0.7 * tpot(&together), "{} {}", tpot(&apart), tpot(&together));
}

/// To the nanosecond: between two tokens lies one step that only decodes.
#[test]
fn a_decode_engine_only_decodes() {
    let steps = RefCell::new(Vec::new());
    let watched = |load: &StepLoad| {
        assert_eq!(load.prefill_sequences, 0, "nothing is read here");
        let length = step().step_time(load);
        steps.borrow_mut().push(length.as_secs_f64());
        length
    };
    let decode = Engine::new(roomy(), watched).unwrap();
    let to = handover(CacheTransfer::BeforeFirstToken);
    let mut apart = DisaggregatedEngine::new(vec![engine(roomy())], vec![decode], to).unwrap();
    let seen = run(&mut apart, &jobs());
    let longest = most(seen.iter().flat_map(|seen| seen.gaps[1..].iter().copied()));
    assert_eq!(longest, most(steps.borrow().iter().copied()));
}

/// Who waits for the cache is a matter of when it is sent, and layer by layer next to nobody does.
#[test]
fn the_cache_is_in_ttft_or_in_the_first_gap_or_hidden() {
    let of = |transfer| {
        let seen = apart(transfer);
        let ttft = mean(seen.iter().map(|seen| seen.ttft));
        (ttft, mean(seen.iter().map(|seen| seen.gaps[0])))
    };
    let (late, short) = of(CacheTransfer::BeforeFirstToken);
    let (early, long) = of(CacheTransfer::BeforeSecondToken);
    let (hidden, _) = of(CacheTransfer::LayerWise);
    let sending = 3_000.0 * 131_072.0 / 450e9;
    // Now and then two prompts are read in one step, and the second cache waits for the first.
    let sent = (late - early) / sending;
    assert!((1.0..2.0).contains(&sent), "{sent}");
    assert!(long > short + 0.5 * sending, "{long} {short}");
    assert!(hidden < early + 0.1 * sending, "{hidden} {early}");
}
