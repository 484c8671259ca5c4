use std::convert::Infallible;

use fizeau_core::{
    Arrival, Channel, Release, Request, Stamp, Tape, TokenCounter, TokenSource, Tokens, Transport,
};
use fizeau_harness::Recounted;

use crate::stand::{paused, request};

/// A server that streams three events and says nothing of tokens.
struct Mute(TokenSource);

impl Transport for Mute {
    type Error = Infallible;

    async fn send(&self, _: &Request, release: Release) -> Result<Tape, Infallible> {
        let at = release.released;
        let mut tape = Tape::sent_at(at);
        tape.arrivals = vec![Arrival::tokens(at, 1, Channel::Visible); 3];
        tape.token_source = self.0;
        tape.text = Some("one two three four five six seven".to_owned());
        Ok(tape)
    }
}

struct Words;

impl TokenCounter for Words {
    type Error = Infallible;

    fn count(&self, text: &str) -> Result<Tokens, Infallible> {
        Ok(Tokens::new(text.split(' ').count() as u64))
    }
}

fn sent<K: TokenCounter>(source: TokenSource, counter: Option<K>) -> Tape {
    let transport = Recounted { transport: Mute(source), counter };
    paused(transport.send(&request(0), Release::at(Stamp::EPOCH))).unwrap()
}

#[test]
fn a_count_of_chunks_gives_way_to_the_tokenizer() {
    let tape = sent(TokenSource::Events, Some(Words));
    assert_eq!(tape.token_source, TokenSource::Tokenizer);
    assert_eq!(tape.output_tokens(), Tokens::new(7));
}

#[test]
fn what_the_server_says_is_never_overruled() {
    for source in
        [TokenSource::TokenIds, TokenSource::ContinuousUsage, TokenSource::FinalUsageSpread]
    {
        let tape = sent(source, Some(Words));
        assert_eq!((tape.token_source, tape.output_tokens()), (source, Tokens::new(3)));
    }
}

#[test]
fn without_a_tokenizer_nothing_changes() {
    let tape = sent(TokenSource::Events, None::<Words>);
    assert_eq!((tape.token_source, tape.output_tokens()), (TokenSource::Events, Tokens::new(3)));
}
