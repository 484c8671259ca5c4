//! The hot paths of the pure layers, under criterion: bytes to arrivals, tapes to figures and files, points to a frontier,
//! model and device to a bound, a sweep in virtual time, values to percentiles and intervals.

mod models;
mod plans;
mod reply;
mod statistics;
mod tapes;

use criterion::{criterion_group, criterion_main};

/// Tokens of a reply.
const TOKENS: u64 = 250;

criterion_group!(
    benches,
    reply::read,
    tapes::tally,
    tapes::summarise,
    tapes::write,
    models::find_frontier,
    models::bound,
    plans::request,
    plans::arrivals,
    plans::shard,
    models::virtual_sweep,
    statistics::exact_percentiles
);
criterion_main!(benches);
