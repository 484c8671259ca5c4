//! From tapes to figures, and to a file.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use fizeau::core::{Arrival, Channel, Nanos, ReadLag, RequestId, Stamp, Tape, TokenSource};
use fizeau::metrics::{GoodputGoals, LevelSummary, LevelTally};

use crate::TOKENS;

/// Tape by tape, as a run does; so long that its samples are folded.
pub(crate) fn tally(c: &mut Criterion) {
    let tapes = tapes();
    let mut group = c.benchmark_group("metrics");
    group.throughput(Throughput::Elements(TOKENS));
    group.bench_function("one tape into a tally", |b| {
        let mut tally = LevelTally::new(&GoodputGoals::default());
        let mut next = tapes.iter().cycle();
        b.iter(|| next.next().map(|tape| tally.add(tape)));
    });
    group.finish();
}

pub(crate) fn summarise(c: &mut Criterion) {
    let tapes = tapes();
    let goals = GoodputGoals::default();
    let mut group = c.benchmark_group("metrics");
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("summary of 1,000 requests x 250 tokens", |b| {
        b.iter(|| LevelSummary::of(black_box(&tapes), &goals));
    });
    group.finish();
}

/// As a line of `tapes.jsonl`.
pub(crate) fn write(c: &mut Criterion) {
    let tapes = tapes();
    let mut group = c.benchmark_group("tape");
    group.throughput(Throughput::Elements(TOKENS));
    group.bench_function("one tape as JSON", |b| {
        let (mut line, mut next) = (Vec::new(), tapes.iter().cycle());
        b.iter(|| {
            line.clear();
            let written = next.next().map(|tape| serde_json::to_writer(&mut line, tape));
            black_box(written)
        });
    });
    group.finish();
}

fn tapes() -> Vec<Tape> {
    (0..1_000).map(tape).collect()
}

/// A request stamped by the kernel, with gaps and lags that are not all alike.
fn tape(id: u64) -> Tape {
    let sent = Stamp::EPOCH + Nanos::from_micros(100) * id;
    let mut tape = Tape::sent_at(sent);
    tape.request = RequestId(id);
    tape.token_source = TokenSource::TokenIds;
    let first = sent + Nanos::from_micros(20_000 + id % 997);
    tape.arrivals = (0..TOKENS)
        .map(|k| {
            let wobble = Nanos::from_nanos((k * id) % 1_013);
            let at = first + Nanos::from_millis(5) * k + wobble;
            let read_lag = ReadLag::of(Nanos::from_micros(7) + wobble);
            Arrival { read_lag, ..Arrival::tokens(at, 1, Channel::Visible) }
        })
        .collect();
    tape.marks.end = tape.last_token();
    tape
}
