//! What a load costs a system at the data sheet's rates, in the parts that constants apply to.

use crate::model::Mixer;
use crate::operator::{Operator, OperatorCut, OperatorKind, Positions, operators};
use crate::span::ContextSpan;
use crate::timed::Timed;
use crate::{
    Device, ExpertRouting, Format, Link, MathType, Model, Pass, System, Topology, UniformLoad,
};

use super::kernels;

/// Time per output token of a system under a load, in seconds at the peak rates of the busiest device, and in counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct TimeAccount {
    /// Matrices of attention of whatever kind, and routers.
    pub(super) mixers: DeviceWork,
    /// Dense and shared feed-forward blocks.
    pub(super) dense: DeviceWork,
    /// Routed experts.
    pub(super) experts: DeviceWork,
    /// The LM head.
    pub(super) head: DeviceWork,
    /// Caches and states, and the arithmetic of attention.
    pub(super) core: DeviceWork,
    /// Kernels of a step.
    pub(super) kernels: f64,
    /// Layers whose narrow weights are widened.
    pub(super) widenings: f64,
    /// Collectives of a step, and what the bytes of one take in one hop and in two.
    pub(super) collectives: f64,
    pub(super) one_shot: f64,
    pub(super) two_shot: f64,
    /// Collectives with hardly any bytes.
    pub(super) small_collectives: f64,
    /// Sequences of a step on a device.
    pub(super) sequences: f64,
    /// One request's prompt.
    pub(super) prompt: PromptWork,
    /// Prompts of others that come in during a step.
    pub(super) prompts_per_step: f64,
    /// Requests that run at once, and those that wait for a place, in a replica.
    pub(super) running: f64,
    pub(super) waiting: f64,
    /// Tokens that a request generates.
    pub(super) output: f64,
    pub(super) regime: LoadRegime,
    /// Of what it is the account.
    pub(super) of: AccountedTime,
}

/// What an account is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AccountedTime {
    /// A load's time per output token.
    #[default]
    Token,
    /// One pass, whose prompts are all in it.
    Pass(PassScope),
}

/// From where to where an engine times a forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassScope {
    /// From scheduling to output, as engines do that do not say otherwise.
    #[default]
    Step,
    /// The model's execution alone, as vLLM does (`execute_model_cuda`): what the host takes for a step and a sequence is left out, and
    /// such passes tell nothing of it.
    Model,
}

/// Work of one kind, on one device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DeviceWork {
    pub(super) memory: f64,
    pub(super) arithmetic: f64,
}

/// A prompt, when all devices of a replica work on prompts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PromptWork {
    pub(super) memory: f64,
    /// Of dense matrices and attention.
    pub(super) arithmetic: f64,
    pub(super) experts: f64,
    /// Of experts' half-empty tiles, when nothing else fills them.
    pub(super) padding: f64,
    pub(super) link: f64,
    pub(super) kernels: f64,
    /// How many prompts it takes to keep all devices busy.
    pub(super) abreast: f64,
}

/// What decides whether a load is like those that were fitted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct LoadRegime {
    /// Sequences of a step, of all devices of a replica.
    pub(super) batch: f64,
    /// Mean context of a step, in tokens.
    pub(super) context: f64,
    /// Tokens of a prompt that are computed.
    pub(super) prompt: f64,
    /// Devices of a replica.
    pub(super) devices: f64,
    /// Kernels of a step.
    pub(super) kernels: f64,
}

/// A step that reads prompts runs outside of captured graphs, so that each of its kernels costs two launches more.
const PROMPT_LAUNCHES: f64 = 2.0;
/// Tokens that a kernel for experts works on at once: of each expert's last tile half is empty.
const TILE: f64 = 128.0;
/// Routers do not choose all experts equally often: number `i` with a weight of `i^-0.6` where nothing is said of them. Of families left
/// out, those with few tokens for many experts are then least off; 0 and 0.9 are both worse.
const UNEVEN: f64 = 0.6;
/// Bytes of an activation.
const ACTIVATION: f64 = 2.0;

/// A system, ready for accounts of any load.
#[derive(Debug, Clone)]
pub(super) struct TimeAccounts {
    system: System,
    operators: Vec<(Operator, Timed)>,
    kernels: f64,
    widenings: f64,
    collectives: f64,
    small_collectives: f64,
    /// Seconds a byte.
    link: f64,
    /// How many more sequences there may be room for than the cache's type says.
    cache_room: f64,
}

impl TimeAccounts {
    pub(super) fn new(system: &System) -> Self {
        let (model, device) = (&as_stored(system.model()), system.device());
        let deployment = system.deployment();
        let routing = match system.routing() {
            ExpertRouting::Expected => ExpertRouting::Skewed(UNEVEN),
            said => said,
        };
        let timed = |operator: Operator| {
            (operator, Timed::real(operator, device, routing).tabulated(routing))
        };
        let ranks = deployment.devices_per_stage();
        let widens = |format| is_widened(device, format);
        let kernels = kernels::of_pass(model) as f64;
        let when_several = |count: u64| if ranks > 1 { count as f64 } else { 0.0 };
        let small = if deployment.tensor() > 1 { kernels::small_collectives(model) } else { 0 };
        Self {
            operators: operators(model, deployment, OperatorCut::Real)
                .into_iter()
                .map(timed)
                .collect(),
            kernels,
            widenings: kernels::layers_with(model, widens) as f64,
            collectives: when_several(kernels::collectives(model)),
            small_collectives: small as f64,
            link: 1.0 / link_rate(device, ranks),
            cache_room: cache_room(model),
            system: system.clone(),
        }
    }

    /// The account of `load` with as many sequences running as fit.
    pub(super) fn of(&self, load: &UniformLoad) -> TimeAccount {
        let batch = self.running(load);
        let deployment = self.system.deployment();
        let (input, output, cached) = load.lengths();
        let replicas = f64::from(deployment.replicas());
        let stages = f64::from(deployment.pipeline());
        let running = (batch / replicas).max(1.0);
        let offered = (load.concurrency.get() as f64 / replicas).max(running);
        // Each stage works on a micro-batch of its own.
        let pass = Pass::decode(
            (running / stages).max(1.0),
            ContextSpan::between(input + 1.0, input + output - 1.0),
        );
        let groups = f64::from(deployment.attention_groups());
        let sequences = (pass.decoding / groups).max(1.0);
        let mut account = TimeAccount {
            sequences,
            prompts_per_step: (running - 1.0) / (output * stages),
            prompt: self.prompt(input, cached),
            running,
            waiting: offered - running,
            output,
            regime: LoadRegime {
                batch: running,
                context: pass.contexts.mean(),
                prompt: input - cached,
                devices: deployment.devices_per_replica() as f64,
                kernels: self.kernels,
            },
            ..self.overheads()
        };
        self.exchange(&mut account, pass.decoding / groups);
        for (operator, timed) in &self.operators {
            let time = timed.time(&pass);
            account.core.add(DeviceWork { memory: time.cache, arithmetic: time.attention });
            let matrices = DeviceWork { memory: time.weights, arithmetic: time.matrices };
            account.part(operator.kind).add(matrices);
        }
        account
    }

    /// What a step takes whatever its batch.
    pub(super) fn overheads(&self) -> TimeAccount {
        TimeAccount {
            kernels: self.kernels,
            widenings: self.widenings,
            collectives: self.collectives,
            small_collectives: self.small_collectives,
            ..TimeAccount::default()
        }
    }

    /// As many sequences of `load` as run at once.
    fn running(&self, load: &UniformLoad) -> f64 {
        let deployment = self.system.deployment();
        let groups = f64::from(deployment.attention_groups()) * f64::from(deployment.replicas());
        let allowed = self.system.serving().max_sequences;
        let allowed = allowed.map_or(f64::INFINITY, |most| most.get() as f64 * groups);
        let fitting = (self.system.max_batch(load) * self.cache_room).floor();
        (load.concurrency.get() as f64).min(fitting).min(allowed).max(1.0)
    }

    /// Adds the bytes of a collective over `tokens` of an attention group.
    pub(super) fn exchange(&self, account: &mut TimeAccount, tokens: f64) {
        let ranks = self.system.deployment().devices_per_stage() as f64;
        let bytes = self.token_bytes() * tokens * self.link;
        account.one_shot = (ranks - 1.0) * bytes;
        account.two_shot = 2.0 * (ranks - 1.0) / ranks * bytes;
    }

    pub(super) const fn system(&self) -> &System {
        &self.system
    }

    /// The operators of a pass, as engines cut them.
    pub(super) fn operators(&self) -> impl Iterator<Item = &(Operator, Timed)> {
        self.operators.iter()
    }

    /// Kernels that one prompt launches on the devices that it runs on, in steps' kernels.
    pub(super) fn prompt_kernels(&self) -> f64 {
        PROMPT_LAUNCHES * self.kernels
    }

    /// What ranks exchange for `tokens` of a prompt, in seconds.
    pub(super) fn prompt_link(&self, tokens: f64) -> f64 {
        let ranks = self.system.deployment().devices_per_stage() as f64;
        let bytes = 2.0 * (ranks - 1.0) / ranks * tokens * self.token_bytes();
        self.collectives * bytes * self.link
    }

    /// Bytes that a token takes between layers.
    fn token_bytes(&self) -> f64 {
        ACTIVATION * self.system.model().hidden as f64
    }

    /// What a prompt of `input` tokens takes of all devices, a prompt in each attention group at a time.
    fn prompt(&self, input: f64, cached: f64) -> PromptWork {
        let deployment = self.system.deployment();
        let groups = f64::from(deployment.attention_groups());
        let pass = Pass { prompts: groups, ..Pass::prefill(input, cached) };
        let tokens = pass.positions.count();
        let mut prompt = PromptWork {
            link: self.prompt_link(tokens),
            kernels: self.prompt_kernels(),
            abreast: groups,
            ..PromptWork::default()
        };
        for (operator, timed) in &self.operators {
            if operator.positions == Positions::Sampled {
                continue;
            }
            let time = timed.time(&pass);
            prompt.memory += time.memory() / groups;
            prompt.add(operator, tokens, time.matrices / groups, time.attention / groups);
        }
        prompt
    }
}

impl Operator {
    /// What kernels for experts compute of half-empty tiles, by what `tokens` of a prompt need; 1 for any other.
    pub(super) fn tiles(&self, tokens: f64) -> f64 {
        self.experts
            .map_or(1.0, |routed| 1.0 + TILE / 2.0 / (tokens * routed.per_token / routed.count))
    }
}

impl PromptWork {
    /// The same work as if it took `times` as long.
    pub(super) fn times(self, times: f64) -> Self {
        let Self { memory, arithmetic, experts, padding, link, kernels, abreast } = self;
        let [memory, arithmetic, experts] = [memory, arithmetic, experts].map(|own| own * times);
        let [padding, link, kernels] = [padding, link, kernels].map(|own| own * times);
        Self { memory, arithmetic, experts, padding, link, kernels, abreast }
    }

    /// All arithmetic of a prompt by itself.
    pub(super) fn all_arithmetic(&self) -> f64 {
        self.arithmetic + self.experts + self.padding
    }

    /// Adds what an operator computes for a prompt of `tokens`.
    pub(super) fn add(&mut self, operator: &Operator, tokens: f64, matrices: f64, attention: f64) {
        self.arithmetic += attention;
        if operator.kind == OperatorKind::Experts {
            self.experts += matrices;
            self.padding += matrices * (operator.tiles(tokens) - 1.0);
        } else {
            self.arithmetic += matrices;
        }
    }
}

impl TimeAccount {
    /// The same load as if decoding took `times` as long, but for what the host takes for a step and a sequence.
    pub(super) fn decoding_times(mut self, times: f64) -> Self {
        let works =
            [&mut self.mixers, &mut self.dense, &mut self.experts, &mut self.head, &mut self.core];
        for work in works {
            work.memory *= times;
            work.arithmetic *= times;
        }
        let counts = [
            &mut self.kernels,
            &mut self.widenings,
            &mut self.collectives,
            &mut self.small_collectives,
        ];
        for count in counts {
            *count *= times;
        }
        self
    }

    pub(super) fn part(&mut self, kind: OperatorKind) -> &mut DeviceWork {
        match kind {
            OperatorKind::Dense | OperatorKind::Shared => &mut self.dense,
            OperatorKind::Experts => &mut self.experts,
            OperatorKind::Head => &mut self.head,
            _ => &mut self.mixers,
        }
    }
}

impl DeviceWork {
    pub(super) fn add(&mut self, other: Self) {
        self.memory += other.memory;
        self.arithmetic += other.arithmetic;
    }
}

/// The model as checkpoints in NVFP4 store it: latent attention stays in 16 bits
/// ([`hf_quant_config.json` of nvidia/DeepSeek-R1-NVFP4](https://huggingface.co/nvidia/DeepSeek-R1-NVFP4) leaves out `self_attn`).
fn as_stored(model: &Model) -> Model {
    let mut model = model.clone();
    for layers in &mut model.layers {
        if let Mixer::Latent(latent) = &mut layers.mixer
            && latent.format == Format::Nvfp4
        {
            latent.format = Format::Bf16;
        }
    }
    model
}

/// Engines that serve weights in 8 bits or fewer commonly keep the cache in 8 as well, without that being said: where it is not
/// said, as many sequences may run as such a cache has room for. That its reads are shorter is in the share of the bandwidth
/// that they reach ([`crate::Constant::CacheBandwidth`]).
fn cache_room(model: &Model) -> f64 {
    let is_narrow = model.tensors().iter().any(|tensors| tensors.format.value_bits() <= 8);
    if is_narrow && !model.says_kv_cache() { 2.0 } else { 1.0 }
}

/// Whether weights in `format` are widened to 16 bits as `device` reads them, for want of arithmetic of their own.
fn is_widened(device: &Device, format: Format) -> bool {
    format.value_bits() < 16 && format.math_on(device) == MathType::Bf16
}

/// Bytes per second that a device sends to the others of a group of `ranks`; not below one, so that nothing is infinite
/// where the table knows no link.
fn link_rate(device: &Device, ranks: u64) -> f64 {
    let reaches = |link: &&Link| match link.topology {
        Topology::Switch { domain, .. } | Topology::Mesh { domain, .. } => {
            ranks <= u64::from(domain)
        }
        _ => true,
    };
    let link = device.link().filter(reaches).or_else(|| device.network()).or_else(|| device.link());
    link.map_or(f64::INFINITY, |link| link.bandwidth.get())
}
