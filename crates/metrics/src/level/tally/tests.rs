//! What a tally holds of more requests than it keeps.

use fizeau_core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape};

use super::LevelTally;
use crate::{GoodputGoals, PercentileResolution, PooledSample};

/// The `n`th request: due every 2 ms, with a reply of two events within 30 ms.
fn request(n: u64) -> Tape {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let sent = Stamp::EPOCH + Nanos::from_millis(2 * n);
    let mut tape = Tape { request: RequestId(n), ..Tape::sent_at(sent) };
    for event in 1..=2 {
        let at = sent + Nanos::from_micros(event * (5_000 + mixed % 9_000));
        tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    }
    tape.marks.end = tape.last_output();
    tape
}

/// How many bytes are held after so many requests, but for gaps: in cells of time, and in all else.
fn held(requests: u64, most: usize) -> [usize; 2] {
    let mut tally = LevelTally::new(&GoodputGoals::default()).exact_up_to(most);
    (0..requests).for_each(|n| tally.add(&request(n)));
    let [cells, kept] = tally.timeline.bytes();
    assert!(tally.timeline.requests().len() <= most);
    // A gap each: what is pooled over tokens has a limit of its own.
    let gaps = 4 * requests as usize;
    let rest = tally.latencies.bytes() - gaps + tally.output.bytes() + tally.arrivals.bytes();
    [cells + tally.over_time.cells.bytes(), kept + rest]
}

/// Four times as many requests over four times as long take more cells of a millisecond, which have a limit of 2^17 of each kind, and
/// nothing else.
#[test]
fn requests_beyond_the_limit_take_no_memory() {
    const MOST: usize = 512;
    let (less, more) = (held(2_000, MOST), held(8_000, MOST));
    assert!(more[1] <= less[1], "{more:?} after {less:?}");
    // Eighty bytes of each that is kept, twice eight for its arrival with room for as many again, and for each of twenty figures
    // buckets of four octaves at the most.
    assert!(more[1] <= MOST * (80 + 2 * 2 * 8) + 20 * 4 * 8 * 1100, "{more:?}");
    // 16 s of cells, of eight bytes and with room for as many again, of seven events and of tokens.
    assert!(more[0] <= 8 * 8 * 2 * 16_384 * 2, "{more:?}");
}

/// Where memory is no matter, percentiles of gaps are exact too, however many there are.
#[test]
fn every_gap_can_be_kept() {
    let gaps = PooledSample::EXACT as u64 + 1;
    let mut tape = request(0);
    let arrival = |n: u64| Arrival::tokens(Stamp::from_nanos(1 + n * n), 1, Channel::Visible);
    tape.arrivals = (0..=gaps).map(arrival).collect();
    let resolution = |tally: LevelTally| {
        let mut tally = tally;
        tally.add(&tape);
        tally.summary().metrics.icl.resolution
    };
    let tally = || LevelTally::new(&GoodputGoals::default());
    assert_ne!(resolution(tally()), PercentileResolution::Exact);
    assert_eq!(resolution(tally().exact_up_to(usize::MAX)), PercentileResolution::Exact);
}
