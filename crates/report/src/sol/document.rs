//! An answer as a JSON document.

mod gains;
mod passes;
mod schedules;

use fizeau_core::{Bytes, Tokens, document};
use fizeau_roofline::{
    Deployment, Device, EstimateKind, Link, MathType, Model, PassPhase, TensorSheet,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::line::AnswerFields;
use super::{SolExtra, SolScope, SolView};
use fizeau_record::{JsonError, JsonNumber as Number};
use gains::{Elasticities, GainBlock, OfFigures};
use passes::{Pass, Passes};
use schedules::Schedules;

impl SolView<'_> {
    /// `fizeau.sol/1`: the fields of a line of [`super::SolLine`], and besides them what was asked of what, memory, and where the
    /// time goes. Ends with a newline.
    ///
    /// # Errors
    /// Never, as long as memory lasts.
    pub fn to_json(&self) -> Result<String, JsonError> {
        Ok(serde_json::to_string_pretty(&Document::of(self)).map_err(JsonError::new)? + "\n")
    }

    /// With the sequences of the answer, as its figures are.
    fn sensitivities(&self) -> Elasticities {
        let (system, load, running) = (self.system, self.load, self.answer.running_batch);
        let of = |by| match (self.scope, self.batch) {
            (SolScope::Step, _) => system.step_sensitivity(by, load, running).into(),
            (SolScope::Requests, Some(_)) => system.sensitivities_at(by, load, running).into(),
            (SolScope::Requests, None) => match by {
                EstimateKind::Bound => system.bound_sensitivities(load).into(),
                EstimateKind::Expected => system.expected_sensitivities(load).into(),
            },
        };
        let [bound, expected] = EstimateKind::ALL.map(|by| {
            let of: OfFigures = of(by);
            OfFigures { tpot: of.tpot.filter(|_| self.answer.bound.tpot.is_some()), ..of }
        });
        Elasticities { bound, expected }
    }
}

impl SolExtra {
    /// `fizeau.sol/1` of the table by itself, where there is no answer to stand beside, and why there is none. Ends with a newline.
    ///
    /// # Errors
    /// Never, as long as memory lasts.
    pub fn json_without_answer(&self, why: &str) -> Result<String, JsonError> {
        let mut fields = Map::new();
        fields.insert("schema".to_owned(), SCHEMA.into());
        fields.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        fields.extend([self.entry()]);
        fields.insert("warnings".to_owned(), vec![why].into());
        Ok(serde_json::to_string_pretty(&fields).map_err(JsonError::new)? + "\n")
    }
}

const SCHEMA: &str = "fizeau.sol/1";

document! {
    view Document<'a>, fn of(view: &'a SolView<'_>) {
        let system = view.system;
        let (step, prompt) =
            (system.decode_pass(view.load, view.answer.running_batch), system.prefill_pass(view.load));
        let is_step = view.scope == SolScope::Step;
        let pass = |phase, pass| {
            let times = [system.bound_pass(pass), system.expected_pass(pass)];
            Pass::of(times, &system.pass_terms(phase, pass))
        };
    } {
        schema: &'static str = SCHEMA,
        version: &'static str = env!("CARGO_PKG_VERSION"),
        model: ModelBlock<'a> = ModelBlock::of(view.name, system.model()),
        device: DeviceBlock<'a> = DeviceBlock::of(system.device()),
        deployment: DeploymentDocument = DeploymentDocument::of(system.deployment()),
        load: RequestedShape = RequestedShape::of(view),
        #[serde(flatten)]
        answer: AnswerFields<'a> = match view.scope {
            SolScope::Step => AnswerFields::of_step(view.answer, view.notes),
            SolScope::Requests => AnswerFields::of(view.answer, view.notes).with(view.calibrated.as_ref()),
        },
        schedules?: Schedules = (!is_step).then(|| Schedules::of(view)),
        memory: MemoryDocument = MemoryDocument::of(view),
        passes: Passes = Passes {
            prefill: (!is_step).then(|| pass(PassPhase::Prefill, &prompt)),
            decode: pass(PassPhase::Decode, &step),
        },
        /// By how many per cent a figure grows where a resource does by one.
        sensitivities: Elasticities = view.sensitivities(),
        /// What changes buy: figures after over figures before, less one.
        gains: Vec<GainBlock> = view.gains().iter().map(|gain| GainBlock::of(gain, view.scope)).collect(),
        /// Each by its name.
        #[serde(flatten)]
        asides: Map<String, Value> = view.asides.iter().map(SolExtra::entry).collect(),
    }
}

document! {
    view ModelBlock<'a>, fn of(name: &'a str, model: &'a Model) {} {
        config: &'a str = name,
        architecture: &'a str = &model.architecture,
        /// What of the config was not understood and could matter: the figures are of the model as it was read.
        not_understood?: &'a [String] = Some(model.unread()).filter(|unread| !unread.is_empty()),
        layers: u64 = model.layers.iter().map(|layers| layers.count).sum(),
        max_context: Option<u64> = model.max_context.map(Tokens::get),
        kv_format: String = model.kv_cache().to_string(),
        state_format: String = model.state_cache().to_string(),
        tensors: Vec<TensorSheet> = model.tensors().iter().map(TensorSheet::from).collect(),
    }
}

document! {
    view DeviceBlock<'a>, fn of(device: &'a Device) {
        let rate = |math: &MathType| {
            let rate = device.dense_rate(*math)?;
            Some((math.name().to_owned(), Value::from(rate.get())))
        };
    } {
        name: &'a str = &device.name,
        title: &'a str = &device.title,
        memory_bytes: Number = whole(device.memory()),
        usable_memory_bytes: Number = whole(device.usable_memory()),
        memory_bytes_per_s: Number = Number(device.memory_bandwidth().get()),
        /// By the type of what is multiplied.
        flops_per_s: Map<String, Value> = MathType::ALL.iter().filter_map(rate).collect(),
        link: Option<LinkBlock> = device.link().map(LinkBlock::from),
        tdp_watts: Option<Number> = device.tdp().map(|watts| Number(watts.get())),
    }
}

document! {
    view LinkBlock, from |link: &Link| {} {
        topology: &'static str = link.topology.name(),
        /// One direction.
        bytes_per_s: Number = Number(link.bandwidth.get()),
        latency_us: Number = Number(link.latency.get() * 1e6),
    }
}

document! {
    view DeploymentDocument, fn of(deployment: &Deployment) {} {
        tp: u32 = deployment.tensor(),
        pp: u32 = deployment.pipeline(),
        ep: u32 = deployment.expert_groups(),
        dp: u32 = deployment.attention_groups(),
        replicas: u32 = deployment.replicas(),
        devices: u64 = deployment.devices(),
    }
}

/// Either lengths or a context.
#[derive(Serialize)]
#[serde(untagged)]
enum RequestedShape {
    Requests { isl: u64, osl: u64, cached: u64, concurrency: u64 },
    Step { context: u64, batch: u64 },
}

impl RequestedShape {
    const fn of(view: &SolView<'_>) -> Self {
        let load = view.load;
        match view.scope {
            SolScope::Requests => Self::Requests {
                isl: load.input_tokens.get(),
                osl: load.output_tokens.get(),
                cached: load.cached_tokens.get(),
                concurrency: load.concurrency.get(),
            },
            SolScope::Step => {
                Self::Step { context: load.input_tokens.get() + 1, batch: load.concurrency.get() }
            }
        }
    }
}

document! {
    /// Of the fullest device.
    view MemoryDocument, fn of(view: &SolView<'_>) {
        let of = view.answer.memory;
    } {
        total_bytes: Number = whole(of.total),
        weight_bytes: Number = whole(of.weights),
        cache_bytes_per_sequence: Number = whole(of.sequence),
        cache_bytes: Number = whole(of.cache),
        free_bytes: Number = whole(of.free),
        reserved_bytes: Number = whole(of.reserve),
    }
}

fn whole(bytes: Bytes) -> Number {
    Number(bytes.get().round())
}
