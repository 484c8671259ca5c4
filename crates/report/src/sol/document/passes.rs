//! Where the time of passes goes, as JSON.

use fizeau_core::{Seconds, document};
use fizeau_roofline::{Binding, PassTerm, PassTime};
use serde::Serialize;

use fizeau_record::JsonNumber as Number;

#[derive(Serialize)]
pub(super) struct Passes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefill: Option<Pass>,
    pub(super) decode: Pass,
}

document! {
    pub(super) view Pass, pub(super) fn of(times: [PassTime; 2], all: &[PassTerm]) {
        let [bound, expected] = times;
    } {
        /// By resource: what each would take by itself; they overlap.
        bound_ms: Parts = Parts::of_bound(&bound),
        /// By the resource that is waited for; they add up.
        expected_ms: Parts = Parts::of_waits(expected.total, &expected.binding),
        terms: Vec<TermBlock> = all.iter().map(TermBlock::from).collect(),
    }
}

document! {
    view Parts, fn of_bound(bound: &PassTime) {} {
        total: Number = Number::ms(bound.total),
        weights: Number = Number::ms(bound.weights),
        cache: Number = Number::ms(bound.cache),
        activations: Number = Number::ms(bound.activations),
        compute: Number = Number::ms(bound.arithmetic()),
        link: Number = Number::ms(bound.link),
        hops: Number = Number::ms(bound.hops),
    }
}

impl Parts {
    fn of_waits(total: Seconds, waits: &Binding) -> Self {
        Self {
            total: Number::ms(total),
            weights: Number::ms(waits.weights),
            cache: Number::ms(waits.cache),
            activations: Number::ms(waits.activations),
            compute: Number::ms(waits.compute),
            link: Number::ms(waits.link),
            hops: Number::ms(waits.hops),
        }
    }
}

document! {
    view TermBlock, from |term: &PassTerm| {} {
        part: &'static str = term.part.as_str(),
        limited_by: &'static str = term.limit.as_str(),
        bound_ms: Number = Number::ms(term.bound),
        expected_ms: Number = Number::ms(term.expected),
        share: Number = Number(term.share),
    }
}
