//! The simulated engine that flags describe: one for both clocks.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::Tokens;

use fizeau::roofline::{
    Admission, Calibration, InstanceCounts, Overlap, Prefix, Speculation, System,
};
use fizeau::sim::{Chunking, Drafts, EngineConfig, Overheads, PrefixCaching, Scenario};

use crate::args::{EngineArgs, StepArgs, SystemArgs};
use crate::commands::shared::speed;
use crate::commands::sol;
use crate::commands::sol::MOST_DRAFTED;
use crate::exit::{Fail, Named};

/// What is simulated by default: model, name for a reader, device.
const DEFAULT: (&str, &str, &str) = ("llama-3.1-8b", "Llama-3.1-8B", "h100-sxm");

/// The engine on the model and devices that the flags name; without a model and a device, Llama-3.1-8B on H100s. Says what the
/// reader should know of them.
///
/// # Errors
/// If one of both is missing or is not understood, or it cannot run so.
pub(crate) fn of(system: &SystemArgs, engine: &EngineArgs) -> Result<Scenario, Fail> {
    check(system)?;
    let (name, of) = named(system)?;
    of.notes().iter().for_each(|note| tell!("note: {note}"));
    let speculation = speculation(engine, &of)?;
    let drafts = speculation.as_ref().map(|(by, length)| {
        let acceptance = by.acceptance.clone();
        Drafts { length: *length, acceptance }
    });
    let config = EngineConfig { drafts, ..config(engine)? };
    let usual = || Scenario::usual_sequences(&of, &config);
    let max_num_seqs = system.max_num_seqs.map_or_else(usual, NonZeroU64::get);
    let config = EngineConfig { max_num_seqs, ..config };
    // One number stands for a list of vLLM's.
    let captured = match *engine.cuda_graph_sizes {
        [most @ (1..)] => config.captured_up_to(most),
        ref sizes => sizes.to_vec(),
    };
    let config = EngineConfig { captured, ..config };
    let mut scenario =
        Scenario::of(name, of, config, overheads(&engine.step)).map_err(Fail::usage)?;
    if let Some((by, _)) = speculation {
        scenario = scenario.with_drafter(by.drafter.clone()).map_err(Fail::usage)?;
    }
    scenario = timed(scenario, &engine.step)?;
    match sol::instances(&engine.apart)? {
        Some(InstanceCounts { prefill, decode }) => {
            let transfer = engine.apart.transfer;
            scenario.disaggregated(prefill, decode, transfer).named("--disaggregate")
        }
        None => {
            let replicas = NonZeroU32::new(system.spread.replicas).unwrap_or(NonZeroU32::MIN);
            scenario.with_replicas(replicas, engine.router).named("--replicas")
        }
    }
}

/// Refuses what is for figures that are intermediate, and does nothing in a step that is simulated.
fn check(args: &SystemArgs) -> Result<(), Fail> {
    refuse_if!(
        args.choices.prefix != Prefix::default(),
        "--prefix works only with `fizeau sol`; a simulated engine finds shared prefixes \
         with --enable-prefix-caching"
    );
    refuse_if!(
        args.choices.overlap != Overlap::default(),
        "--overlap two-batches works only with `fizeau sol`; a simulated step does one thing \
         after the other"
    );
    Ok(())
}

/// With the constants of a calibration, or a limit of power, where the flags say so.
fn timed(scenario: Scenario, args: &StepArgs) -> Result<Scenario, Fail> {
    if let Some(path) = args.constants.file() {
        let calibration = speed::calibration(path)?;
        let engine = args.constants.engine.clone();
        let predictor = calibration.predictor(scenario.system(), engine.as_deref());
        predictor.warnings().iter().for_each(|warning| tell!("note: {warning}"));
        return scenario.with_calibration(calibration, engine).map_err(Fail::usage);
    }
    if let Some(engine) = args.constants.engine() {
        return as_shipped(scenario, engine);
    }
    match &args.power_limit {
        Some(limit) => {
            let watts = sol::watts(limit, scenario.system())?;
            scenario.with_power_limit(watts).named("--power-limit")
        }
        None => Ok(scenario),
    }
}

/// With the constants that ship for `engine` on the scenario's devices.
fn as_shipped(scenario: Scenario, engine: &str) -> Result<Scenario, Fail> {
    let device = &scenario.system().device().name;
    let shipped = Calibration::shipped(engine, device).ok_or_else(|| {
        let wrong =
            format!("--engine {engine}: no calibration ships for it on {device}, as for sglang, trtllm and vllm where they were measured");
        usage!("{wrong}; name the file of one with --calibration")
    })?;
    let predictor = shipped.calibration.predictor(scenario.system(), Some(engine));
    predictor.warnings().iter().for_each(|warning| tell!("note: {warning}"));
    let calibration = shipped.calibration.clone();
    scenario.with_calibration(calibration, Some(engine.to_owned())).map_err(Fail::usage)
}

/// Model and devices, and the model's name.
fn named(args: &SystemArgs) -> Result<(String, System), Fail> {
    let (model, hardware) = names(args)?;
    let loaded = speed::model_of(model, &format!("--model-config {model}"))?;
    let device = speed::device(hardware)?.device;
    let system = speed::deployed(args).system(loaded.model, device).map_err(Fail::usage)?;
    let name = match args.model_config {
        Some(_) => loaded.known.map_or(model, |known| known.name),
        None => DEFAULT.1,
    };
    Ok((name.to_owned(), system))
}

/// What model and device are called, where the flags say so or say neither.
pub(crate) fn names(args: &SystemArgs) -> Result<(&str, &str), Fail> {
    let named = speed::both(&args.model_config, &args.hardware)?;
    Ok(named.map_or((DEFAULT.0, DEFAULT.2), |(model, hardware)| (model, hardware)))
}

fn config(args: &EngineArgs) -> Result<EngineConfig, Fail> {
    Ok(EngineConfig {
        max_batched_tokens: Tokens::new(args.max_num_batched_tokens),
        block: Tokens::new(args.block_size),
        blocks: args.num_gpu_blocks.map_or(0, NonZeroU64::get),
        policy: args.policy,
        chunking: if args.no_chunked_prefill { Chunking::Whole } else { Chunking::Chunked },
        admission: if args.reserve { Admission::Whole } else { Admission::AsItGrows },
        prefix_caching: match args.enable_prefix_caching {
            Some(Some(blocks)) => {
                bail!(
                    "--enable-prefix-caching {blocks}: an engine keeps prefixes in the blocks of its cache; give their number \
                     with --num-gpu-blocks, or leave it out"
                );
            }
            Some(None) => PrefixCaching::On,
            None => PrefixCaching::Off,
        },
        order: args.scheduling_policy,
        max_waiting: args.max_waiting,
        seed: args.engine_seed,
        ..EngineConfig::new(1, Tokens::ZERO)
    })
}

fn speculation(args: &EngineArgs, of: &System) -> Result<Option<(Speculation, u32)>, Fail> {
    match args.drafts.draft {
        Some(0) => Err(usage!(
            "--draft 0: give at least 1; `fizeau sol --draft 0` finds the length that is expected to be best"
        )),
        Some(length) if length > MOST_DRAFTED => {
            Err(usage!("--draft {length}: give a number from 1 to {MOST_DRAFTED}"))
        }
        _ => sol::speculation(&args.drafts, of),
    }
}

fn overheads(args: &StepArgs) -> Overheads {
    Overheads {
        bandwidth_efficiency: args.bandwidth_efficiency,
        compute_efficiency: args.compute_efficiency,
        per_step: args.per_step,
        per_sequence: args.per_sequence,
        per_layer: args.per_layer,
        per_collective: args.per_collective,
    }
}
