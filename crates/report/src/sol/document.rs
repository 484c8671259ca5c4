//! An answer as a JSON document.

mod gains;
mod passes;
mod schedules;

use fizeau_core::{Bytes, Tokens};
use fizeau_roofline::{Deployment, Device, EstimateKind, MathType, Model, PassPhase, TensorSheet};
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
        Ok(serde_json::to_string_pretty(&self.document()).map_err(JsonError::new)? + "\n")
    }

    fn document(&self) -> Document<'_> {
        let (system, load, answer) = (self.system, self.load, self.answer);
        let step = system.decode_pass(load, answer.running_batch);
        let prompt = system.prefill_pass(load);
        let is_step = self.scope == SolScope::Step;
        let gains = self.gains();
        let pass = |phase, pass| {
            let times = [system.bound_pass(pass), system.expected_pass(pass)];
            Pass::of(times, &system.pass_terms(phase, pass))
        };
        Document {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            model: ModelBlock::of(self.name, system.model()),
            device: DeviceBlock::of(system.device()),
            deployment: DeploymentDocument::of(system.deployment()),
            load: RequestedShape::of(self),
            answer: if is_step {
                AnswerFields::of_step(answer, self.notes)
            } else {
                AnswerFields::of(answer, self.notes).with(self.calibrated.as_ref())
            },
            schedules: (!is_step).then(|| Schedules::of(self)),
            memory: MemoryDocument::of(self),
            passes: Passes {
                prefill: (!is_step).then(|| pass(PassPhase::Prefill, &prompt)),
                decode: pass(PassPhase::Decode, &step),
            },
            sensitivities: self.sensitivities(),
            gains: gains.iter().map(|gain| GainBlock::of(gain, self.scope)).collect(),
            asides: self.asides.iter().map(SolExtra::entry).collect(),
        }
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

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    model: ModelBlock<'a>,
    device: DeviceBlock<'a>,
    deployment: DeploymentDocument,
    load: RequestedShape,
    #[serde(flatten)]
    answer: AnswerFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedules: Option<Schedules>,
    memory: MemoryDocument,
    passes: Passes,
    /// By how many per cent a figure grows where a resource does by one.
    sensitivities: Elasticities,
    /// What changes buy: figures after over figures before, less one.
    gains: Vec<GainBlock>,
    /// Each by its name.
    #[serde(flatten)]
    asides: Map<String, Value>,
}

#[derive(Serialize)]
struct ModelBlock<'a> {
    config: &'a str,
    architecture: &'a str,
    layers: u64,
    max_context: Option<u64>,
    kv_format: String,
    state_format: String,
    tensors: Vec<TensorSheet>,
}

impl<'a> ModelBlock<'a> {
    fn of(config: &'a str, model: &'a Model) -> Self {
        Self {
            config,
            architecture: &model.architecture,
            layers: model.layers.iter().map(|layers| layers.count).sum(),
            max_context: model.max_context.map(Tokens::get),
            kv_format: model.kv_cache().to_string(),
            state_format: model.state_cache().to_string(),
            tensors: model.tensors().iter().map(TensorSheet::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct DeviceBlock<'a> {
    name: &'a str,
    title: &'a str,
    memory_bytes: Number,
    usable_memory_bytes: Number,
    memory_bytes_per_s: Number,
    /// By the type of what is multiplied.
    flops_per_s: Map<String, Value>,
    link: Option<LinkBlock>,
    tdp_watts: Option<Number>,
}

#[derive(Serialize)]
struct LinkBlock {
    topology: &'static str,
    /// One direction.
    bytes_per_s: Number,
    latency_us: Number,
}

impl<'a> DeviceBlock<'a> {
    fn of(device: &'a Device) -> Self {
        let rate = |math: &MathType| {
            let rate = device.dense_rate(*math)?;
            Some((math.name().to_owned(), Value::from(rate.get())))
        };
        Self {
            name: &device.name,
            title: &device.title,
            memory_bytes: whole(device.memory()),
            usable_memory_bytes: whole(device.usable_memory()),
            memory_bytes_per_s: Number(device.memory_bandwidth().get()),
            flops_per_s: MathType::ALL.iter().filter_map(rate).collect(),
            link: device.link().map(|link| LinkBlock {
                topology: link.topology.name(),
                bytes_per_s: Number(link.bandwidth.get()),
                latency_us: Number(link.latency.get() * 1e6),
            }),
            tdp_watts: device.tdp().map(|watts| Number(watts.get())),
        }
    }
}

#[derive(Serialize)]
struct DeploymentDocument {
    tp: u32,
    pp: u32,
    ep: u32,
    dp: u32,
    replicas: u32,
    devices: u64,
}

impl DeploymentDocument {
    const fn of(deployment: &Deployment) -> Self {
        Self {
            tp: deployment.tensor(),
            pp: deployment.pipeline(),
            ep: deployment.expert_groups(),
            dp: deployment.attention_groups(),
            replicas: deployment.replicas(),
            devices: deployment.devices(),
        }
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

/// Of the fullest device.
#[derive(Serialize)]
struct MemoryDocument {
    total_bytes: Number,
    weight_bytes: Number,
    cache_bytes_per_sequence: Number,
    cache_bytes: Number,
    free_bytes: Number,
    reserved_bytes: Number,
}

impl MemoryDocument {
    fn of(view: &SolView<'_>) -> Self {
        let of = view.answer.memory;
        Self {
            total_bytes: whole(of.total),
            weight_bytes: whole(of.weights),
            cache_bytes_per_sequence: whole(of.sequence),
            cache_bytes: whole(of.cache),
            free_bytes: whole(of.free),
            reserved_bytes: whole(of.reserve),
        }
    }
}

fn whole(bytes: Bytes) -> Number {
    Number(bytes.get().round())
}
