//! Each mistake in a specification has one clear line that names it.

use std::num::NonZeroU32;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_workload::{
    ArrivalLaw, Length, Plan, PlanSpec, PromptContent, Rescale, Sessions, TextSource, ThinkTime,
    Turns,
};

use crate::{common, gamma, input, output, spec, uniform};

/// The one line said of `spec`; panics if nothing is wrong with it.
fn complaint(spec: PlanSpec) -> String {
    let line = Plan::new(spec).unwrap_err().to_string();
    assert!(!line.contains('\n'), "more than one line: {line}");
    line
}

#[test]
fn no_requests() {
    let line = PlanSpec::new(0).unwrap_err().to_string();
    assert_eq!(line, "the number of requests is 0: it must be at least 1");
}

#[test]
fn rates_that_are_none() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-10, 1e10] {
        let expected = format!("the rate of {rate} requests per second cannot be used");
        let constant = ArrivalLaw::Constant { rate: PerSec::new(rate) };
        for arrivals in [constant, gamma(rate, 1.0, Rescale::None)] {
            let line = complaint(PlanSpec { arrivals, ..spec(1, 0) });
            assert!(line.starts_with(&expected), "{line}");
        }
    }
}

#[test]
fn burstiness_out_of_range() {
    for burstiness in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let arrivals = gamma(1.0, burstiness, Rescale::None);
        let line = complaint(PlanSpec { arrivals, ..spec(1, 0) });
        assert!(line.starts_with(&format!("the burstiness {burstiness} cannot be used")), "{line}");
    }
}

#[test]
fn range_ratio_outside_of_zero_to_one() {
    for ratio in [-0.1, 1.0, f64::NAN] {
        let line = complaint(PlanSpec { lengths: output(uniform(10, ratio)), ..spec(1, 0) });
        assert!(line.starts_with(&format!("the output length's range ratio {ratio} ")), "{line}");
    }
    assert!(Plan::new(PlanSpec { lengths: output(uniform(10, 0.999)), ..spec(1, 0) }).is_ok());
}

#[test]
fn lengths_of_nothing_and_beyond_all() {
    for length in [Length::Fixed(Tokens::ZERO), uniform(0, 0.5)] {
        let line = complaint(PlanSpec { lengths: input(length), ..spec(1, 0) });
        assert_eq!(line, "the input length is 0 tokens: it must be at least 1");
    }
    let longest = Length::MAX.get();
    for (length, prefix) in [
        (Length::Fixed(Tokens::new(longest + 1)), 0),
        (Length::Fixed(Tokens::new(longest)), 1),
        (Length::Fixed(Tokens::new(1)), u64::MAX),
        (uniform(u64::MAX, 0.5), 0),
        (uniform(longest, 0.5), 0),
    ] {
        let (lengths, prefix) = (input(length), common(prefix));
        let line = complaint(PlanSpec { lengths, prefix, ..spec(1, 0) });
        assert!(line.contains("it must be at most 16777216"), "{line}");
    }
}

#[test]
fn vocabulary_of_fewer_than_two_ids() {
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake under test")]
    for range in [5..5, 5..6, 9..5] {
        let line = complaint(PlanSpec { content: PromptContent::TokenIds { range }, ..spec(1, 0) });
        assert!(line.ends_with("are fewer than 2: widen the range"), "{line}");
    }
}

#[test]
fn exact_text_without_a_tokenizer() {
    for content in [PromptContent::Chat(TextSource::Exact), PromptContent::Text(TextSource::Exact)]
    {
        let line = complaint(PlanSpec { content, ..spec(1, 0) });
        assert!(line.contains("needs a tokenizer"), "{line}");
    }
}

#[test]
fn sessions_that_cannot_be() {
    let turns = |n| NonZeroU32::new(n).unwrap();
    let sessions = |turns, think| {
        let content = PromptContent::Chat(TextSource::Words);
        complaint(PlanSpec { content, sessions: Some(Sessions { turns, think }), ..spec(4, 0) })
    };
    let line = sessions(Turns::Uniform { least: turns(3), most: turns(2) }, ThinkTime::None);
    assert!(
        line.starts_with("a session of at least 3 and at most 2 turns is impossible: "),
        "{line}"
    );
    let two = Turns::Fixed(turns(2));
    for value in [-1.0, f64::NAN, f64::INFINITY, 86_401.0] {
        let seconds = Seconds::new(value);
        for think in [
            ThinkTime::Fixed { seconds },
            ThinkTime::Exponential { mean: seconds },
            ThinkTime::LogNormal { median: seconds, sigma: 1.0 },
        ] {
            let line = sessions(two, think);
            let expected = format!("the seconds of think time cannot be {value}: ");
            assert!(line.starts_with(&expected), "{line}");
        }
        let think = ThinkTime::LogNormal { median: Seconds::new(1.0), sigma: value };
        let line = sessions(two, think);
        assert!(
            line.starts_with(&format!("the sigma of the think time cannot be {value}: ")),
            "{line}"
        );
    }
}

#[test]
fn token_ids_cannot_be_gone_on_from() {
    let turns = Turns::Fixed(NonZeroU32::new(2).unwrap());
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let line = complaint(PlanSpec { sessions, ..spec(4, 0) });
    assert!(line.ends_with("token ids cannot be continued"), "{line}");
    // A plan of one request has no later turn.
    assert!(Plan::new(PlanSpec { sessions, ..spec(1, 0) }).is_ok());
}
