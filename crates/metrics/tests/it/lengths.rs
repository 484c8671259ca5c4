//! Lengths asked for and seen.

use fizeau_core::{FailureClass, Tape, TokenSource, Tokens, Usage};
use fizeau_metrics::{GoodputGoals, LengthChecks, LevelSummary};
use proptest::prelude::*;

use crate::tapes::{failed, tape};

/// A request whose prompt was asked to have `requested` tokens and had `seen` for the server, with two tokens of output.
pub(crate) fn prompt(requested: Option<u64>, seen: Option<u64>) -> Tape {
    let mut tape = tape(0, &[(20, 1), (30, 1)]);
    tape.requested.input_tokens = requested.map(Tokens::new);
    tape.requested.output_tokens = Tokens::new(2);
    tape.usage = Some(Usage { prompt_tokens: seen.map(Tokens::new), ..Usage::default() });
    tape
}

fn lengths(tapes: &[Tape]) -> LengthChecks {
    LevelSummary::of(tapes, &GoodputGoals::default()).lengths
}

#[test]
fn asked_and_seen_prompts_stand_side_by_side() {
    let tapes: Vec<Tape> = (1..=11).map(|k| prompt(Some(10 * k), Some(10 * k + 3))).collect();
    let found = lengths(&tapes).prompt;
    let (requested, seen) = (found.requested, found.seen);
    assert_eq!((requested.n, requested.mean, requested.p99), (11, Some(60.0), None));
    assert_eq!(
        (requested.p10, requested.p50, requested.p90),
        (Some(20.0), Some(60.0), Some(100.0))
    );
    assert_eq!((requested.min, requested.max), (Some(Tokens::new(10)), Some(Tokens::new(110))));
    assert_eq!((seen.mean, seen.p50), (Some(63.0), Some(63.0)));
    let difference = found.difference.unwrap();
    assert_eq!((difference.constant(), difference.share()), (Some(3), Some(0.05)));
    assert_eq!(difference.past_one_percent, 11);
}

#[test]
fn each_difference_falls_into_its_bucket() {
    let edges = [-65, -64, -17, -16, -5, -4, -2, -1, 0, 1, 2, 4, 5, 16, 17, 64, 65];
    let tapes: Vec<Tape> =
        edges.iter().map(|off| prompt(Some(1000), Some((1000 + off) as u64))).collect();
    let difference = lengths(&tapes).prompt.difference.unwrap();
    assert_eq!(difference.histogram, [1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1]);
    assert_eq!((difference.min, difference.max, difference.constant()), (-65, 65, None));
    // 16, 17, 64 and 65 are more than a hundredth of 1000, on either side.
    assert_eq!(difference.past_one_percent, 8);
    assert_eq!((difference.requested_mean, difference.seen_mean), (1000.0, 1000.0));
    assert!(difference.share().unwrap() > 0.0, "errors do not cancel out");
}

#[test]
fn what_is_known_on_one_side_alone_is_not_compared() {
    let found = lengths(&[prompt(Some(10), None), prompt(None, Some(99))]).prompt;
    assert_eq!((found.requested.n, found.seen.n, found.difference), (1, 1, None));
    let mut gone = failed(prompt(Some(10), Some(99)), FailureClass::Truncated);
    gone.usage = None;
    let found = lengths(&[gone, prompt(Some(30), Some(30))]);
    assert_eq!((found.prompt.requested.n, found.prompt.seen.n), (2, 1));
    assert_eq!(found.prompt.difference.unwrap().n, 1);
    assert_eq!(found.output.requested.n, 2);
}

#[test]
fn an_output_is_as_long_as_is_certain() {
    let mut short = prompt(Some(1), Some(1));
    short.requested.output_tokens = Tokens::new(7);
    let output = lengths(&[short.clone()]).output;
    assert_eq!(output.difference.unwrap().constant(), Some(-5), "token ids are exact");
    short.token_source = TokenSource::Events;
    assert_eq!(lengths(&[short.clone()]).output.seen.n, 0, "a chunk count is no length");
    short.usage = Some(Usage { completion_tokens: Some(Tokens::new(7)), ..Usage::default() });
    assert_eq!(lengths(&[short]).output.seen.always(), Some(Tokens::new(7)));
}

#[test]
fn json_names_the_buckets_and_says_what_is_missing() {
    let json = serde_json::to_value(lengths(&[prompt(Some(10), Some(12))])).unwrap();
    let difference = &json["prompt"]["difference"];
    assert_eq!(difference["histogram"]["+2..+4"], 1);
    assert_eq!(difference["constant"], 2);
    assert_eq!(json["prompt"]["requested"]["p90_reason"], "needs 10 values, has 1");
    assert_eq!(difference["histogram"].as_object().unwrap().len(), 11);
    let json = serde_json::to_value(lengths(&[prompt(None, Some(12))])).unwrap();
    let reason = "no request has a known requested length";
    assert_eq!(json["prompt"]["difference_reason"], reason);
    assert_eq!(json["prompt"]["requested"]["mean_reason"], "no values");
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn every_request_has_a_bucket_and_order_does_not_matter(
        pairs in prop::collection::vec((0u64..3_000, 0u64..3_000), 1..60),
    ) {
        let tapes: Vec<Tape> =
            pairs.iter().map(|&(requested, seen)| prompt(Some(requested), Some(seen))).collect();
        let found = lengths(&tapes);
        let difference = found.prompt.difference.unwrap();
        prop_assert_eq!(difference.histogram.iter().sum::<u64>(), pairs.len() as u64);
        let off = (difference.seen_mean - difference.requested_mean).abs();
        prop_assert!(off <= difference.absolute_mean + 1e-9);
        let reversed: Vec<Tape> = tapes.into_iter().rev().collect();
        prop_assert_eq!(found, lengths(&reversed));
    }
}
