//! What a model's decode step and prefill really run: shapes from its layers, not from a list of squares.

mod by_component;
mod layers;

pub use by_component::ModelRows;

use std::fmt::{self, Display, Formatter};

use fizeau_core::Bytes;
use fizeau_roofline::{
    Collective, ContextSpan, Deployment, DeploymentError, Device, ExpertExchange, Format, MathType,
    Model, Pass, PassPhase, System, TermKind, UniformLoad,
};

use crate::device::DeviceFacts;
use crate::measurement::{
    AttentionPhase, AttentionShape, CollectiveOp, CollectiveShape, Component, Dtype, Operation,
};
use crate::trial::{ProbeBackend, ProbeTrial, in_turns};

/// Engines keep caches in pages of as many tokens.
const PAGE: f64 = 16.0;

/// A pass of a model: which half of generation, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelPass {
    /// Decode or prefill.
    pub phase: AttentionPhase,
    /// Sequences at once in one replica: those of a decode step, or the prompts of a prefill.
    pub sequences: u64,
    /// New tokens of each: 1 of a decode step, the prompt's length of a prefill.
    pub tokens: u64,
    /// Tokens of each that are in its cache when the pass ends, the new ones included.
    pub context: u64,
}

impl ModelPass {
    /// A decode step of `sequences`, each with `context` tokens.
    #[must_use]
    pub const fn decode(sequences: u64, context: u64) -> Self {
        Self { phase: AttentionPhase::Decode, sequences, tokens: 1, context }
    }

    /// The prefill of one prompt of `tokens`.
    #[must_use]
    pub const fn prefill(tokens: u64) -> Self {
        Self { phase: AttentionPhase::Prefill, sequences: 1, tokens, context: tokens }
    }

    /// A pass of the roofline. Its means become whole: sequences are rounded up, the contexts of a step to their mean in whole pages
    /// of 16 tokens, so that two passes that hardly differ run the same shapes.
    #[must_use]
    pub fn of(phase: PassPhase, pass: &Pass) -> Self {
        match phase {
            PassPhase::Prefill => Self {
                phase: AttentionPhase::Prefill,
                sequences: whole(pass.prompts.ceil()),
                tokens: whole(pass.positions.to - pass.positions.from + 1.0),
                context: whole(pass.positions.to),
            },
            _ => {
                let context = (pass.contexts.from + pass.contexts.to) / 2.0;
                Self {
                    phase: AttentionPhase::Decode,
                    sequences: whole(pass.decoding.ceil()),
                    tokens: whole(pass.tokens_each),
                    context: whole((context / PAGE).round().max(1.0) * PAGE),
                }
            }
        }
    }

    /// The same for the roofline.
    fn in_the_roofline(&self) -> Pass {
        let [sequences, tokens, context] =
            [self.sequences, self.tokens, self.context].map(|count| count as f64);
        match self.phase {
            AttentionPhase::Prefill => {
                let mut pass = Pass::prefill(context, context - tokens);
                pass.prompts = sequences;
                pass
            }
            AttentionPhase::Decode => {
                let mut pass = Pass::decode(sequences, ContextSpan::at(context));
                pass.tokens_each = tokens;
                pass
            }
        }
    }
}

fn whole(count: f64) -> u64 {
    (count.round() as u64).max(1)
}

/// One operator of a model on one device.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelOperator {
    /// Of which term of the roofline it is a part; what devices tell one another is of [`TermKind::LinkBytes`].
    pub part: TermKind,
    /// What it is for: `qkv`, `gate_up`, `experts_down`.
    pub role: String,
    /// What it does, with its shape.
    pub operation: Operation,
    /// How its weights are stored; of attention its cache.
    pub format: Format,
    /// How often a pass runs it on one device: once a layer that has it.
    pub count: u64,
}

/// `qkv, gemm 64 x 512 x 1024 to bf16`; what is called as it is for is called once.
impl Display for ModelOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operation = self.operation.to_string();
        match operation.starts_with(&self.role) {
            true => f.write_str(&operation),
            false => write!(f, "{}, {operation}", self.role),
        }
    }
}

impl ModelOperator {
    /// The types in which a device may compute it: on a processor 32 and 16 bits, on a GPU what engines multiply the format in where units
    /// for it exist, and 16 bits; states in the type that they are kept in.
    #[must_use]
    pub fn dtypes(&self, on: &DeviceFacts) -> [Dtype; 2] {
        if let Operation::Recurrence { .. } = self.operation {
            // States are what moves: in another type they would be others.
            let own = if self.format == Format::F32 { Dtype::F32 } else { Dtype::Bf16 };
            return [own; 2];
        }
        let own = match self.format.math() {
            _ if on.is_processor() => Dtype::F32,
            MathType::Bf16 => Dtype::Bf16,
            MathType::Fp8 => Dtype::Fp8E4m3,
            MathType::Fp4 => Dtype::Nvfp4,
            MathType::Int8 => Dtype::Int8,
        };
        [own, Dtype::Bf16]
    }

    /// Whether `measured` is the same operation of the same shape, whatever it was measured for and wherever its result goes.
    pub(crate) fn is_measured_by(&self, measured: &Operation) -> bool {
        match (&self.operation, measured) {
            (Operation::Gemm { shape, .. }, Operation::Gemm { shape: other, .. }) => shape == other,
            (Operation::Attention { shape, .. }, Operation::Attention { shape: other, .. }) => {
                asked_alike(*shape) == asked_alike(*other)
            }
            (Operation::Recurrence { shape, .. }, Operation::Recurrence { shape: other, .. }) => {
                shape == other
            }
            (Operation::Norm { shape, .. }, Operation::Norm { shape: other, .. }) => shape == other,
            (Operation::Collective { shape, .. }, Operation::Collective { shape: other, .. }) => {
                (shape.op, shape.ranks, shape.message.get().round())
                    == (other.op, other.ranks, other.message.get().round())
            }
            _ => false,
        }
    }
}

/// The same wherever its cache lies. A single query sees all keys with a mask and without one, and benchmarks of decode steps have none.
fn asked_alike(shape: AttentionShape) -> AttentionShape {
    let causal = shape.causal || shape.query_len == 1;
    AttentionShape { causal, page_tokens: None, ..shape }
}

/// The operators of `pass` of `system` on its busiest device, each shape of a role once: as the model is stored and spread there.
///
/// Projections that engines fuse are one product: queries, keys and values; gate and up. Latent attention is absorbed in a decode
/// step and expanded in a prefill. Experts are a grouped product of as many as a pass is expected to touch (`E (1 - (1 - k/E)^T)`), with
/// the tokens spread evenly. What a recurrent layer does with its states is one operation, token by token, without the short convolution
/// before it. Norms are those over the hidden size, of queries and keys, of latents and of what recurrent layers give (one that
/// has biases too counts twice); biases, and the functions between two products, belong to the products that they follow.
#[must_use]
pub fn model_operators(system: &System, pass: ModelPass) -> Vec<ModelOperator> {
    let mut all = layers::operators(system.model(), system.deployment(), pass);
    all.extend(collectives(system, pass));
    merged(all)
}

/// What devices tell one another in `pass`, as trials count it.
fn collectives(system: &System, pass: ModelPass) -> impl Iterator<Item = ModelOperator> {
    let told = system.collectives_of(&pass.in_the_roofline()).into_iter();
    told.filter(|of| of.ranks > 1).map(|of| {
        let op = match of.collective {
            Collective::AllGather => CollectiveOp::AllGather,
            Collective::ReduceScatter => CollectiveOp::ReduceScatter,
            Collective::AllToAll => CollectiveOp::AllToAll,
            Collective::SendReceive => CollectiveOp::SendRecv,
            _ => CollectiveOp::AllReduce,
        };
        let shape = CollectiveShape::new(op, of.ranks, Bytes::new(of.bytes.get().round()));
        let role = op.as_str().to_owned();
        ModelOperator {
            part: TermKind::LinkBytes,
            operation: Operation::Collective { shape, role: Some(role.clone()) },
            role,
            format: Format::Bf16,
            count: whole(of.times),
        }
    })
}

/// What is usual of these `components`, but products of matrices and attention are those that `model`, spread as `deployment` says, runs in a
/// prefill and a decode step of `load`, with all of its requests under way; and what its devices tell one another is measured besides. Each device
/// measures products in those of its usual types that the operator may be computed in ([`ModelOperator::dtypes`]), by its own loops and by
/// libraries.
///
/// # Errors
/// If the model cannot be spread so.
pub fn model_trials(
    backend: &impl ProbeBackend,
    components: &[Component],
    (model, deployment): (&Model, &Deployment),
    load: &UniformLoad,
) -> Result<Vec<ProbeTrial>, DeploymentError> {
    let operators = operators_of(model, deployment, load)?;
    let devices = backend.devices();
    let known = |way: &ProbeTrial| {
        let is_named =
            |facts: &&DeviceFacts| way.device.as_ref().is_none_or(|name| *name == facts.name);
        devices.iter().find(is_named)
    };
    // What the model asks for is a list of its own: behind all that is usual of its component it would be left out of a short time.
    let of_component = |component: &Component| {
        let usual = match component {
            Component::Gemm | Component::Attention => Vec::new(),
            _ => backend.trials(*component),
        };
        let ways = ways(backend, *component);
        let of_it = operators.iter().filter(|of| of.operation.component() == *component);
        let of_model = of_it.flat_map(|operator| {
            ways.iter().filter_map(move |way| asked(operator, way, known(way)))
        });
        [usual, of_model.collect()]
    };
    Ok(in_turns(components.iter().flat_map(of_component)))
}

/// Of a prefill and of a decode step, by either exchange with experts: which is the faster follows from links, which are not known yet.
fn operators_of(
    model: &Model,
    deployment: &Deployment,
    load: &UniformLoad,
) -> Result<Vec<ModelOperator>, DeploymentError> {
    // Shapes follow from no figure of a device.
    let Some(device) = Device::all().first() else { return Ok(Vec::new()) };
    let running = load.concurrency.get() as f64;
    let mut all: Vec<ModelOperator> = Vec::new();
    for exchange in [ExpertExchange::AllToAll, ExpertExchange::AllGather] {
        let spread = deployment.with_expert_exchange(exchange);
        let system = System::new(model.clone(), device.clone(), spread)?;
        let passes = [
            (PassPhase::Decode, system.decode_pass(load, running)),
            (PassPhase::Prefill, system.prefill_pass(load)),
        ];
        for (phase, pass) in passes {
            let operators = model_operators(&system, ModelPass::of(phase, &pass)).into_iter();
            let is_new = |of: &ModelOperator| {
                let alike = |known: &ModelOperator| known.is_measured_by(&of.operation);
                !all.iter().any(|known| alike(known) && known.format == of.format)
            };
            let new: Vec<_> = operators.filter(is_new).collect();
            all.extend(new);
        }
    }
    Ok(all)
}

/// How devices usually measure a component: a trial for each device, type and kind of instructions, on most threads.
fn ways(backend: &impl ProbeBackend, component: Component) -> Vec<ProbeTrial> {
    let mut ways: Vec<ProbeTrial> = Vec::new();
    for trial in backend.trials(component) {
        let is_alike = |way: &&mut ProbeTrial| {
            way.device == trial.device
                && (component == Component::Collective
                    || (way.dtype, &way.instructions) == (trial.dtype, &trial.instructions))
        };
        match ways.iter_mut().find(is_alike) {
            Some(way) if way.threads < trial.threads => *way = trial,
            Some(_) => {}
            None => ways.push(trial),
        }
    }
    ways
}

/// `operator` to be measured as `way` is, if it may be.
fn asked(
    operator: &ModelOperator,
    way: &ProbeTrial,
    on: Option<&DeviceFacts>,
) -> Option<ProbeTrial> {
    let mut operation = operator.operation.clone();
    let (mut dtype, mut weight) = (way.dtype, 1.0);
    match &mut operation {
        Operation::Collective { .. } => dtype = Dtype::Bf16,
        // Activations are of 16 bits. Norms are many, and each takes little.
        Operation::Norm { .. } => (dtype, weight) = (Dtype::Bf16, 0.25),
        Operation::Recurrence { .. } => [dtype, _] = operator.dtypes(on?),
        _ if !operator.dtypes(on?).contains(&dtype) => return None,
        Operation::Gemm { output, .. } if on?.is_processor() => *output = Dtype::F32,
        _ => {}
    }
    Some(ProbeTrial { operation, dtype, weight, ..way.clone() })
}

/// Operators that are alike, together.
fn merged(all: Vec<ModelOperator>) -> Vec<ModelOperator> {
    let mut merged: Vec<ModelOperator> = Vec::new();
    for operator in all {
        let is_alike = |other: &&mut ModelOperator| {
            (other.part, &other.operation, other.format)
                == (operator.part, &operator.operation, operator.format)
        };
        match merged.iter_mut().find(is_alike) {
            Some(other) => other.count += operator.count,
            None => merged.push(operator),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
