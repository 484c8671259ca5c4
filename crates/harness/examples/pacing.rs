//! How late a release is on this machine: `cargo run --release -p fizeau-harness --example pacing`.
//!
//! Releases 2,000 requests at 1,000 a second to nowhere, on a thread of its own as a worker of a pool has it, and prints
//! how late they were and what CPU that took.

use std::error::Error;

use fizeau_core::{Clock, Nanos, Timer};
use fizeau_harness::Pacer;
use fizeau_transport::MonotonicClock;

const RELEASES: u64 = 2_000;
const PER_SECOND: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut late, cpu) = runtime.block_on(tokio::task::coop::unconstrained(paced()))?;
    late.sort_unstable();
    let at = |share: f64| {
        let index = (share * (late.len() - 1) as f64).round() as usize;
        late.get(index).copied().unwrap_or_default()
    };
    println!("{RELEASES} releases at {PER_SECOND}/s");
    println!("lateness p50 {}  p99 {}  max {}", at(0.5), at(0.99), at(1.0));
    println!("CPU share of the releasing thread {:.1} %", cpu * 100.0);
    Ok(())
}

/// How late each release was, and the thread's CPU time over wall time.
async fn paced() -> Result<(Vec<Nanos>, f64), Box<dyn Error>> {
    let timer = Pacer::new(MonotonicClock::new());
    let mut late = Vec::new();
    let cpu_before = on_cpu()?;
    let start = timer.now() + Nanos::from_millis(10);
    for k in 0..RELEASES {
        let due = start + Nanos::from_secs(1) * k / PER_SECOND;
        timer.sleep_until(due).await;
        late.push(timer.now().saturating_since(due));
    }
    let wall = timer.now().saturating_since(start);
    Ok((late, on_cpu()?.saturating_sub(cpu_before) as f64 / wall.as_nanos() as f64))
}

/// Nanoseconds that this thread has been on a CPU, by Linux's account.
fn on_cpu() -> Result<u64, Box<dyn Error>> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(account.split_ascii_whitespace().next().ok_or("an empty account")?.parse()?)
}
