//! What is simulated, as the parts of a run that ask for an endpoint have it.

use fizeau::core::{Nanos, Tokens};
use fizeau::experiment::{Answering, CacheBlocks, ContextLimit, LimitSource};
use fizeau::record::SpeedOfLightReference;
use fizeau::sim::{Order, Scenario, Serve, SimTransport, VirtualTime};
use fizeau::transport::{Backend, KeepText, Target};

use crate::args::{LevelArgs, SimulateArgs};
use crate::commands::shared::{scenario, speed};
use crate::exit::{Fail, Named};

/// A simulated engine and its speed of light.
pub(super) struct Simulation {
    scenario: Scenario,
    physics: SpeedOfLightReference,
    /// Nobody is there: it says what kinds of prompt there may be.
    target: Target,
    network_delay: Nanos,
}

impl Simulation {
    /// The engine that `args` describe. Files are read.
    pub(super) fn new(args: &SimulateArgs) -> Result<Self, Fail> {
        if args.level.load.shard.is_some() {
            return Err(Fail::usage("--shard: a simulation runs whole; leave it out"));
        }
        if args.engine.scheduling_policy == Order::Priority {
            return Err(Fail::usage(
                "--scheduling-policy priority: the requests of a simulation have no priorities; leave it out (those that \
                 `fizeau serve` gets may have some)",
            ));
        }
        let scenario = scenario::of(&args.system, &args.engine)?;
        let scenario = match args.level.workload.max_model_len {
            Some(most) => scenario.with_max_context(Tokens::new(most)).named("--max-model-len")?,
            None => scenario,
        };
        let physics = speed::of_scenario(&args.system, &scenario)?;
        let target = Target::new("http://127.0.0.1:1", Backend::Vllm, scenario.model_name());
        let (target, network_delay) = (target.named("--model-config")?, args.network_delay);
        Ok(Self { target, scenario, physics, network_delay })
    }

    /// What is simulated, in one line.
    pub(super) fn describe(&self) -> String {
        self.scenario.describe()
    }

    /// How many devices it takes.
    pub(super) fn devices(&self) -> u64 {
        self.scenario.devices()
    }

    /// What kinds of prompt there may be.
    pub(super) const fn target(&self) -> &Target {
        &self.target
    }

    /// What `args` ask, the same each time: there is no cache of an earlier run that prompts must be kept from.
    pub(super) fn workload_of(&self, args: &LevelArgs) -> LevelArgs {
        let mut args = args.clone();
        if !args.workload.reuse_prompts {
            args.workload.salt.get_or_insert(1);
        }
        args
    }

    /// A fresh engine that takes part in `time`.
    pub(super) fn transport(&self, time: &VirtualTime, keep: KeepText) -> SimTransport {
        let transport = SimTransport::new(time, self.scenario.serve());
        let transport = transport.with_delay(self.network_delay);
        match keep {
            KeepText::Yes => transport.keeping_text(),
            KeepText::No => transport,
        }
    }

    fn limit(&self) -> Option<ContextLimit> {
        let tokens = self.scenario.serve().longest_job()?;
        let config = self.scenario.config();
        let made_for = self.scenario.model().max_context;
        // Nobody asked for less than the model takes.
        let is_cache = tokens == config.kv_capacity() && made_for.is_none_or(|most| tokens < most);
        let (blocks, block) = (config.blocks, config.block);
        let cache = is_cache.then_some(CacheBlocks { blocks, block });
        Some(ContextLimit::new(tokens, LimitSource::SimulatedEngine).with_cache(cache))
    }

    /// Who answers.
    pub(super) fn answering(&self) -> Answering {
        let mut answering = Answering::simulated(self.describe(), self.scenario.model_name());
        answering.light = Ok(self.physics.clone());
        answering.limit = self.limit();
        answering
    }
}
