//! The simulated engine: how many requests a second it gets through, alone and behind a router.
//!
//! `cargo xtask bench sim`. Requests of a chat workload, 1,024 tokens in and 128 out, arrive at random (Poisson) and are handed
//! over one at a time, so that memory is that of the requests in flight. Rates are by processor time, so that other programs on
//! the machine hardly count. Each figure stands beside what is asked of it; nothing is asserted.

mod load;
mod runs;

use anyhow::Result;

fn main() -> Result<()> {
    runs::one_replica()?;
    println!();
    runs::pace()?;
    println!();
    runs::many_replicas()
}
