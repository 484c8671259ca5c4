//! Diagnoses: the causes add up to what was measured, whatever the probe found.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use fizeau_core::{Bytes, BytesPerSec, LevelLoad, Millis, PerSec, Seconds, Tokens};
use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{
    Diagnosed, DiagnosedFigure, DiagnosisDocument, InvalidLevels, ProbedSilicon, ReadRun,
    RunReader, SlowdownCause, StoredRun, Waterfall, WaterfallStep,
};
use fizeau_roofline::{
    Collective, Deployment, Device, KnownModel, MeasuredCollective, PhaseSchedule, System,
    UniformLoad,
};
use proptest::prelude::*;

use crate::reading::as_it_was;

fn simulated() -> ReadRun {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated"));
    let run = StoredRun::open(path).unwrap();
    let reader = run.reader().unwrap();
    reader.together(reader.levels().unwrap()).unwrap()
}

fn system(run: &ReadRun) -> &System {
    run.reference.as_ref().unwrap().reference().system
}

fn waterfalls(document: &DiagnosisDocument) -> Vec<&Waterfall> {
    let both = document.levels.iter().flat_map(|level| [&level.ttft, &level.tpot]);
    both.filter_map(|figure| figure.waterfall()).collect()
}

fn cause(waterfall: &Waterfall, cause: SlowdownCause) -> Option<f64> {
    let step = waterfall.steps.iter().find(|step| step.cause == cause)?;
    Some(step.adds_ms.get())
}

/// What steps add up to may differ from what was measured by what nothing is said of.
fn adds_up(waterfall: &Waterfall) -> bool {
    let sum: f64 = waterfall.steps.iter().map(|step| step.adds_ms.get()).sum();
    let measured = waterfall.measured_ms.get();
    (sum - measured).abs() <= measured * 0.005
}

#[test]
fn every_level_is_explained_from_its_bound_to_its_measurement() {
    let run = simulated();
    let document = Diagnosed::new(&run.levels, system(&run)).diagnose("a model");
    assert_eq!(document.levels.len(), run.levels.len());
    let all = waterfalls(&document);
    assert_eq!(all.len(), 2 * run.levels.len());
    for waterfall in all {
        assert!(adds_up(waterfall), "{waterfall:?}");
        assert_eq!(waterfall.steps[0].cause, SlowdownCause::DataSheet);
        assert!(waterfall.steps[0].share > 0.0 && waterfall.steps[0].share <= 1.0);
        assert!(cause(waterfall, SlowdownCause::Silicon).is_none());
        assert!(!waterfall.try_first.advice.is_empty());
    }
    as_it_was("diagnosis", &document.to_json().unwrap());
    let json: serde_json::Value = serde_json::from_str(&document.to_json().unwrap()).unwrap();
    assert_eq!(json["schema"], "fizeau.diagnosis/1");
    let back: DiagnosisDocument = serde_json::from_value(json).unwrap();
    assert_eq!(back, document);
}

#[test]
fn the_lightest_level_has_no_queue() {
    let run = simulated();
    let document = Diagnosed::new(&run.levels, system(&run)).diagnose("a model");
    let least = document.levels.iter().min_by(|a, b| a.in_flight.total_cmp(&b.in_flight)).unwrap();
    let ttft = least.ttft.waterfall().unwrap();
    assert!(cause(ttft, SlowdownCause::BatchAndQueue).is_none(), "{ttft:?}");
    assert!(document.fullest().unwrap().in_flight >= least.in_flight);
}

/// With one level, and many requests in it, the engine's overhead and what others cost are one cause, without a range.
#[test]
fn one_level_under_load_does_not_tell_the_engine_from_the_batch() {
    let run = simulated();
    let [_, fullest] = &run.levels[..] else { panic!("one at a time, and eight") };
    let one = std::slice::from_ref(fullest);
    let document = Diagnosed::new(one, system(&run)).diagnose("a model");
    for waterfall in waterfalls(&document) {
        assert!(adds_up(waterfall), "{waterfall:?}");
        assert!(cause(waterfall, SlowdownCause::LaunchesAndSteps).is_none(), "{waterfall:?}");
        let both = waterfall.steps.iter().find(|step| step.cause == SlowdownCause::EngineOrQueue);
        let both = both.unwrap();
        assert_eq!(both.range_ms, None);
        assert!(both.evidence.contains("cannot be told apart"), "{}", both.evidence);
    }
}

/// What the roofline model does not expect of a first token where nothing queues is the engine's own, at each level.
#[test]
fn a_first_token_that_is_later_than_its_prompt_takes_has_launches_and_steps() {
    let run = simulated();
    let system = system(&run);
    let own = |share: f64| {
        let system = system.with_arithmetic(share).unwrap().with_bandwidth(share).unwrap();
        let document = Diagnosed::new(&run.levels, &system).diagnose("a model");
        let ttft = document.levels.iter().map(|level| level.ttft.waterfall());
        ttft.map(|ttft| cause(ttft?, SlowdownCause::LaunchesAndSteps)).collect::<Vec<_>>()
    };
    let (as_it_is, faster) = (own(1.0), own(4.0));
    assert!(as_it_is.iter().all(|adds| *adds == as_it_is[0] && adds.unwrap() > 0.0));
    assert!(faster[0] > as_it_is[0], "{faster:?} {as_it_is:?}");
    assert_eq!(own(0.5)[0], None, "the model expects more than was measured");
}

#[test]
fn devices_without_links_have_no_collectives_and_several_have() {
    let run = simulated();
    let alone = system(&run);
    let deployment = Deployment::SINGLE.with_tensor(2).unwrap();
    let two = System::new(alone.model().clone(), alone.device().clone(), deployment).unwrap();
    for (system, has) in [(alone, false), (&two, true)] {
        let document = Diagnosed::new(&run.levels, system).diagnose("a model");
        let all = waterfalls(&document);
        assert!(all.iter().all(|of| cause(of, SlowdownCause::Collectives).is_some() == has));
    }
}

/// A probe of the devices' collectives is what the step of collectives is made of, with its range, and the sum stays.
#[test]
fn measured_collectives_are_told_by_the_size_of_their_messages() {
    let run = simulated();
    let alone = system(&run);
    let deployment = Deployment::SINGLE.with_tensor(2).unwrap();
    let two = System::new(alone.model().clone(), alone.device().clone(), deployment).unwrap();
    let line = (Seconds::new(10e-6), Some(BytesPerSec::new(1e11)));
    let sizes = [32768.0, 1e9].map(Bytes::new);
    let mut device = alone.device().clone();
    for collective in [Collective::AllReduce, Collective::AllGather] {
        let measured = MeasuredCollective::new(collective, 2, sizes, line, "a probe");
        device = device.with_collective(measured.with_within(0.1)).unwrap();
    }
    let probed = ProbedSilicon::of(&two, &device).unwrap();
    let document = Diagnosed::new(&run.levels, &two).with_probe(Some(&probed)).diagnose("a model");
    as_it_was("diagnosis-probed", &document.to_json().unwrap());
    for waterfall in waterfalls(&document) {
        assert!(adds_up(waterfall), "{waterfall:?}");
        let step = waterfall.steps.iter().find(|step| step.cause == SlowdownCause::Collectives);
        let step = step.unwrap();
        assert!(step.evidence.contains(" all-reduces of "), "{}", step.evidence);
        assert!(step.evidence.contains(" among 2, ") && !step.evidence.contains("data sheet"));
        let [low, high] = step.range_ms.unwrap();
        let share = |end: Millis| end.get() / step.adds_ms.get();
        assert!((share(low) - 0.9).abs() < 1e-9 && (share(high) - 1.1).abs() < 1e-9, "{step:?}");
    }
}

/// A part as it was measured, of which that is the data sheet.
fn measured(sheet: &str) -> Device {
    let cell = |value: f64| format!("{{ value = {value:.0}, source = \"probe\" }}");
    let text = format!(
        "name = \"a\"\ntitle = \"a part as measured\"\ndata_sheet = \"{sheet}\"\n[sources]\nprobe = {{ name = \"a probe\" }}\n\
         [memory]\ncapacity = {}\nbandwidth = {}\n[rates]\nbf16 = {}\n",
        cell(8e10),
        cell(3e12),
        cell(7e14)
    );
    Device::from_toml(&text).unwrap()
}

#[test]
fn a_run_on_measured_devices_is_told_apart_from_their_data_sheet() {
    let run = simulated();
    let printed = system(&run).with_device(Device::named("h100-sxm").unwrap().clone());
    let measured = printed.with_device(measured("h100-sxm"));
    let (sheet, own) = ProbedSilicon::of_measured(&measured).unwrap();
    assert_eq!(sheet.device().name, "h100-sxm");
    assert_eq!(own.system().device().memory_bandwidth(), measured.device().memory_bandwidth());
    assert!(ProbedSilicon::of_measured(&printed).is_none());
}

/// What a probe found of a processor is no data sheet, also where the same probe is named again.
#[test]
fn a_bound_by_what_was_measured_is_said_to_be_that() {
    let run = simulated();
    let text = "name = \"a\"\ntitle = \"a processor as measured\"\n[sources]\nprobe = { name = \"fizeau probe 0.1.0 on vm\" }\n\
                [memory]\ncapacity = 8e10\nbandwidth = { value = 3e12, range = [2.8e12, 3e12], source = \"probe\" }\n\
                [rates]\nbf16 = { value = 7e14, source = \"probe\" }\n";
    let system = system(&run).with_device(Device::from_toml(text).unwrap());
    assert!(system.device().is_probed() && !Device::named("h100-sxm").unwrap().is_probed());
    assert!(ProbedSilicon::of_measured(&system).is_none());
    let alone = Diagnosed::new(&run.levels, &system);
    let again = ProbedSilicon::of(&system, system.device()).unwrap();
    for diagnosed in [alone, alone.with_probe(Some(&again))] {
        let document = diagnosed.diagnose("a model");
        let all = waterfalls(&document);
        assert!(
            !all.is_empty() && all.iter().all(|of| of.steps[0].cause == SlowdownCause::AsProbed)
        );
        let said = document.to_json().unwrap();
        assert!(!said.contains("data_sheet") && !said.contains("data sheet"), "{said}");
        let silicon = all.iter().flat_map(|of| &of.steps);
        let silicon = silicon.filter(|step| step.cause == SlowdownCause::Silicon);
        assert!(silicon.clone().all(|step| step.adds_ms.get().abs() < 1e-9), "{silicon:?}");
    }
}

/// Where collectives alone were measured, memory and arithmetic are the data sheet's: nobody says that the silicon was probed.
#[test]
fn what_joins_devices_says_nothing_of_their_silicon() {
    let run = simulated();
    let printed = system(&run).with_device(Device::named("h100-sxm").unwrap().clone());
    let file = Device::file("h100-sxm").unwrap();
    let text = format!(
        "{}\n[[collectives]]\nop = \"all-reduce\"\nranks = 8\nfrom = 8.0\nto = 1e9\nalpha = 1e-5\nbeta = 4e11\nsource = \"probe\"\n",
        file.replacen("[sources]", "[sources]\nprobe = { name = \"fizeau probe\" }", 1)
    );
    let joined = Device::from_toml(&text).unwrap();
    assert!(ProbedSilicon::of_measured(&printed.with_device(joined.clone())).is_none());
    let own = ProbedSilicon::of(&printed, &joined).unwrap();
    assert!(!own.is_measured() && !own.system().device().collectives().is_empty());
    assert_eq!(own.assumption(), None, "it names the run's device");
    let (sheet, silicon) =
        ProbedSilicon::of_measured(&printed.with_device(measured("h100-sxm"))).unwrap();
    for (probed, told) in [(&own, false), (&silicon, true)] {
        let diagnosed = Diagnosed::new(&run.levels, &sheet).with_probe(Some(probed));
        let document = diagnosed.diagnose("a model");
        assert_eq!(document.probed.is_some(), told);
        let steps: Vec<_> = waterfalls(&document).into_iter().flat_map(|of| &of.steps).collect();
        assert!(!steps.is_empty());
        let is_told = steps.iter().any(|step| step.cause == SlowdownCause::Silicon);
        assert_eq!(is_told, told, "{steps:?}");
    }
}

/// A run on an H200 is not explained by what an H100 was measured at, nor by a processor.
#[test]
fn a_probe_of_another_part_is_refused() {
    let run = simulated();
    let table = |name: &str| Device::named(name).unwrap().clone();
    let system = system(&run).with_device(table("h200-sxm"));
    let own = ProbedSilicon::of(&system, &measured("h200-sxm")).unwrap();
    assert_eq!(own.assumption(), None);
    let error = ProbedSilicon::of(&system, &measured("h100-sxm")).unwrap_err();
    assert!(error.measured.contains("H100") && error.of_run.contains("H200"), "{error}");
    assert_eq!(error.name, "h200-sxm");
    let unnamed = ProbedSilicon::of(&system, &table("h100-sxm")).unwrap();
    assert!(unnamed.assumption().unwrap().contains("assumed to be"), "the bandwidth is near");
    let slow = system.with_bandwidth(0.05).unwrap();
    assert!(ProbedSilicon::of(&system, slow.device()).is_err());
}

/// The simulated run, held against such a device.
fn held_against(device: &str) -> DiagnosisDocument {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated"));
    let run = StoredRun::open(path).unwrap();
    let mut parts = run.reference_parts().unwrap();
    (parts.device_name, parts.files.device) = (Some(device.to_owned()), None);
    let reader = RunReader::new(&run, Some(parts.load().unwrap())).unwrap();
    let read = reader.together(reader.levels().unwrap()).unwrap();
    Diagnosed::new(&read.levels, system(&read)).diagnose("a model")
}

#[test]
fn a_level_that_is_faster_than_the_hardware_allows_is_impossible_and_not_explained() {
    let document = held_against("l4");
    assert!(document.is_impossible() && waterfalls(&document).is_empty(), "{document:?}");
    let level = &document.levels[0];
    let beyond = level.beyond_bound.as_deref().unwrap();
    assert!(beyond.contains("at the very best; the run is wrong, or"), "{beyond}");
    let DiagnosedFigure::Absent { reason } = &level.tpot else { panic!("{level:?}") };
    assert!(reason.contains("is less than the") && reason.contains("takes at the very best"));
    assert!(!held_against("h100-sxm").is_impossible());
}

#[test]
fn a_model_that_does_not_fit_is_said_with_what_it_lacks() {
    let run = simulated();
    let alone = system(&run);
    let large = KnownModel::named("llama-3.1-405b").unwrap().model().unwrap();
    let large = System::new(large, alone.device().clone(), Deployment::SINGLE).unwrap();
    let document = Diagnosed::new(&run.levels, &large).diagnose("a model");
    assert!(document.is_impossible());
    let [reason] = &document.left_out[..] else { panic!("{document:?}") };
    assert!(reason.starts_with("concurrency 1 and concurrency 8: the weights take "), "{reason}");
    assert!(reason.contains(" GB more than the "), "{reason}");
}

/// The run with its second level at so many requests in flight and per second, and so long an output token, on six engines.
fn crowded(in_flight: f64, rate: f64, tpot: f64) -> (ReadRun, System) {
    let mut run = simulated();
    let alone = system(&run);
    let deployment = Deployment::SINGLE.with_tensor(2).unwrap().with_attention_groups(2).unwrap();
    let deployment = deployment.with_replicas(3).unwrap();
    let six = System::new(alone.model().clone(), alone.device().clone(), deployment).unwrap();
    let summary = &mut run.levels[1].summary;
    summary.over_time.as_mut().unwrap().in_flight.mean = in_flight;
    summary.throughput.requests_per_s = PerSec::new(rate);
    summary.metrics.tpot.mean = Some(Millis::new(tpot));
    (run, six)
}

/// What is said of the prompts of others in an output token of the second level.
fn prompts_between((run, system): &(ReadRun, System)) -> Option<f64> {
    let document = Diagnosed::new(&run.levels, system).diagnose("a model");
    cause(document.levels[1].tpot.waterfall().unwrap(), SlowdownCause::BatchAndQueue)
}

#[test]
fn prompts_of_others_hold_decoding_up_where_there_are_others() {
    for (in_flight, has) in [(1.01, false), (1.04, false), (1.05, true), (8.0, true)] {
        let crowded = crowded(in_flight, 60.0, 500.0);
        assert_eq!(prompts_between(&crowded).is_some(), has, "{in_flight}");
    }
    assert_eq!(prompts_between(&crowded(8.0, 0.0, 500.0)), None, "no prompts came");
    // The lightest level has no queue, however many are in flight there; a closed loop of one is it wherever there is one.
    let mut lightest = crowded(8.0, 60.0, 500.0);
    lightest.0.levels[0].summary.over_time.as_mut().unwrap().in_flight.mean = 9.0;
    assert!(prompts_between(&lightest).is_some());
    lightest.0.levels[0].load = LevelLoad::Concurrency(NonZeroU32::new(9).unwrap());
    assert_eq!(prompts_between(&lightest), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// From the bound to what the roofline model expects, prompts of others and all, where a measurement is longer than that.
    #[test]
    fn causes_of_the_roofline_add_up_to_its_expectation(
        in_flight in 2.0..200.0_f64, decoding in 1.0..200.0_f64, over in 1.0..20.0_f64,
    ) {
        let (mut run, system) = crowded(in_flight, 60.0, 1.0);
        let summary = &mut run.levels[1].summary;
        summary.over_time.as_mut().unwrap().decoding.mean = decoding;
        let each = |all: Tokens| Tokens::new(all.get() / summary.requests.completed);
        let (input, output) = (each(summary.tokens.input.unwrap()), each(summary.tokens.output));
        let load = UniformLoad::new(input, output, NonZeroU64::MIN);
        let expected = system.expected_at(&load, decoding, PhaseSchedule::Mixed).step.to_millis();
        // What one request at a time takes beyond its expectation comes on top.
        let lightest = run.levels[0].summary.metrics.tpot.mean.unwrap().get();
        let measured = Millis::new(over * expected.get() + lightest);
        run.levels[1].summary.metrics.tpot.mean = Some(measured);
        let document = Diagnosed::new(&run.levels, &system).diagnose("a model");
        let waterfall = document.levels[1].tpot.waterfall().unwrap();
        let is_others = |step: &&WaterfallStep| {
            ![SlowdownCause::LaunchesAndSteps, SlowdownCause::Unexplained].contains(&step.cause)
        };
        let of_roofline: f64 =
            waterfall.steps.iter().filter(is_others).map(|step| step.adds_ms.get()).sum();
        prop_assert!(
            (of_roofline / expected.get() - 1.0).abs() < 1e-9,
            "{of_roofline} {expected:?} {waterfall:?}"
        );
    }

    /// Slower silicon adds what it is slower by, and the rest explains less.
    #[test]
    fn a_probe_moves_what_is_explained_and_not_the_sum(share in 0.3f64..1.0) {
        let run = simulated();
        let system = system(&run);
        let slower = system.with_bandwidth(share).unwrap().with_arithmetic(share).unwrap();
        let probed = ProbedSilicon::of(system, slower.device()).unwrap();
        let diagnosed = Diagnosed::new(&run.levels, system).with_probe(Some(&probed));
        let document = diagnosed.diagnose("a model");
        prop_assert!(document.probed.is_some());
        for waterfall in waterfalls(&document) {
            prop_assert!(adds_up(waterfall), "{waterfall:?}");
            let bound = cause(waterfall, SlowdownCause::DataSheet).unwrap();
            let silicon = cause(waterfall, SlowdownCause::Silicon).unwrap();
            prop_assert!((bound / (bound + silicon) / share - 1.0).abs() < 1e-6, "{waterfall:?}");
        }
    }
}

/// Why a client was late says nothing of the server.
#[test]
fn an_invalid_level_is_left_out_unless_it_is_asked_for_and_a_doubt_is_said() {
    for (verdict, is_out) in [(Verdict::Invalid, true), (Verdict::Suspect, false)] {
        let mut run = simulated();
        let text = "requests left late: p99 20 ms (limit 10 ms); the client was busy";
        run.levels[0].validity.add(VerdictReason::new(verdict, VerdictConcern::Client, text));
        let system = system(&run).clone();
        let diagnosed = Diagnosed::new(&run.levels, &system);
        let document = diagnosed.diagnose("a model");
        assert_eq!(document.levels.len(), run.levels.len() - usize::from(is_out));
        let said: Vec<&String> = document.left_out.iter().collect();
        if is_out {
            assert_eq!(
                said,
                ["concurrency 1: it is invalid (requests left late: p99 20 ms (limit 10 ms))"]
            );
        } else {
            assert!(said.is_empty(), "{said:?}");
        }
        let all = diagnosed.with_invalid(InvalidLevels::Included).diagnose("a model");
        let doubt = format!("{}: requests left late: p99 20 ms (limit 10 ms)", verdict.as_str());
        assert_eq!((all.levels.len(), &all.levels[0].doubts[..]), (run.levels.len(), &[doubt][..]));
    }
}
