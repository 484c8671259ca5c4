//! How many of 1,000 A/B runs of two sides that do not differ see a difference; at a level of 0.05 it should be fifty at the
//! most, but for chance.
//!
//! `cargo xtask bench false-alarms`: in virtual time, on a made-up machine that drifts. The tests count small runs; these are of
//! the usual size, and take minutes.
#![allow(clippy::unwrap_used, reason = "shared with a test")]

#[path = "../../../crates/fizeau/tests/it/ab/counts.rs"]
mod counts;
#[path = "../../../crates/fizeau/tests/it/ab/weather.rs"]
mod weather;

use counts::{Design, FEW, alarm, count};
use weather::{Size, USUAL, Weather};

fn main() {
    for (rounds, requests) in [(5, FEW), (10, FEW), (10, 100)] {
        let [alarms] = count(1_000, Size { rounds, requests }, USUAL, |turns| {
            [alarm(turns, Design::Alternating)]
        });
        println!("{alarms:4} of 1,000 runs of {rounds} rounds of {requests} requests a side");
    }
    let warming = Weather { drift_a_minute: 0.5, ..USUAL };
    let designs = [Design::Alternating, Design::SameFirst, Design::OneAfterTheOther];
    let alarms = count(200, Size { rounds: 10, requests: FEW }, warming, |turns| {
        designs.map(|design| alarm(turns, design))
    });
    for (design, alarms) in designs.iter().zip(alarms) {
        println!("{alarms:4} of 200 runs on a machine that slows by half in a minute: {design:?}");
    }
}
