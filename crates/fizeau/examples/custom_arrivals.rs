//! Arrivals of your own, in a plan like any other: a class of users who all press the key at the full second.

use fizeau::core::Nanos;
use fizeau::workload::{ArrivalProcess, Draws, Instants, Plan, Spec, SpecError};

#[derive(Debug)]
struct OnTheSecond {
    users: u64,
}

impl ArrivalProcess for OnTheSecond {
    fn instants(&self, sessions: u64, mut draws: Draws) -> Instants {
        let (users, mut late) = (self.users, Vec::new());
        Box::new((0..sessions).map(move |number| {
            if number % users == 0 {
                // Everybody is up to 50 ms late; instants must not decrease.
                late = (0..users).map(|_| draws.below(50)).collect();
                late.sort_unstable_by(|a, b| b.cmp(a));
            }
            Nanos::from_millis(number / users * 1_000 + late.pop().unwrap_or_default())
        }))
    }
}

fn main() -> Result<(), SpecError> {
    let plan = Plan::builder(Spec::new(12)?).arrivals(OnTheSecond { users: 4 }).build()?;
    for scheduled in plan.source() {
        let (id, at) = (scheduled.request.id.0, scheduled.at.unwrap_or_default());
        println!("request {id:>2} leaves at {at}");
    }
    Ok(())
}
