//! A whole sweep for a program: folder, operating point and page, byte for byte what the command line writes. In virtual time, so
//! that it takes none; `Experiment::new(target).folder(path).run(..)` does it over HTTP.

use fizeau::experiment::{PromptSalt, SimulatedSystemSpec, SweepLoads, SweepRates, WorkloadSpec};
use fizeau::interop::with_details;
use fizeau::record::RunFolder;
use fizeau::report::Shown;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("fizeau-embedded-{}", std::process::id()));
    let mut spec = SimulatedSystemSpec::default();
    spec.deployment.max_num_seqs = 64.try_into().ok();
    let engine = spec.load()?;
    let mut workload = WorkloadSpec::default();
    workload.salt = PromptSalt::Given(1);
    let sweep = engine
        .experiment()
        .loads(SweepLoads::new(&[1, 8], SweepRates::default())?)
        .workload(workload)
        .slo("p99 ttft<500ms, p99 tpot<20ms".parse()?)
        .folder(&folder);
    let report = engine.run(&sweep, &mut ())?;
    // What the page shows of the tapes themselves is read from the folder.
    let report = with_details(&folder, report)?;
    RunFolder::again(&folder).write_text("report.html", &Shown(&report).page())?;
    println!("{:?}: {}", report.operating_point(), folder.display());
    Ok(())
}
