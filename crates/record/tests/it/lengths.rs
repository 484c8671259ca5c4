//! The lengths that came.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Outcome, Stamp, Tape, TokenSource, Tokens, Usage,
};
use fizeau_record::LengthTally;
use fizeau_roofline::{Model, RequestLengths};

fn llama() -> Model {
    let config = include_str!("../../../roofline/data/models/llama-3.1-8b.json");
    Model::from_config_json(config).unwrap()
}

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
fn lengths_are_those_that_came() {
    let mut failed = tape(Some(9_999), None, 9_999);
    failed.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "made by hand"));
    let mut tally = LengthTally::new(Tokens::new(250), &llama());
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
    let mut came = RequestLengths::for_model(&llama());
    for (input, cached, output) in [(300, 0, 20), (300, 128, 20), (250, 0, 5), (64, 64, 1)] {
        came.add_cached(Tokens::new(input), Tokens::new(cached), Tokens::new(output));
    }
    assert_eq!(*tally.lengths(), came);
}
