//! What was measured, and on what.

use fizeau_core::{TokenSource, Tokens};
use fizeau_metrics::{Distribution, Quantile};
use fizeau_record::{ChecklistItem, EngineRecord};

use super::CheckOutcome::{Fail, Pass, Simulated, Unknown};
use super::hold;
use crate::sample;

#[test]
fn tails() {
    hold(&[
        (ChecklistItem::Tail, |_| {}, Pass, "fewest values 128"),
        (
            ChecklistItem::Tail,
            |run| {
                let ttft = &mut run.1[1].summary.metrics.ttft;
                *ttft = Distribution::default();
                (ttft.n, ttft.p99) = (40, Quantile::Withheld { needs: 100 });
            },
            Fail,
            "no p99 (at 20 requests/s): TTFT at 20 requests/s has 40 values and needs 100",
        ),
        (ChecklistItem::Tail, |run| run.1.clear(), Unknown, "nothing was measured"),
    ]);
}

#[test]
fn lengths() {
    hold(&[
        (
            ChecklistItem::Lengths,
            |_| {},
            Pass,
            "prompts 100 to 1000 tokens, outputs 20 to 200 tokens (random)",
        ),
        (
            ChecklistItem::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.output.seen.max = Some(Tokens::new(21));
                }
            },
            Fail,
            "outputs all about equally long (at every level); vary the lengths",
        ),
        (
            ChecklistItem::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.prompt.seen.max = Some(Tokens::new(100));
                }
            },
            Fail,
            "prompts always 100 tokens",
        ),
        (
            ChecklistItem::Lengths,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "prompts of unknown lengths",
        ),
    ]);
}

#[test]
fn both_phases() {
    hold(&[
        (
            ChecklistItem::Phases,
            |_| {},
            Pass,
            "prefill: TTFT p50 28.1 ms; decode: TPOT p50 6.92 ms",
        ),
        (
            ChecklistItem::Phases,
            |run| run.1[0].summary.metrics.tpot = Distribution::default(),
            Fail,
            "no TPOT: every reply is one token",
        ),
        (
            ChecklistItem::Phases,
            |run| run.1[0].summary.tokens.source = Some(TokenSource::Tokenless),
            Fail,
            "embeddings have no decode (at 10 requests/s)",
        ),
        (
            ChecklistItem::Phases,
            |run| run.1[0].summary.lengths.prompt.seen.max = Some(Tokens::new(1)),
            Fail,
            "prompts of one token",
        ),
        (
            ChecklistItem::Phases,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "prompt lengths are not known",
        ),
    ]);
}

#[test]
fn what_it_was_measured_on() {
    hold(&[
        (ChecklistItem::Hardware, |_| {}, Pass, "vLLM on 8 x H100; h100-sxm, one device"),
        (
            ChecklistItem::Hardware,
            |run| {
                run.0.engine = EngineRecord::Remote { description: None };
                run.0.hardware = None;
            },
            Fail,
            "not named: describe the engine, or name the hardware",
        ),
        (
            ChecklistItem::Hardware,
            |run| run.0.engine = sample::setup().engine,
            Simulated,
            "none, the engine was simulated",
        ),
        (ChecklistItem::Precision, |_| {}, Pass, "weights bf16, KV cache bf16"),
        (
            ChecklistItem::Precision,
            |run| run.0.precision = None,
            Fail,
            "not named: describe the precision, or name the model and the hardware",
        ),
    ]);
}
