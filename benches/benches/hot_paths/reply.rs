//! From the bytes of a reply to its arrivals: framing, JSON, token counting.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use fizeau::core::Stamp;
use fizeau::transport::{BodyEnd, KeepText, ReadMark, ReplyReader, Route};

use crate::TOKENS;

pub(crate) fn read(c: &mut Criterion) {
    let mut group = c.benchmark_group("reply");
    group.throughput(Throughput::Elements(TOKENS));
    let replies = [
        ("completions", Route::Completions, events(completion)),
        ("chat", Route::Chat, events(chat)),
    ];
    for (name, route, events) in &replies {
        // One a read, as a server sends that is paced; sixty, as one that is not.
        for per_read in [1, 60] {
            let reads: Vec<Vec<u8>> = events.chunks(per_read).map(<[_]>::concat).collect();
            let id = BenchmarkId::new(*name, format!("{per_read} events a read"));
            group.bench_function(id, |b| b.iter(|| read_all(*route, &reads)));
        }
    }
    group.finish();
}

fn read_all(route: Route, reads: &[Vec<u8>]) {
    let mut reader = ReplyReader::new(route.dialect(), KeepText::No);
    for (number, read) in (0..).zip(reads) {
        reader.feed(read, ReadMark::user(Stamp::from_nanos(u64::from(number)), number));
    }
    black_box(reader.finish(BodyEnd::Whole));
}

/// The events of a reply as vLLM streams it, with running usage.
fn events(event: fn(u64) -> String) -> Vec<Vec<u8>> {
    let tokens = (1..=TOKENS).map(|k| event(k).into_bytes());
    tokens.chain([b"data: [DONE]\n\n".to_vec()]).collect()
}

fn completion(k: u64) -> String {
    let usage = usage(k);
    format!(
        "data: {{\"id\":\"cmpl-7\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":[{{\
         \"index\":0,\"text\":\" token\",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null}}],{usage}}}\n\n"
    )
}

fn chat(k: u64) -> String {
    let usage = usage(k);
    format!(
        "data: {{\"id\":\"chatcmpl-7\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\
         \"index\":0,\"delta\":{{\"content\":\" token\"}},\"logprobs\":null,\"finish_reason\":null}}],{usage}}}\n\n"
    )
}

fn usage(k: u64) -> String {
    let total = 250 + k;
    format!(
        "\"usage\":{{\"prompt_tokens\":250,\"total_tokens\":{total},\"completion_tokens\":{k}}}"
    )
}
