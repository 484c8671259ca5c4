//! Many shards: their tapes merged, and a meeting of a thousand of them on the loopback.
//!
//! `cargo xtask bench scale`, or with the number of requests of a level after it: by default a million, with a hundred million tokens. Tapes are made
//! up as they are read, no two alike, so that no disk is measured; what the making alone takes stands beside it. Between two levels shard 0 does what
//! the rows say for theirs, and decides by the summary, whose row stands apart.
//!
//! 256 shards of a million requests *each* would be a terabyte of tapes, hours of making them up. There the shards' tallies are merged, not their
//! tapes: the tallies of four shards are made, each from tapes of its own, and each is taken for 64 shards.

mod meeting;

use std::hint::black_box;
use std::io::{self, BufReader, Read};

use anyhow::Result;
use fizeau::core::{Arrival, Channel, Nanos, RequestId, SessionId, Stamp, Tape, Tokens};
use fizeau::metrics::{GoodputGoals, LevelTally};
use fizeau::record::{ClockAxis, ClockReading, ClockSource, MergedTapes, StoredTapes, TailShares};
use fizeau_benches::{Since, Spent};

/// Tokens of a reply, one an event.
const TOKENS: u64 = 100;

fn main() -> Result<()> {
    if meeting::take_part()? {
        return Ok(());
    }
    let requests = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let requests = requests.unwrap_or(1_000_000_u64);
    println!("{:<52} {:>9} {:>9} {:>9}", "", "wall s", "cpu s", "MiB");
    let since = Since::now();
    io::copy(&mut MadeUp::share(0, 1, requests), &mut io::sink())?;
    row(&format!("{requests} requests of {TOKENS} tokens made up"), &since.spent());
    for (shards, requests) in
        [(8, 10_000), (1, requests), (8, requests), (64, requests), (256, requests)]
    {
        merge(shards, requests)?;
    }
    fold(requests)?;
    let (participants, spent) = meeting::hold()?;
    row(&format!("{participants} shards met on the loopback"), &spent);
    Ok(())
}

/// What shard 0 does with the tapes of a level: onto one clock, in order, added up, summed up.
fn merge(shards: u64, requests: u64) -> Result<()> {
    let since = Since::now();
    let goals: GoodputGoals = "ttft:500 tpot:50".parse()?;
    let files = (0..shards).map(|index| {
        let lines = BufReader::new(MadeUp::share(index, shards, requests));
        (StoredTapes::new("made up", lines), (index > 0).then(|| axis(index)))
    });
    let mut tapes = MergedTapes::by_clocks(files);
    let (mut tally, mut tail) = (LevelTally::new(&goals), TailShares::of(requests));
    while let Some(next) = tapes.next_of() {
        let (number, tape) = next?;
        tally.add(&tape);
        tail.add(number, &tape);
    }
    row(&format!("{requests} requests of {shards} shards made up and merged"), &since.spent());
    let since = Since::now();
    tally.settle();
    black_box((tally.summary(), tail));
    row("  their summary, by which the next level is decided", &since.spent());
    Ok(())
}

/// How many shards are merged by their tallies, and of how many the tallies are made.
const FOLDED: [u64; 2] = [256, 4];

/// So many shards of so many requests each, added up from their tallies, and their summary.
fn fold(requests: u64) -> Result<()> {
    let goals: GoodputGoals = "ttft:500 tpot:50".parse()?;
    let [shards, made] = FOLDED;
    let since = Since::now();
    let tallied = (0..made).map(|index| {
        let mut tally = LevelTally::new(&goals);
        (0..requests).for_each(|number| tally.add(&tape(index + shards * number)));
        tally
    });
    let tallies: Vec<LevelTally> = tallied.collect();
    row(&format!("{made} x {requests} requests made up and tallied"), &since.spent());
    let since = Since::now();
    let mut whole = LevelTally::new(&goals);
    for tally in tallies.iter().cycle().take(usize::try_from(shards)?) {
        whole.merge(tally.clone());
    }
    row(&format!("tallies of {shards} x {requests} requests merged"), &since.spent());
    let since = Since::now();
    whole.settle();
    black_box(whole.summary());
    row("  their summary, by which the next level is decided", &since.spent());
    Ok(())
}

/// The clock of a shard: some seconds off, and fast by some millionths.
fn axis(index: u64) -> ClockAxis {
    let read = |seconds: u64| ClockReading {
        at: Stamp::EPOCH + Nanos::from_secs(seconds),
        ahead_ns: -((index * 1_000_000 + seconds * 20_000) as i64),
        uncertainty_ns: Some(30_000),
        source: ClockSource::RoundTrips,
    };
    ClockAxis::between(read(0), read(600))
}

/// The lines of a shard's tapes, each made as it is read.
struct MadeUp {
    next: u64,
    step: u64,
    end: u64,
    line: Vec<u8>,
    read: usize,
}

impl MadeUp {
    fn share(index: u64, count: u64, requests: u64) -> Self {
        Self { next: index, step: count, end: requests, line: Vec::new(), read: 0 }
    }
}

impl Read for MadeUp {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() && self.next < self.end {
            self.line.clear();
            serde_json::to_writer(&mut self.line, &tape(self.next))?;
            self.line.push(b'\n');
            (self.read, self.next) = (0, self.next + self.step);
        }
        let count = self.line.get(self.read..).unwrap_or_default().read(into)?;
        self.read += count;
        Ok(count)
    }
}

/// A request; ten thousand leave a second, and none is quite like another.
fn tape(id: u64) -> Tape {
    let sent = Stamp::EPOCH + Nanos::from_nanos(100_000 * id + id * 7_919 % 90_000);
    let mut tape = Tape::sent_at(sent);
    (tape.request, tape.session) = (RequestId(id), SessionId(id));
    tape.requested.output_tokens = Tokens::new(TOKENS);
    for number in 1..=TOKENS {
        let at = sent + Nanos::from_nanos(number * (15_000_000 + id * 104_729 % 5_000_000));
        tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    }
    tape.marks.end = tape.last_token();
    tape
}

fn row(what: &str, spent: &Spent) {
    let (wall, cpu) = (spent.wall, spent.processor.unwrap_or(spent.wall));
    let memory = spent.memory.map_or_else(|| "-".to_owned(), |grown| (grown >> 20).to_string());
    println!("{what:<52} {:>9.3} {:>9.3} {memory:>9}", wall.as_secs_f64(), cpu.as_secs_f64());
}
