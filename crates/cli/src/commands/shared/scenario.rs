//! The simulated engine that flags describe: one for both clocks.

use std::num::NonZeroU64;

use fizeau::core::Tokens;
use fizeau::experiment::{SimulatedSystem, SimulatedSystemSpec, StepTimeSpec};
use fizeau::roofline::{Admission, Overlap, Prefix};
use fizeau::sim::{Chunking, EngineConfig, Overheads, PrefixCaching};

use crate::args::{EngineArgs, StepArgs, SystemArgs};
use crate::commands::shared::speed;
use crate::commands::sol;
use crate::exit::Fail;

/// The engine on the model and devices that the flags name, where a request has at most `max_context` tokens; without a model and a
/// device, Llama-3.1-8B on H100s. Says what the reader should know of them.
///
/// # Errors
/// If one of both is missing or is not understood, or it cannot run so.
pub(crate) fn of(
    system: &SystemArgs,
    engine: &EngineArgs,
    max_context: Option<u64>,
) -> Result<SimulatedSystem, Fail> {
    check(system, engine)?;
    let named = speed::both(&system.model_config, &system.hardware)?;
    let named = named.map(|(model, hardware)| SimulatedSystemSpec::new(model, hardware));
    let mut spec = named.unwrap_or_default();
    spec.deployment = speed::deployed(system);
    spec.config = config(engine)?;
    spec.config.max_context = max_context.map(Tokens::new);
    // One number stands for a list of vLLM's.
    if let [most] = *engine.cuda_graph_sizes {
        spec.captured_up_to = NonZeroU64::new(most);
    }
    spec.drafts = sol::drafts(&engine.drafts, 1)?;
    spec.step = step(&engine.step)?;
    spec.apart = sol::instances(&engine.apart)?.map(|counts| (counts, engine.apart.transfer));
    spec.routing = engine.router;
    let device = spec.device.clone();
    let loaded = speed::doubted(&device, spec.load())?;
    loaded.notes().iter().for_each(|note| tell!("note: {note}"));
    Ok(loaded)
}

/// Refuses what is for figures that are intermediate, and does nothing in a step that is simulated.
fn check(system: &SystemArgs, engine: &EngineArgs) -> Result<(), Fail> {
    refuse_if!(
        system.choices.prefix != Prefix::default(),
        "--prefix works only with `fizeau sol`; a simulated engine finds shared prefixes \
         with --enable-prefix-caching"
    );
    refuse_if!(
        system.choices.overlap != Overlap::default(),
        "--overlap two-batches works only with `fizeau sol`; a simulated step does one thing \
         after the other"
    );
    refuse_if!(
        engine.drafts.draft == Some(0),
        "--draft 0: give at least 1; `fizeau sol --draft 0` finds the length that is expected to be best"
    );
    Ok(())
}

/// The constants of a calibration, or overheads and a limit of power.
fn step(args: &StepArgs) -> Result<StepTimeSpec, Fail> {
    let constants = &args.constants;
    if let Some(path) = constants.file() {
        let calibration = Box::new(speed::calibration(path)?);
        return Ok(StepTimeSpec::Calibrated(calibration, constants.engine.clone()));
    }
    if let Some(engine) = constants.engine() {
        return Ok(StepTimeSpec::Shipped(engine.to_owned()));
    }
    let overheads = Overheads {
        bandwidth_efficiency: args.bandwidth_efficiency,
        compute_efficiency: args.compute_efficiency,
        per_step: args.per_step,
        per_sequence: args.per_sequence,
        per_layer: args.per_layer,
        per_collective: args.per_collective,
    };
    let limit = args.power_limit.as_deref().map(sol::power_cap).transpose()?;
    Ok(StepTimeSpec::Roofline(overheads, limit))
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
        captured: args.cuda_graph_sizes.clone(),
        ..EngineConfig::new(1, Tokens::ZERO)
    })
}
