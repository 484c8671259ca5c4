//! Two measuring threads against one: at how many tokens a second the first bar breaks.
//!
//! The server is simulated in process: each token comes at its instant as an event in bytes, which is read as any reply's. One core
//! of a real server would be full before two threads of the client are. What sockets cost is in the other parts.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use fizeau::core::{Clock, Millis, Nanos, PerSec, Release, Request, RequestMarks, Tape, Transport};
use fizeau::harness::{Cancel, DriveLimits, Measure, PlannedLevel, Preconnect, WorkerPool};
use fizeau::metrics::{Distribution, RequestMetrics};
use fizeau::transport::{BodyEnd, KeepText, MonotonicClock, ReadMark, ReplyReader, Route};
use fizeau::workload::{ArrivalLaw, Lengths, Plan, PlanSpec};

use crate::shape::TOKENS;
use crate::table::{Bar, Table};

/// The server's timing.
const TTFT: Duration = Duration::from_millis(50);
const ITL: Duration = Duration::from_millis(5);
/// For how long requests leave; a reply takes 1.3 s of it.
const SECONDS: f64 = 4.0;
/// Where the search begins, and how often it goes up and then halves the interval.
const START: f64 = 100e3;
const DOUBLINGS: u32 = 5;
const HALVINGS: u32 = 3;

/// The bars: requests that left late, and tokens that were read late, p99 in milliseconds. The timers of an event loop go by whole
/// milliseconds, and the verdict is suspect from 10 ms on.
const SEND_LATE_MS: f64 = 1.0;
const READ_LATE_MS: f64 = 10.0;

/// One level.
#[derive(Debug, Clone, Copy)]
struct Level {
    tokens_per_s: f64,
    send_late: f64,
    read_late: f64,
}

impl Level {
    fn holds(self) -> bool {
        self.send_late <= SEND_LATE_MS && self.read_late <= READ_LATE_MS
    }
}

pub(crate) fn compare() -> Result<Table> {
    let mut table = Table::new(format!(
        "replies of {TOKENS} tokens simulated in process, TTFT 50 ms, ITL 5 ms, the most at which both bars hold"
    ));
    let found = [1, 2].map(|threads| most(threads, &mut table));
    let [one, two] = found;
    let (one, two) = (one?, two?);
    let mut figure = |name, decimals, bar, value| {
        table.row(name, decimals, bar, std::iter::once(value));
    };
    figure("thousand tokens/s, one thread", 0, Bar::None, one.tokens_per_s / 1e3);
    figure("thousand tokens/s, two threads", 0, Bar::None, two.tokens_per_s / 1e3);
    figure("two threads / one", 2, Bar::None, two.tokens_per_s / one.tokens_per_s);
    figure("send lateness p99, one thread, ms", 3, Bar::AtMost(SEND_LATE_MS), one.send_late);
    figure("send lateness p99, two threads, ms", 3, Bar::AtMost(SEND_LATE_MS), two.send_late);
    figure("token lateness p99, one thread, ms", 3, Bar::AtMost(READ_LATE_MS), one.read_late);
    figure("token lateness p99, two threads, ms", 3, Bar::AtMost(READ_LATE_MS), two.read_late);
    Ok(table)
}

/// The highest level found at which all bars hold. `table` is told what broke first.
fn most(threads: usize, table: &mut Table) -> Result<Level> {
    let mut best = level(threads, START)?;
    let mut broken = (!best.holds()).then_some(best);
    for _ in 0..DOUBLINGS {
        if broken.is_some() {
            break;
        }
        let next = level(threads, best.tokens_per_s * 2.0)?;
        if next.holds() { best = next } else { broken = Some(next) }
    }
    let Some(mut above) = broken else {
        table.note(format!(
            "{threads} threads: no bar broke up to {:.0} tokens/s",
            best.tokens_per_s
        ));
        return Ok(best);
    };
    let mut below = if best.holds() { best.tokens_per_s } else { 0.0 };
    for _ in 0..HALVINGS {
        let next = level(threads, f64::midpoint(below, above.tokens_per_s))?;
        if next.holds() {
            (below, best) = (next.tokens_per_s, next);
        } else {
            above = next;
        }
    }
    let Level { tokens_per_s, send_late, read_late } = above;
    table.note(format!(
        "{threads} threads: broken at {tokens_per_s:.0} tokens/s: sent {send_late:.3} ms late, read {read_late:.3} ms late (p99)"
    ));
    Ok(best)
}

/// Requests at equal distances, so that no burst of the start is in it.
fn level(threads: usize, tokens_per_s: f64) -> Result<Level> {
    let rate = tokens_per_s / TOKENS as f64;
    let spec = PlanSpec {
        lengths: Lengths::fixed(TOKENS, TOKENS),
        arrivals: ArrivalLaw::Constant { rate: PerSec::new(rate) },
        ..PlanSpec::new((rate * SECONDS) as u64)?
    };
    let plan = Plan::new(spec)?;
    let (clock, cancel) = (MonotonicClock::new(), Cancel::new());
    let events: Arc<[Vec<u8>]> = (1..=TOKENS).map(event).collect();
    let make = move |_| Simulated { clock, events: Arc::clone(&events) };
    let threads = NonZeroUsize::new(threads).context("no threads")?;
    let mut pool = WorkerPool::start(threads, clock, cancel, make)?;
    let mut tapes: Vec<Tape> = Vec::new();
    let planned = PlannedLevel::new(&plan, DriveLimits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(pool.measure(planned, &mut tapes, &mut ()))?;
    let sent = tapes.iter().filter_map(|tape| RequestMetrics::of(tape).send_lateness);
    let read = tapes.iter().flat_map(late);
    Ok(Level { tokens_per_s, send_late: p99(sent), read_late: p99(read) })
}

/// How late each token was read.
fn late(tape: &Tape) -> impl Iterator<Item = Nanos> {
    let sent = tape.marks.send_start.unwrap_or(tape.marks.released);
    (0_u32..).zip(&tape.arrivals).map(move |(k, arrival)| {
        let due = TTFT + ITL * k;
        arrival.at.saturating_since(sent + Nanos::from_nanos(due.as_nanos() as u64))
    })
}

fn p99(values: impl Iterator<Item = Nanos>) -> f64 {
    Distribution::of(values.map(Nanos::to_millis)).p99.value().map_or(f64::NAN, Millis::get)
}

/// An event as vLLM streams it, with running usage.
fn event(k: u64) -> Vec<u8> {
    let total = TOKENS + k;
    format!(
        "data: {{\"id\":\"cmpl-7\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":[{{\
         \"index\":0,\"text\":\" token\",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null}}],\
         \"usage\":{{\"prompt_tokens\":{TOKENS},\"total_tokens\":{total},\"completion_tokens\":{k}}}}}\n\n"
    )
    .into_bytes()
}

/// The server, in each worker.
struct Simulated {
    clock: MonotonicClock,
    events: Arc<[Vec<u8>]>,
}

impl Transport for Simulated {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        let (sent, start) = (self.clock.now(), tokio::time::Instant::now());
        let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
        for (k, event) in (0_u32..).zip(self.events.iter()) {
            tokio::time::sleep_until(start + TTFT + ITL * k).await;
            reader.feed(event, ReadMark::user(self.clock.now(), k));
        }
        reader.feed(b"data: [DONE]\n\n", ReadMark::user(self.clock.now(), u32::MAX));
        let reply = reader.finish(BodyEnd::Whole);
        let mut tape = Tape::sent_at(sent);
        tape.request = request.id;
        tape.arrivals = reply.arrivals;
        tape.token_source = reply.token_source;
        tape.outcome = reply.outcome;
        tape.marks = RequestMarks {
            send_start: Some(sent),
            end: Some(self.clock.now()),
            ..RequestMarks::released(release)
        };
        Ok(tape)
    }
}

impl Preconnect for Simulated {}
