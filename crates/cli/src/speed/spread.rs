//! How a model lies on its devices and how an engine is set up: all of a system but model and device, as flags have it and as
//! `run.json` keeps it.

use std::num::NonZeroU64;

use fizeau::core::Bytes;
use fizeau::record::RunRecord;
use fizeau::roofline::System;
use fizeau::sim::Scenario;
use serde::Serialize;

use crate::args::{ChoiceArgs, DEFAULT_MEMORY_SHARE, PhysicsArgs, SystemArgs};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Spread {
    tp: u32,
    pp: u32,
    ep: u32,
    dp: u32,
    replicas: u32,
    /// Where it is not as the config says.
    weights: Option<String>,
    kv: Option<String>,
    memory_share: f64,
    max_num_seqs: Option<NonZeroU64>,
    /// Tokens that are drafted for each step; 0 without speculative decoding.
    #[serde(skip_serializing_if = "is_zero")]
    draft: u32,
    /// Bytes of each device that a simulated engine leaves free, where its blocks were counted (--num-gpu-blocks).
    #[serde(skip_serializing_if = "is_zero")]
    reserve_bytes: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            tp: 1,
            pp: 1,
            ep: 1,
            dp: 1,
            replicas: 1,
            weights: None,
            kv: None,
            memory_share: DEFAULT_MEMORY_SHARE,
            max_num_seqs: None,
            draft: 0,
            reserve_bytes: 0,
        }
    }
}

impl Spread {
    /// The part of `run.json` that holds it.
    const PATH: &'static str = "speed_of_light";

    /// The same with what flags say otherwise.
    pub(crate) fn with(self, args: &PhysicsArgs) -> Self {
        Self {
            tp: args.tp.unwrap_or(self.tp),
            pp: args.pp.unwrap_or(self.pp),
            ep: args.ep.unwrap_or(self.ep),
            dp: args.dp.unwrap_or(self.dp),
            replicas: args.replicas.unwrap_or(self.replicas),
            weights: args.weights.clone().or(self.weights),
            kv: args.kv.clone().or(self.kv),
            memory_share: args.memory_share.unwrap_or(self.memory_share),
            max_num_seqs: args.max_num_seqs.or(self.max_num_seqs),
            draft: args.draft.unwrap_or(self.draft),
            reserve_bytes: self.reserve_bytes,
        }
    }

    /// As `args` have it, with what a simulated engine settled where they say nothing.
    pub(crate) fn of_scenario(args: &SystemArgs, scenario: &Scenario) -> Self {
        Self {
            tp: args.tp,
            pp: args.pp,
            ep: args.ep,
            dp: args.dp,
            replicas: scenario.system().deployment().replicas(),
            weights: args.weights.clone(),
            kv: args.kv.clone(),
            memory_share: args.memory_share,
            max_num_seqs: NonZeroU64::new(scenario.config().max_num_seqs),
            draft: scenario.config().drafts.as_ref().map_or(0, |drafts| drafts.length),
            reserve_bytes: scenario.system().serving().reserve.get() as u64,
        }
    }

    /// As a run has it; one device where it says nothing.
    pub(crate) fn of_run(record: &RunRecord) -> Self {
        let whole = |name: &str| record.whole(&format!("{}.{name}", Self::PATH));
        let degree = |name: &str| whole(name).and_then(|n| u32::try_from(n).ok());
        let text = |name: &str| record.text(&format!("{}.{name}", Self::PATH));
        let said = PhysicsArgs {
            tp: degree("tp"),
            pp: degree("pp"),
            ep: degree("ep"),
            dp: degree("dp"),
            replicas: degree("replicas"),
            weights: text("weights"),
            kv: text("kv"),
            memory_share: record.number(&format!("{}.memory_share", Self::PATH)),
            max_num_seqs: whole("max_num_seqs").and_then(NonZeroU64::new),
            draft: degree("draft"),
            ..PhysicsArgs::default()
        };
        let reserve_bytes = whole("reserve_bytes").unwrap_or(0);
        Self { reserve_bytes, ..Self::default() }.with(&said)
    }

    /// As `fizeau sol` takes it.
    pub(crate) fn system_args(&self) -> SystemArgs {
        SystemArgs {
            model_config: None,
            hardware: None,
            tp: self.tp,
            pp: self.pp,
            ep: self.ep,
            dp: self.dp,
            replicas: self.replicas,
            weights: self.weights.clone(),
            kv: self.kv.clone(),
            memory_share: self.memory_share,
            max_num_seqs: self.max_num_seqs,
            choices: ChoiceArgs::default(),
        }
    }

    /// `system`, whose steps yield what they draft too, and which leaves free what the engine does.
    pub(crate) fn drafting(&self, system: System) -> System {
        let mut serving = *system.serving();
        serving.tokens_per_step = NonZeroU64::MIN.saturating_add(self.draft.into());
        serving.reserve = Bytes::new(self.reserve_bytes as f64);
        system.with_serving(serving)
    }

    /// For a reader: `8 devices, TP8; weights fp8`.
    pub(crate) fn words(&self, system: &System) -> String {
        let deployment = system.deployment();
        let mut words = match deployment.devices() {
            1 => "one device".to_owned(),
            devices => format!("{devices} devices, {deployment}"),
        };
        for (name, format) in [("weights", &self.weights), ("KV cache", &self.kv)] {
            if let Some(format) = format {
                words.push_str(&format!("; {name} {format}"));
            }
        }
        if let Some(most) = self.max_num_seqs {
            words.push_str(&format!("; at most {most} sequences at once"));
        }
        if self.draft > 0 {
            words.push_str(&format!("; drafts of {}", self.draft));
        }
        words
    }
}

/// What few runs have is left out of the others.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
