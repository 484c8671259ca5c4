//! The lengths that came.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Outcome, Stamp, Tape, TokenSource, Tokens, Usage,
};
use fizeau_report::LengthTally;
use fizeau_roofline::Lengths;

fn tape(prompt: Option<u64>, cached: Option<u64>, output: u32) -> Tape {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    tape.token_source = TokenSource::TokenIds;
    tape.arrivals = vec![Arrival::tokens(Stamp::EPOCH, output, Channel::Visible)];
    tape.usage = Some(Usage {
        prompt_tokens: prompt.map(Tokens::new),
        cached_tokens: cached.map(Tokens::new),
        ..Usage::default()
    });
    tape
}

#[test]
fn lengths_are_those_that_were_computed() {
    let mut failed = tape(Some(9_999), None, 9_999);
    failed.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "made by hand"));
    let mut tally = LengthTally::new(Tokens::new(250));
    for tape in [
        tape(Some(300), None, 20),
        tape(Some(300), Some(128), 20),
        tape(None, None, 5),
        // A prompt that lay in the cache whole still takes one pass.
        tape(Some(64), Some(64), 1),
        failed,
    ] {
        tally.add(&tape);
    }
    let lengths = [(300, 20), (172, 20), (250, 5), (1, 1)];
    let lengths = lengths.map(|(input, output)| (Tokens::new(input), Tokens::new(output)));
    assert_eq!(*tally.lengths(), lengths.into_iter().collect::<Lengths>());
}
