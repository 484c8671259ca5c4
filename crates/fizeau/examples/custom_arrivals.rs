//! Arrivals of your own, in a plan like any other: users who all press the key at the full second, up to 50 ms late.

use fizeau::core::Nanos;
use fizeau::workload::{ArrivalProcess, Instants, Plan, PlanSpec, RandomStream, SpecError};

/// Each second, as many as there are users.
#[derive(Debug)]
struct OnTheSecond(u64);

impl ArrivalProcess for OnTheSecond {
    fn instants(&self, sessions: u64, mut draws: RandomStream) -> Instants {
        let users = self.0;
        Box::new((0..sessions.div_ceil(users)).flat_map(move |second| {
            let mut late: Vec<u64> = (0..users).map(|_| draws.below(50)).collect();
            late.sort_unstable(); // Instants never decrease.
            late.into_iter().map(move |late| Nanos::from_millis(second * 1_000 + late))
        }))
    }
}

fn main() -> Result<(), SpecError> {
    let plan = Plan::builder(PlanSpec::new(12)?).arrivals(OnTheSecond(4)).build()?;
    for scheduled in plan.source() {
        println!("{:?} leaves at {}", scheduled.request.id, scheduled.at.unwrap_or_default());
    }
    Ok(())
}
