//! Requests against requests.

use fizeau_core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape};
use fizeau_metrics::{
    Answer, Basis, ComparedRequests, ComparisonSettings, ComparisonTable, ComparisonTest, Figure,
    FigureChoice, GoodputGoals, Pace, Pairing, RandomBits, ResampleSeed, Untested,
};
use proptest::prelude::*;

use crate::cases;

/// Requests every 10 ms, whose TTFT in milliseconds are given: two tokens each, the second 5 ms after the first.
fn run(ttft: &[f64]) -> ComparedRequests {
    let mut requests = ComparedRequests::new(Pace::OpenLoop, &"ttft:60".parse().unwrap());
    for (number, ttft) in (0..).zip(ttft) {
        let sent = Stamp::EPOCH + Nanos::from_millis(10 * number);
        let first = sent + Nanos::from_nanos((ttft * 1e6) as u64);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        tape.arrivals.push(Arrival::tokens(first, 1, Channel::Visible));
        let second = first + Nanos::from_nanos((4e6 + 1e4 * ttft) as u64);
        tape.arrivals.push(Arrival::tokens(second, 1, Channel::Visible));
        tape.marks.end = Some(second);
        requests.add(&tape);
    }
    requests
}

fn settings(resamples: u32) -> ComparisonSettings {
    let figures = [Figure::P50_TTFT, Figure::P99_TTFT, Figure::OUTPUT_TPS];
    ComparisonSettings { figures: FigureChoice::only(figures), resamples, ..Default::default() }
}

/// Latencies that hang together: an AR(1) series of exponential-tailed values around 50 ms.
fn series(bits: &mut RandomBits, n: usize, memory: f64) -> Vec<f64> {
    let mut noise = || (0..12).map(|_| bits.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
    let mut last = noise() / (1.0 - memory * memory).sqrt();
    let own = (1.0 - memory * memory).sqrt();
    let step = |_| {
        last = memory * last + noise();
        50.0 * (0.1 * last * own).exp()
    };
    (0..n).map(step).collect()
}

/// The same latencies in a closed loop of eight slots.
fn closed(e2el: &[f64]) -> ComparedRequests {
    let mut requests = ComparedRequests::new(Pace::ClosedLoop, &"ttft:60".parse().unwrap());
    let mut free = [0_u64; 8];
    for (number, e2el) in (0..).zip(e2el) {
        let slot = (0..8).min_by_key(|&slot| free[slot]).unwrap();
        let sent = Stamp::EPOCH + Nanos::from_nanos(free[slot]);
        let mut tape = Tape { request: RequestId(number), ..Tape::sent_at(sent) };
        let end = sent + Nanos::from_nanos((e2el * 1e6) as u64);
        tape.arrivals.push(Arrival::tokens(end, 1, Channel::Visible));
        tape.marks.end = Some(end);
        requests.add(&tape);
        free[slot] += (e2el * 1e6) as u64;
    }
    requests
}

#[test]
#[ignore]
fn sizes() {
    let mut bits = RandomBits::new(ResampleSeed(6));
    for pairing in [Pairing::ByNumber, Pairing::None] {
        for memory in [0.0, 0.6] {
            for n in [50, 100, 200, 600] {
                let repeats = 1000;
                let mut alarms = [0; 5];
                let mut tested = [0; 5];
                let figures = [
                    Figure::P50_TTFT,
                    Figure::P99_TTFT,
                    "mean ttft".parse().unwrap(),
                    Figure::OUTPUT_TPS,
                    Figure::GOOD_SHARE,
                ];
                let settings = ComparisonSettings {
                    figures: FigureChoice { decided: vec![], beside: figures.to_vec() },
                    resamples: 500,
                    ..Default::default()
                };
                let mut mw = 0;
                for _ in 0..repeats {
                    let common = series(&mut bits, n, memory);
                    let (mut a, mut b) =
                        (series(&mut bits, n, memory), series(&mut bits, n, memory));
                    if pairing == Pairing::ByNumber {
                        for k in 0..n {
                            a[k] += common[k] - 50.0;
                            b[k] += common[k] - 50.0;
                        }
                    }
                    let t =
                        ComparisonTable::of_requests(&closed(&a), &closed(&b), pairing, &settings);
                    for (k, row) in t.rows.iter().enumerate() {
                        if let Ok(x) = &row.tested {
                            tested[k] += 1;
                            alarms[k] += u32::from(x.p().unwrap().get() <= 0.05);
                            if k == 0 && pairing == Pairing::None {
                                mw += u32::from(x.tests[1].p.get() <= 0.05);
                            }
                        }
                    }
                }
                println!("{pairing:?} rho {memory} n {n}: {alarms:?} of {tested:?} mw {mw}");
            }
        }
    }
}
