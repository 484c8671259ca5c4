//! A gate for somebody's own CI: fails where an endpoint has become slower than the baseline that is stored in a folder. Virtual time,
//! so that the answer is the same on any machine; `Experiment::run` measures a server in its place.

use std::error::Error;
use std::path::{Path, PathBuf};

use fizeau::core::Nanos;
use fizeau::experiment::{PromptSalt, SimulatedSystem, SweepLoads, SweepRates, WorkloadSpec};
use fizeau::record::{CompareOptions, ComparisonReport};
use fizeau::sim::Scenario;
use fizeau::workload::Lengths;

/// Measures eight requests in flight into `folder`, over a way to the engine that takes `delay_ms`.
fn measure(folder: &Path, delay_ms: u64) -> Result<(), Box<dyn Error>> {
    let engine = SimulatedSystem::new(Scenario::llama_3_1_8b_h100()?);
    let engine = engine.network_delay(Nanos::from_millis(delay_ms));
    let mut workload = WorkloadSpec::default();
    workload.lengths = Lengths::fixed(250, 50);
    workload.salt = PromptSalt::Given(1);
    let sweep = engine
        .experiment()
        .loads(SweepLoads::new(&[8], SweepRates::default())?)
        .workload(workload)
        .folder(folder);
    engine.run(&sweep, &mut ())?;
    Ok(())
}

/// What CI asks: is nothing worse than it was?
fn passes(baseline: &Path, candidate: &Path) -> Result<bool, Box<dyn Error>> {
    let folders = [baseline.to_owned(), candidate.to_owned()];
    let report = ComparisonReport::of_runs(&folders, &CompareOptions::default())?;
    Ok(report.passes())
}

fn main() -> Result<(), Box<dyn Error>> {
    let root: PathBuf = std::env::temp_dir().join(format!("fizeau-gate-{}", std::process::id()));
    let [baseline, same, slower] = ["baseline", "same", "slower"].map(|name| root.join(name));
    measure(&baseline, 1)?;
    measure(&same, 1)?;
    measure(&slower, 200)?;
    let answers = [passes(&baseline, &same)?, passes(&baseline, &slower)?];
    std::fs::remove_dir_all(&root)?;
    println!("as it was: {}, slower by 0.2 s: {}", answers[0], answers[1]);
    match answers {
        [true, false] => Ok(()),
        _ => Err("a regression is not seen, or seen where there is none".into()),
    }
}
