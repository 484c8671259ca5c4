//! A whole sweep for a program: folder, operating point and page, byte for byte what the command line writes. In virtual time, so
//! that it takes none; `Experiment::new(target).folder(path).run(..)` does it over HTTP.

use fizeau::core::Nanos;
use fizeau::experiment::{
    Experiment, LoadedModel, PromptSalt, SweepLoads, SweepRates, SystemUnderTest, WorkloadSpec,
};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::interop::with_details;
use fizeau::record::{DeploymentRecord, ReferenceFiles, RunFolder, SpeedOfLightReference};
use fizeau::report::Shown;
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::transport::{Backend, Target};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("fizeau-embedded-{}", std::process::id()));
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let scenario = Scenario::llama_3_1_8b_h100()?;
    let (name, system) = (scenario.model_name(), scenario.system());
    let engine = SimTransport::new(&time, scenario.serve()).with_delay(Nanos::from_micros(50));
    let rig = Rig { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut said = DeploymentRecord::default();
    said.max_num_seqs = 64.try_into().ok();
    let mut files = ReferenceFiles::default();
    files.model_config = Some(LoadedModel::named("llama-3.1-8b")?.text);
    let light = SpeedOfLightReference::new(name, system.clone()).recorded(said, files);
    let mut workload = WorkloadSpec::default();
    workload.salt = PromptSalt::Given(1);
    let experiment = Experiment::new(Target::new("http://127.0.0.1:1", Backend::Vllm, name)?)
        .system(SystemUnderTest::simulated(scenario.describe(), name))
        .speed_of_light(light)
        .loads(SweepLoads::new(&[1, 8], SweepRates::default())?)
        .workload(workload)
        .slo("p99 ttft<500ms, p99 tpot<20ms".parse()?)
        .folder(&folder);
    let report = time.block_on(experiment.run_with(rig, &mut ()))??;
    // What the page shows of the tapes themselves is read from the folder.
    let report = with_details(&folder, report)?;
    RunFolder::again(&folder).write_text("report.html", &Shown(&report).page())?;
    println!("{:?}: {}", report.operating_point(), folder.display());
    Ok(())
}
