//! The speed of light: how many questions a second the library answers, and how soon the program does.
//!
//! `cargo xtask bench sol`. A system is prepared once; each evaluation is of another load. Rates are by processor time, so that
//! other programs on the machine hardly count, and allocations are counted by the allocator itself. The program answers a made-up
//! file of 200,000 questions, and fifty times one question from the start. Each figure stands beside what is asked of it; nothing
//! is asserted.

mod evaluations;
#[path = "../transport/program.rs"]
mod program;
mod questions;

use anyhow::Result;

#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn main() -> Result<()> {
    evaluations::run(ALLOCATOR)?;
    println!();
    questions::run(&program::build()?)
}
