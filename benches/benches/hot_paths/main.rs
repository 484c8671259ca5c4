//! The hot paths of the pure layers, under criterion.

use std::hint::black_box;
use std::num::{NonZeroU32, NonZeroU64};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use fizeau::core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape, TokenSource, Tokens};
use fizeau::harness::{Cancel, LevelSize, Rig, SelfWatch, Sweep, SweepSpec};
use fizeau::metrics::{GoodputGoals, LevelSummary};
use fizeau::pareto::{Direction, frontier};
use fizeau::roofline::{Bound, Load};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::transport::{BodyEnd, KeepText, ReadMark, ReplyReader, Route};
use fizeau::workload::{Length, Plan, Spec};

const EVENTS: u64 = 250;

/// A reply of `EVENTS` events with running usage, as vLLM streams it.
fn reply() -> Vec<Vec<u8>> {
    let event = |k: u64| {
        format!(
            "data: {{\"id\":\"cmpl-7\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":[{{\
             \"index\":0,\"text\":\" token\",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null}}],\
             \"usage\":{{\"prompt_tokens\":250,\"total_tokens\":{},\"completion_tokens\":{k}}}}}\n\n",
            250 + k
        )
    };
    let mut events: Vec<Vec<u8>> = (1..=EVENTS).map(|k| event(k).into_bytes()).collect();
    events.push(b"data: [DONE]\n\n".to_vec());
    events
}

/// From the bytes of a reply to its arrivals: SSE, JSON, token counting.
fn read_reply(c: &mut Criterion) {
    let pieces = reply();
    let mut group = c.benchmark_group("reply");
    group.throughput(Throughput::Elements(EVENTS));
    group.bench_function("read 250 events", |b| {
        b.iter(|| {
            let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
            for (read, piece) in (0..).zip(&pieces) {
                reader.feed(piece, ReadMark::user(Stamp::from_nanos(u64::from(read)), read));
            }
            black_box(reader.finish(BodyEnd::Whole))
        });
    });
    group.finish();
}

fn tape(id: u64) -> Tape {
    let sent = Stamp::EPOCH + Nanos::from_micros(100) * id;
    let mut tape = Tape::sent_at(sent);
    tape.request = RequestId(id);
    tape.token_source = TokenSource::TokenIds;
    let first = sent + Nanos::from_micros(20_000 + id % 997);
    tape.arrivals = (0..EVENTS)
        .map(|k| {
            let wobble = Nanos::from_nanos((k * id) % 1_013);
            Arrival::tokens(first + Nanos::from_millis(5) * k + wobble, 1, Channel::Visible)
        })
        .collect();
    tape.marks.end = tape.last_token();
    tape
}

fn summarise(c: &mut Criterion) {
    let tapes: Vec<Tape> = (0..1_000).map(tape).collect();
    let goals = GoodputGoals::default();
    let mut group = c.benchmark_group("metrics");
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("summary of 1,000 requests x 250 tokens", |b| {
        b.iter(|| LevelSummary::of(black_box(&tapes), &goals));
    });
    group.finish();
}

fn find_frontier(c: &mut Criterion) {
    // A Weyl sequence: spread evenly, the same every time, and no generator needed.
    let point =
        |k: u32| [f64::from(k) * 0.618_033_988_75 % 1.0, f64::from(k) * 0.754_877_666_25 % 1.0];
    let points: Vec<[f64; 2]> = (1..=100_000).map(point).collect();
    let directions = [Direction::Maximize, Direction::Minimize];
    let mut group = c.benchmark_group("pareto");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("frontier of 100,000 points in 2-d", |b| {
        b.iter(|| frontier(black_box(&points), &directions));
    });
    group.finish();
}

fn bound(c: &mut Criterion) {
    let Ok(scenario) = Scenario::llama_3_1_8b_h100() else {
        return;
    };
    let load = Load {
        input_tokens: Tokens::new(250),
        output_tokens: Tokens::new(250),
        concurrency: NonZeroU64::MIN,
    };
    c.bench_function("roofline/bound of a level", |b| {
        b.iter(|| Bound::at(black_box(scenario.model()), scenario.device(), black_box(load)));
    });
}

fn plan(c: &mut Criterion) {
    let spec = |requests| -> Option<Spec> {
        Some(Spec { input: Length::Fixed(Tokens::new(1_000)), ..Spec::new(requests).ok()? })
    };
    let Some(Ok(plan)) = spec(1_000_000).map(Plan::new) else {
        return;
    };
    c.bench_function("workload/request of 1,000 token ids", |b| {
        let mut k = 0;
        b.iter(|| {
            k += 1;
            plan.request(RequestId(k))
        });
    });
}

/// A whole sweep in virtual time: eight levels, 2,800 requests.
fn virtual_sweep(c: &mut Criterion) {
    let spec = || -> Option<SweepSpec> {
        Some(SweepSpec {
            levels: [1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter_map(NonZeroU32::new).collect(),
            workload: Spec {
                input: Length::Fixed(Tokens::new(250)),
                output: Length::Fixed(Tokens::new(250)),
                ..Spec::new(1).ok()?
            },
            tokenizer: None,
            size: LevelSize { requests: None, time: None, warmup: None },
            goals: GoodputGoals::default(),
        })
    };
    let (Some(spec), Ok(scenario)) = (spec(), Scenario::llama_3_1_8b_h100()) else {
        return;
    };
    let mut group = c.benchmark_group("sim");
    group.sample_size(10);
    group.bench_function("a sweep in virtual time", |b| {
        b.iter_batched(
            VirtualTime::new,
            |time| {
                let engine = SimTransport::new(&time, scenario.engine());
                let cancel = Cancel::new();
                let rig = Rig {
                    transport: &engine,
                    timer: &time,
                    watch: SelfWatch::Off,
                    cancel: &cancel,
                };
                let mut sweep = Sweep::new(rig, &spec, None);
                time.block_on(async {
                    let mut requests = 0;
                    while let Ok(Some(level)) = sweep.next_level(&mut ()).await {
                        requests += level.run.summary.requests.completed;
                    }
                    requests
                })
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, read_reply, summarise, find_frontier, bound, plan, virtual_sweep);
criterion_main!(benches);
