//! The figures of a million requests of 250 tokens, from the lines of `tapes.jsonl`: how fast, and in how much memory.
//!
//! `cargo xtask bench tapes`, or with the number of requests after it. The lines are made up, no two alike, ten thousand at a
//! time; they are then read from memory, so that no disk is measured, and the making is not counted.

mod made_up;

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fizeau::core::Tape;
use fizeau::metrics::{GoodputGoals, LevelTally};
use fizeau::record::StoredTapes;
use fizeau_benches::{Since, Spent};

/// How many requests there are lines of at a time.
const AT_ONCE: u64 = 10_000;

fn main() -> Result<()> {
    let requests = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let requests = requests.unwrap_or(1_000_000_u64);
    println!("{:<44} {:>9} {:>9} {:>9} {:>9}", "", "MB", "wall s", "cpu s", "MB/s");
    parsers()?;
    let since = Since::now();
    let mut tally = LevelTally::new(&goals()?);
    let mut lines = Vec::new();
    let (mut read, mut bytes) = (Sum::default(), 0);
    for first in (0..requests).step_by(usize::try_from(AT_ONCE)?) {
        made_up::lines(first..requests.min(first + AT_ONCE), &mut lines)?;
        bytes += lines.len() as u64;
        let since = Since::now();
        for tape in StoredTapes::new("made up", &lines[..]) {
            tally.add(&tape?);
        }
        read.add(&since.spent());
    }
    row(&format!("{requests} requests, read and tallied"), bytes, read);
    let mut summed_up = Sum::default();
    let began = Since::now();
    let summary = black_box(tally.summary());
    summed_up.add(&began.spent());
    row("summary", 0, summed_up);
    row("both", bytes, Sum { wall: read.wall + summed_up.wall, cpu: read.cpu + summed_up.cpu });
    let events = summary.tokens.events;
    let memory =
        since.spent().memory.map_or_else(|| "-".to_owned(), |grown| format!("{}", grown >> 20));
    println!(
        "{events} events; memory grew by {memory} MiB at the most, {} of them lines",
        lines.len() >> 20
    );
    Ok(())
}

/// Some, so that goodput costs what it does.
fn goals() -> Result<GoodputGoals> {
    "ttft:500 tpot:50".parse().context("goals")
}

/// The same lines, by our own reader and by a general parser; in turns, the best of three.
fn parsers() -> Result<()> {
    let mut lines = Vec::new();
    made_up::lines(0..AT_ONCE, &mut lines)?;
    let (mut ours, mut serde) = (None, None);
    for _ in 0..3 {
        let since = Since::now();
        for tape in StoredTapes::new("made up", &lines[..]) {
            black_box(tape?);
        }
        keep_best(&mut ours, &since.spent());
        let since = Since::now();
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            black_box(serde_json::from_slice::<Tape>(line)?);
        }
        keep_best(&mut serde, &since.spent());
    }
    let bytes = lines.len() as u64;
    ours.into_iter()
        .for_each(|sum| row("10000 lines to tapes, as stored runs are read", bytes, sum));
    serde.into_iter().for_each(|sum| row("10000 lines to tapes, by serde_json alone", bytes, sum));
    Ok(())
}

fn keep_best(best: &mut Option<Sum>, spent: &Spent) {
    let mut sum = Sum::default();
    sum.add(spent);
    if best.is_none_or(|best| sum.cpu < best.cpu) {
        *best = Some(sum);
    }
}

/// Times of several stretches together.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    wall: Duration,
    /// The wall's where the system does not say.
    cpu: Duration,
}

impl Sum {
    fn add(&mut self, spent: &Spent) {
        self.wall += spent.wall;
        self.cpu += spent.processor.unwrap_or(spent.wall);
    }
}

fn row(what: &str, bytes: u64, sum: Sum) {
    let (megabytes, wall, cpu) =
        (bytes as f64 / 1e6, sum.wall.as_secs_f64(), sum.cpu.as_secs_f64());
    let speed = if bytes == 0 { "-".to_owned() } else { format!("{:.0}", megabytes / cpu) };
    println!("{what:<44} {megabytes:>9.0} {wall:>9.3} {cpu:>9.3} {speed:>9}");
}
