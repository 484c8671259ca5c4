//! Where the time of passes goes, as JSON.

use fizeau_roofline::{PassTerm, PassTime};
use serde::Serialize;

use fizeau_record::JsonNumber as Number;

#[derive(Serialize)]
pub(super) struct Passes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefill: Option<Pass>,
    pub(super) decode: Pass,
}

#[derive(Serialize)]
pub(super) struct Pass {
    /// By resource: what each would take by itself; they overlap.
    bound_ms: Parts,
    /// By the resource that is waited for; they add up.
    expected_ms: Parts,
    terms: Vec<TermBlock>,
}

#[derive(Serialize)]
struct Parts {
    total: Number,
    weights: Number,
    cache: Number,
    activations: Number,
    compute: Number,
    link: Number,
    hops: Number,
}

#[derive(Serialize)]
struct TermBlock {
    part: &'static str,
    limited_by: &'static str,
    bound_ms: Number,
    expected_ms: Number,
    share: Number,
}

impl Pass {
    pub(super) fn of([bound, expected]: [PassTime; 2], terms: &[PassTerm]) -> Self {
        let waits = expected.binding;
        Self {
            bound_ms: Parts {
                total: Number::ms(bound.total),
                weights: Number::ms(bound.weights),
                cache: Number::ms(bound.cache),
                activations: Number::ms(bound.activations),
                compute: Number::ms(bound.arithmetic()),
                link: Number::ms(bound.link),
                hops: Number::ms(bound.hops),
            },
            expected_ms: Parts {
                total: Number::ms(expected.total),
                weights: Number::ms(waits.weights),
                cache: Number::ms(waits.cache),
                activations: Number::ms(waits.activations),
                compute: Number::ms(waits.compute),
                link: Number::ms(waits.link),
                hops: Number::ms(waits.hops),
            },
            terms: terms.iter().map(TermBlock::of).collect(),
        }
    }
}

impl TermBlock {
    fn of(term: &PassTerm) -> Self {
        Self {
            part: term.part.as_str(),
            limited_by: term.limit.as_str(),
            bound_ms: Number::ms(term.bound),
            expected_ms: Number::ms(term.expected),
            share: Number(term.share),
        }
    }
}
