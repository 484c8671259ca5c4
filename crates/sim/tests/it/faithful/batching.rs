//! Prompts and decoding in one engine: who waits for whom.

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::{AdmissionOrder, EngineConfig, EngineJob, Policy, Priority};

use super::observe::{Seen, decode_step, engine, mean, most, roomy, run, stream};
use crate::support::{job, ms};

/// Sixteen conversations under way, and from 200 ms on a prompt of 6,000 tokens every 400 ms.
fn chats_and_documents() -> Vec<EngineJob> {
    let mut jobs = stream(0, 16, (200, 300), ms(0), Nanos::ZERO);
    jobs.extend(stream(16, 4, (6_000, 4), ms(200), Nanos::from_millis(400)));
    jobs
}

/// The mean TTFT of the documents, less the wait for the step under way, which is chance; and the longest
/// wait of the conversations between two tokens.
fn ttft_and_stall(config: EngineConfig) -> (f64, f64) {
    let seen = run(&mut engine(config), &chats_and_documents());
    let (chats, documents) = seen.split_at(16);
    let ttft = mean(documents.iter().map(|seen| seen.timing.prefill().as_secs_f64()));
    (ttft, most(chats.iter().flat_map(|seen| seen.gaps.iter().copied())))
}

fn budget(tokens: u64) -> EngineConfig {
    // The budget must let all decode.
    EngineConfig { max_batched_tokens: Tokens::new(tokens), max_num_seqs: 64, ..roomy() }
}

/// Sarathi-Serve (Agrawal et al., OSDI 2024, arXiv 2403.02310): the smaller the chunk, the shorter decoding
/// stalls, and the later a long prompt is read. Over a factor of 32 in the budget neither ever turns.
#[test]
fn chunked_prefill_trades_ttft_for_itl() {
    let both = [256, 512, 1_024, 2_048, 4_096, 8_192].map(|tokens| ttft_and_stall(budget(tokens)));
    for pair in both.windows(2) {
        let ((slow, smooth), (fast, rough)) = (pair[0], pair[1]);
        assert!(fast < slow, "TTFT falls with the budget: {both:?}");
        assert!(rough > smooth, "stalls grow with the budget: {both:?}");
    }
    let ((slow, smooth), (fast, rough)) = (both[0], both[5]);
    assert!(rough > 8.0 * smooth, "{both:?}");
    assert!(slow > 1.1 * fast, "{both:?}");
}

/// The same paper's account of its predecessors (vLLM V0, Orca): prompts first gives the best TTFT, and
/// generation stalls for as long as there is a prompt to read.
#[test]
fn prefill_first_has_the_best_ttft_and_the_worst_stalls() {
    let first = |tokens| EngineConfig { policy: Policy::PrefillFirst, ..budget(tokens) };
    let (best, worst) = ttft_and_stall(first(8_192));
    for tokens in [512, 2_048, 8_192] {
        let (ttft, stall) = ttft_and_stall(budget(tokens));
        assert!(best < ttft, "{tokens}: {best} {ttft}");
        assert!(worst > stall, "{tokens}: {worst} {stall}");
    }
    // Chunks do not help where nothing decodes between them.
    let (_, still_worst) = ttft_and_stall(first(512));
    assert!(still_worst > 0.9 * worst, "{still_worst} {worst}");
}

/// Without prompts nobody stalls: each gap is a step that only decodes.
#[test]
fn alone_a_conversation_goes_on_evenly() {
    let seen = run(&mut engine(roomy()), &stream(0, 16, (200, 300), ms(0), Nanos::ZERO));
    let longest = most(seen.iter().flat_map(|seen| seen.gaps.iter().copied()));
    assert!(longest <= decode_step(16, 500).as_secs_f64());
}

/// With two slots for twenty jobs those that may go first do, whenever they come. With order of arrival
/// they do not.
#[test]
fn the_urgent_are_served_sooner() {
    let jobs: Vec<_> = (0..20)
        .map(|id| EngineJob {
            priority: Priority(-i64::from(id >= 15)),
            ..job(id, 500, 20, ms(id))
        })
        .collect();
    let wait = |order| {
        let seen = run(&mut engine(EngineConfig { order, max_num_seqs: 2, ..roomy() }), &jobs);
        let of = |urgent: bool| {
            let those = seen.iter().filter(|seen| (seen.id >= 15) == urgent);
            mean(those.map(|seen: &Seen| seen.timing.queue().as_secs_f64()))
        };
        (of(true), of(false))
    };
    let (urgent, others) = wait(AdmissionOrder::Priority);
    let (urgent_in_turn, others_in_turn) = wait(AdmissionOrder::Arrival);
    assert!(urgent < 0.4 * others, "{urgent} {others}");
    assert!(urgent_in_turn > others_in_turn, "they came last");
    assert!(others > others_in_turn, "somebody pays for it");
}

/// A batch that is padded to a captured size costs more than it would alone, and at most what a batch of
/// that size costs.
#[test]
fn padding_costs_at_most_the_next_captured_size() {
    // So that all are read in one step, and end in one.
    const PROMPT: u64 = 30;
    let tpot = |count, prompt, captured: &[u64]| {
        let config = EngineConfig { captured: captured.to_vec(), ..roomy() };
        let seen = run(&mut engine(config), &stream(0, count, (prompt, 50), ms(0), Nanos::ZERO));
        mean(seen.iter().map(Seen::tpot))
    };
    let sizes = [4, 64, 256];
    for (count, next) in [(3, 4), (33, 64), (150, 256)] {
        let (plain, padded) = (tpot(count, PROMPT, &[]), tpot(count, PROMPT, &sizes));
        let full = tpot(next, PROMPT, &[]);
        assert!(plain <= padded && padded <= full, "{count}: {plain} {padded} {full}");
        // Exactly of that size, nothing is padded.
        assert_eq!(tpot(next, PROMPT, &sizes), full);
    }
    // Where arithmetic binds, it shows: of 512 sequences 262 are computed for nothing.
    let (plain, padded) = (tpot(250, 16, &[]), tpot(250, 16, &[512]));
    assert!(padded > 1.5 * plain, "{padded} {plain}");
}
