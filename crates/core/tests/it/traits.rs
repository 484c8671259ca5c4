use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::rc::Rc;
use std::sync::Arc;

use fizeau_core::{
    Clock, Nanos, Release, Request, RequestSource, Scheduled, Stamp, Tape, TapeSink, Timer,
    TokenCounter, Tokens, Transport,
};

struct Ticking(Cell<u64>);

impl Clock for Ticking {
    fn now(&self) -> Stamp {
        self.0.set(self.0.get() + 1);
        Stamp::from_nanos(self.0.get())
    }
}

impl Timer for Ticking {
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
        self.0.set(self.0.get().max(at.as_nanos()));
        ready(())
    }
}

struct Echo;

impl Transport for Echo {
    type Error = Infallible;

    fn send(
        &self,
        _: &Request,
        release: Release,
    ) -> impl Future<Output = Result<Tape, Infallible>> {
        ready(Ok(Tape::sent_at(release.intended)))
    }
}

struct Words;

impl TokenCounter for Words {
    type Error = Infallible;

    fn count(&self, text: &str) -> Result<Tokens, Infallible> {
        Ok(Tokens::new(text.split_whitespace().count() as u64))
    }
}

struct Nothing;

impl RequestSource for Nothing {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        Ok(None)
    }
}

fn takes_a_timer(timer: impl Timer) -> Stamp {
    drop(timer.sleep_until(Stamp::EPOCH + Nanos::from_micros(1)));
    timer.now()
}

fn takes_a_transport(_: impl Transport) {}

fn takes_a_counter(counter: impl TokenCounter) -> u64 {
    counter.count("one two three").map_or(0, Tokens::get)
}

fn takes_a_source(mut source: impl RequestSource) -> bool {
    source.next_request().is_ok_and(|next| next.is_none())
}

fn takes_a_sink(mut sink: impl TapeSink) {
    assert!(sink.record(&Tape::sent_at(Stamp::EPOCH)).is_ok());
}

#[test]
fn every_seam_takes_references_and_boxes() {
    let timer = Ticking(Cell::new(0));
    assert_eq!(takes_a_timer(&timer), Stamp::from_nanos(1_001));
    assert_eq!(takes_a_timer(Rc::new(Ticking(Cell::new(0)))), Stamp::from_nanos(1_001));
    takes_a_transport(&Echo);
    takes_a_transport(Box::new(Echo));
    takes_a_transport(Arc::new(Echo));
    assert_eq!(takes_a_counter(&Words), 3);
    assert_eq!(takes_a_counter(Box::new(Words) as Box<dyn TokenCounter<Error = Infallible>>), 3);
    assert!(takes_a_source(&mut Nothing));
    assert!(takes_a_source(Box::new(Nothing) as Box<dyn RequestSource<Error = Infallible>>));
    let mut tapes = Vec::new();
    takes_a_sink(&mut tapes);
    assert_eq!(tapes.len(), 1);
}

/// Counts how often it was asked to write down what it holds.
#[derive(Default)]
struct Flushed(u32);

impl TapeSink for Flushed {
    type Error = Infallible;

    fn record(&mut self, _: &Tape) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn a_sink_that_may_be_absent_is_flushed_where_it_is_there() {
    let mut sink = Some(Flushed::default());
    assert!(sink.flush().is_ok() && sink.as_mut().is_some_and(|sink| sink.0 == 1));
    assert!(None::<Flushed>.flush().is_ok());
}

#[test]
fn requests_that_stand_alone_are_followed_by_none() {
    let ended = Tape::sent_at(Stamp::EPOCH);
    assert_eq!(Nothing.after(&ended, Nanos::ZERO).map(|next| next.is_none()), Ok(true));
    assert_eq!(Nothing.abandoned(), 0);
}
