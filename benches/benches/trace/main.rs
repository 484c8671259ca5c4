//! A trace file of 1 GB, checked and walked: how fast, and in how much memory.
//!
//! `cargo xtask bench trace`, or with the size in megabytes after it. The file is made up, in Mooncake's format, with lines
//! as long as those of the published traces; it is written to the target folder and taken away again.

mod made_up;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use fizeau::core::RequestSource as _;
use fizeau::workload::{Trace, TraceFormat, TraceOpener, TraceReader, TraceSpec, Workload as _};
use serde::Deserialize;

use fizeau_benches::{Since, Spent};
use made_up::MadeUp;

/// What a buffer of a file is read in.
const BUFFER: usize = 256 << 10;

fn main() -> Result<()> {
    let megabytes = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000);
    let title = "a trace in Mooncake's format";
    println!("{title:<38} {:>6} {:>8} {:>10} {:>12}", "MB", "MB/s", "MB/cpu s", "memory");
    parsers()?;
    from_nowhere(megabytes)?;
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/trace-bench.jsonl"));
    let result = from_file(megabytes, &path);
    std::fs::remove_file(&path).ok();
    result
}

/// A way to read the lines: how many ids they have.
type Way = fn(&[u8]) -> Result<u64>;

/// Ours by the side of a general parser, on lines in memory; in turns, the best of five.
fn parsers() -> Result<()> {
    let mut text = Vec::new();
    MadeUp::new(32 << 20).read_to_end(&mut text)?;
    let ways: [(&str, Way); 2] =
        [("records, read by hand", by_hand), ("records, read by serde_json", by_serde)];
    let mut best: [Option<Spent>; 2] = [None, None];
    for _ in 0..5 {
        for (best, (_, read)) in best.iter_mut().zip(ways) {
            let since = Since::now();
            std::hint::black_box(read(&text)?);
            let spent = since.spent();
            if best.as_ref().is_none_or(|best| spent.processor < best.processor) {
                *best = Some(spent);
            }
        }
    }
    for ((what, _), best) in ways.iter().zip(&best) {
        best.iter().for_each(|best| row(what, text.len() as u64, best));
    }
    Ok(())
}

fn by_hand(text: &[u8]) -> Result<u64> {
    TraceReader::new("in memory", TraceFormat::mooncake(), text)
        .try_fold(0, |sum, record| Ok(sum + record?.blocks.len() as u64))
}

fn by_serde(text: &[u8]) -> Result<u64> {
    #[derive(Deserialize)]
    struct Line {
        timestamp: u64,
        input_length: u64,
        output_length: u64,
        hash_ids: Vec<u64>,
    }
    let (mut buffer, mut reader, mut sum) = (Vec::new(), text, 0);
    while reader.read_until(b'\n', &mut buffer)? > 0 {
        let line: Line = serde_json::from_slice(&buffer)?;
        std::hint::black_box((line.timestamp, line.input_length, line.output_length));
        sum += line.hash_ids.len() as u64;
        buffer.clear();
    }
    Ok(sum)
}

/// Lines that are made as they are read: what memory grows by is the reader's.
fn from_nowhere(megabytes: u64) -> Result<()> {
    let open: TraceOpener = Arc::new(move || {
        Ok(Box::new(BufReader::with_capacity(BUFFER, MadeUp::new(megabytes * 1_000_000))))
    });
    let since = Since::now();
    Trace::new(TraceSpec::new("made up", TraceFormat::mooncake()), open)?;
    row("checked while it is made", megabytes * 1_000_000, &since.spent());
    Ok(())
}

fn from_file(megabytes: u64, path: &PathBuf) -> Result<()> {
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path).context("target folder")?);
    let bytes = std::io::copy(&mut MadeUp::new(megabytes * 1_000_000), &mut file)?;
    file.flush()?;
    let opened = path.clone();
    let open: TraceOpener =
        Arc::new(move || Ok(Box::new(BufReader::with_capacity(BUFFER, File::open(&opened)?))));
    let since = Since::now();
    let trace = Trace::new(TraceSpec::new("trace-bench.jsonl", TraceFormat::mooncake()), open)?;
    row("checked, from a file", bytes, &since.spent());

    for (what, every) in
        [("walked: passed over", u64::MAX), ("walked: a request in 1,000 made", 1_000)]
    {
        let since = Since::now();
        let last = trace.requests().get() - 1;
        let which = (0..last).step_by(usize::try_from(every)?).skip(1).chain([last]);
        let mut walk = trace.walk(Box::new(which));
        while walk.next_request()?.is_some() {}
        row(what, bytes, &since.spent());
    }
    let (facts, cache) = (trace.facts(), trace.expected_cache());
    println!(
        "{} requests, {} tokens in; a cache would supply {:.2} % ({:?})",
        facts.records,
        facts.input,
        cache.share() * 100.0,
        cache.basis
    );
    Ok(())
}

fn row(what: &str, bytes: u64, spent: &Spent) {
    let megabytes = bytes as f64 / 1e6;
    let speed = megabytes / spent.wall.as_secs_f64();
    let known = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
    let processor = spent.processor.map(|time| format!("{:.0}", megabytes / time.as_secs_f64()));
    let memory = spent.memory.map(|bytes| format!("+{:.1} MB", bytes as f64 / 1e6));
    let (processor, memory) = (known(processor), known(memory));
    println!("{what:<38} {megabytes:>6.0} {speed:>8.0} {processor:>10} {memory:>12}");
}
