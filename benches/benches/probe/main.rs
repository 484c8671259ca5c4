//! What `fizeau probe` measures of the processor, and what other tools say of it in the same run.
//!
//! `cargo xtask bench probe [ROUNDS]` (3 rounds unless said otherwise, each of about 50 seconds). Ours and theirs take short turns, and of
//! each the best of all turns counts: the bandwidth of all processors shows only while nobody else has any of them. Triad and reads are held against STREAM (a C program of ours after its definition, with and without stores past the
//! caches) and likwid-bench, products of matrices against numpy with OpenBLAS, peak arithmetic against clock times units, and
//! latency against a C program that follows pointers. What is not installed is named and left out. Nothing is asserted: each row
//! has its bar.

mod c_programs;
mod others;
mod ours;
mod table;

use anyhow::Result;

use c_programs::CPrograms;
use others::{Likwid, Numpy};
use ours::Ours;
use table::{Better, Row};

/// Elements of a row and of a column of the matrices.
const SIZE: u64 = 2048;
/// Rounds unless somebody says how many.
const ROUNDS: usize = 3;
/// Turns of a round.
const TURNS: usize = 4;

fn main() -> Result<()> {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let numpy = found("numpy with OpenBLAS", Numpy::installed());
    if let Some(numpy) = &numpy {
        found("numpy's OpenBLAS for the probe too", numpy.shared_with_ours());
    }
    let mut ours = Ours::new();
    println!("{}: the best of {rounds} rounds of {TURNS} turns", ours.machine());
    let programs = found("STREAM and pointers in C", CPrograms::compiled());
    let likwid = found("likwid-bench", Likwid::found());
    others::say_whether_tinymembench();

    let array = ours.array_bytes();
    let mut triad = Row::new("triad, GB/s", Better::Higher, 0.03);
    let mut read = Row::new("read, GB/s", Better::Higher, 0.03);
    let mut gemm = Row::new("GEMM f32 2048, GFLOP/s", Better::Higher, 0.05);
    let mut peak = Row::new("peak f32, GFLOP/s", Better::Higher, 0.03);
    let mut latency = Row::new("latency, ns", Better::Lower, 0.05);
    for turn in 0..rounds * TURNS {
        if turn % TURNS == 0 {
            eprintln!("round {} of {rounds}", turn / TURNS + 1);
        }
        triad.ours(ours.triad()?);
        read.ours(ours.read()?);
        if let Some(programs) = &programs {
            programs.stream(array, &mut triad, &mut read)?;
        }
        gemm.ours(ours.gemm(SIZE)?);
        if let Some(numpy) = &numpy {
            gemm.theirs("numpy", numpy.gemm(SIZE)?);
        }
        let (reached, by_clock) = ours.peak()?;
        peak.ours(reached);
        if let Some(by_clock) = by_clock {
            peak.theirs("clock x units", by_clock);
        }
        latency.ours(ours.latency()?);
        if let Some(programs) = &programs {
            latency.theirs("pointers in C", programs.latency(2.0 * array)?);
        }
        // Its kernels are many: once a round.
        if let Some(likwid) = likwid.as_ref().filter(|_| turn % TURNS == 0) {
            likwid.best(&["stream", "stream_mem"], 3.0 * array, &mut triad);
            likwid.best(&["load"], array, &mut read);
        }
    }
    table::head();
    [triad, read, gemm, peak, latency].iter().for_each(Row::print);
    Ok(())
}

/// What is there; what is not is said.
fn found<T>(what: &str, there: Result<T>) -> Option<T> {
    there.map_err(|error| println!("left out: {what}: {error:#}")).ok()
}
