//! A gate for somebody's own CI: fails where an endpoint has become slower than its goals allow. Virtual time, so that the answer is
//! the same on any machine.

use std::error::Error;

use fizeau::core::Tokens;
use fizeau::experiment::{Experiment, SweepLoads, SweepRates, WorkloadSpec};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::record::SweepReport;
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::transport::{Backend, Target};
use fizeau::workload::Lengths;

/// What prompts of so many tokens come to at eight requests in flight.
fn measured(prompt: u64) -> Result<SweepReport, Box<dyn Error>> {
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100()?.engine());
    let rig = Rig { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut workload = WorkloadSpec::default();
    workload.lengths = Lengths::fixed(Tokens::new(prompt).get(), 50);
    let experiment = Experiment::new(Target::new("http://127.0.0.1:1", Backend::Vllm, "llama")?)
        .loads(SweepLoads::new(&[8], SweepRates::default())?)
        .workload(workload)
        .slo("p99 ttft<200ms".parse()?);
    Ok(time.block_on(experiment.run_with(rig, &mut ()))??)
}

/// What CI asks: may this be released?
fn is_within_goals(report: &SweepReport) -> bool {
    report.operating_point().level().is_some()
}

fn main() -> Result<(), Box<dyn Error>> {
    assert!(is_within_goals(&measured(250)?), "as it was");
    assert!(!is_within_goals(&measured(8_000)?), "a regression is seen");
    println!("a prompt of 250 tokens is within its goal, one of 8,000 is not");
    Ok(())
}
