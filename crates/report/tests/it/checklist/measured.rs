//! What was measured, and on what.

use fizeau_core::{TokenSource, Tokens};
use fizeau_metrics::{Distribution, Quantile};
use fizeau_record::{Check, Engine};

use super::CheckOutcome::{Fail, Pass, Simulated, Unknown};
use super::hold;
use crate::sample;

#[test]
fn tails() {
    hold(&[
        (Check::Tail, |_| {}, Pass, "fewest values 126"),
        (
            Check::Tail,
            |run| {
                let p99 = Quantile::Withheld { needs: 100 };
                run.1[1].summary.metrics.ttft =
                    Distribution { n: 40, p99, ..Distribution::default() };
            },
            Fail,
            "no p99 (at 20 requests/s): TTFT at 20 requests/s has 40 values, and a p99 needs 100",
        ),
        (Check::Tail, |run| run.1.clear(), Unknown, "nothing was measured"),
    ]);
}

#[test]
fn lengths() {
    hold(&[
        (
            Check::Lengths,
            |_| {},
            Pass,
            "prompts 100 to 1000 tokens, outputs 20 to 200 tokens (random)",
        ),
        (
            Check::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.output.seen.max = Some(Tokens::new(21));
                }
            },
            Fail,
            "outputs all of about one length (at every level): take a law",
        ),
        (
            Check::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.prompt.seen.max = Some(Tokens::new(100));
                }
            },
            Fail,
            "prompts always 100 tokens",
        ),
        (
            Check::Lengths,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "prompts of unknown lengths",
        ),
    ]);
}

#[test]
fn both_phases() {
    hold(&[
        (Check::Phases, |_| {}, Pass, "prefill: TTFT p50 28.1 ms; decode: TPOT p50 6.92 ms"),
        (
            Check::Phases,
            |run| run.1[0].summary.metrics.tpot = Distribution::default(),
            Fail,
            "no time per output token",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.tokens.source = Some(TokenSource::Tokenless),
            Fail,
            "embeddings have no decode (at 10 requests/s)",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.lengths.prompt.seen.max = Some(Tokens::new(1)),
            Fail,
            "prompts of one token",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "how long prompts were is not known",
        ),
    ]);
}

#[test]
fn what_it_was_measured_on() {
    hold(&[
        (Check::Hardware, |_| {}, Pass, "vLLM on 8 x H100; h100-sxm, one device"),
        (
            Check::Hardware,
            |run| {
                run.0.engine = Engine::Remote { description: None };
                run.0.hardware = None;
            },
            Fail,
            "not named: give the engine in words of your own, or the hardware",
        ),
        (
            Check::Hardware,
            |run| run.0.engine = sample::setup().engine,
            Simulated,
            "no hardware served",
        ),
        (Check::Precision, |_| {}, Pass, "weights bf16, KV cache bf16"),
        (
            Check::Precision,
            |run| run.0.precision = None,
            Fail,
            "not named: give the precision in words of your own, or the model and the hardware",
        ),
    ]);
}
