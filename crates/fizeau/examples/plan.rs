//! How many devices serve a demand, and what they cost, from a stored run: `cargo run -p fizeau --example plan -- RUN`; without an
//! argument a run of the fixtures.

use fizeau::experiment::{PlanSettings, PlannedReplica};
use fizeau::pareto::Demand;
use fizeau::record::TestedReplica;
use fizeau::report::Shown;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let folder = std::env::args().nth(1).unwrap_or_else(|| fixture.to_owned());
    let replica = PlannedReplica::new("this one", TestedReplica::read(folder)?);
    let mut plan = PlanSettings::new(Demand::new(100.0, 0.2, 1)?, vec![replica]);
    plan.slo = Some("p99 e2el<10s".parse()?);
    let report = plan.plan()?;
    print!("{}", Shown(&report).text());
    match report.is_met() {
        true => Ok(()),
        false => Err("no number of replicas keeps these goals".into()),
    }
}
