//! What a load costs a system at the data sheet's rates, in the parts that constants apply to.

use crate::operator::{Cut, Operator, OperatorKind, Positions, operators};
use crate::span::Span;
use crate::{Device, Format, Link, Load, MathType, Pass, System, Topology};

use super::kernels;

/// Time per output token of a system under a load, in seconds at the peak rates of the busiest device, and in counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Account {
    /// Matrices of attention of whatever kind, and routers.
    pub(super) mixers: Work,
    /// Dense and shared feed-forward blocks.
    pub(super) dense: Work,
    /// Routed experts.
    pub(super) experts: Work,
    /// The LM head.
    pub(super) head: Work,
    /// Caches and states, and the arithmetic of attention.
    pub(super) core: Work,
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
    pub(super) prompt: Prompt,
    /// Prompts of others that come in during a step.
    pub(super) prompts_per_step: f64,
    /// Requests that run at once, and those that wait for a place, in a replica.
    pub(super) running: f64,
    pub(super) waiting: f64,
    /// Tokens that a request generates.
    pub(super) output: f64,
    pub(super) regime: Regime,
}

/// Work of one kind, on one device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Work {
    pub(super) memory: f64,
    pub(super) arithmetic: f64,
}

/// A prompt, when all devices of a replica work on prompts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Prompt {
    pub(super) arithmetic: f64,
    pub(super) link: f64,
    pub(super) kernels: f64,
    /// How many prompts it takes to keep all devices busy.
    pub(super) abreast: f64,
}

/// What decides whether a load is like those that were fitted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Regime {
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

/// A prompt runs outside of captured graphs, so that each of its kernels costs two launches more than in a step.
const PROMPT_LAUNCHES: f64 = 2.0;
/// Tokens that a kernel for experts works on at once: of each expert's last tile half is empty.
const TILE: f64 = 128.0;
/// Bytes of an activation.
const ACTIVATION: f64 = 2.0;

/// A system, ready for accounts of any load.
#[derive(Debug, Clone)]
pub(super) struct Accounts {
    system: System,
    operators: Vec<Rated>,
    kernels: f64,
    widenings: f64,
    collectives: f64,
    small_collectives: f64,
    /// Seconds a byte.
    link: f64,
}

#[derive(Debug, Clone, Copy)]
struct Rated {
    operator: Operator,
    /// Seconds a FLOP.
    flop: f64,
}

impl Accounts {
    pub(super) fn new(system: &System) -> Self {
        let (model, device) = (system.model(), system.device());
        let deployment = system.deployment();
        let rated = |operator: Operator| {
            // Attention is computed in 16 bits, whatever the cache is kept in.
            let math = match operator.kind {
                OperatorKind::Attention => MathType::Bf16,
                _ => operator.format.math_on(device),
            };
            Rated { flop: 1.0 / device.rate_for(math).get(), operator }
        };
        let ranks = deployment.devices_per_stage();
        let widens = |format| is_widened(device, format);
        let kernels = kernels::of_pass(model) as f64;
        let when_several = |count: u64| if ranks > 1 { count as f64 } else { 0.0 };
        let small = if deployment.tensor() > 1 { kernels::small_collectives(model) } else { 0 };
        Self {
            operators: operators(model, deployment, Cut::Real).into_iter().map(rated).collect(),
            kernels,
            widenings: kernels::layers_with(model, widens) as f64,
            collectives: when_several(kernels::collectives(model)),
            small_collectives: small as f64,
            link: 1.0 / link_rate(device, ranks),
            system: system.clone(),
        }
    }

    /// The account of `load` with as many sequences running as fit.
    pub(super) fn of(&self, load: &Load) -> Account {
        self.with_batch(load, self.system.running_batch(load))
    }

    fn with_batch(&self, load: &Load, batch: f64) -> Account {
        let deployment = self.system.deployment();
        let (input, output, cached) = load.lengths();
        let replicas = f64::from(deployment.replicas());
        let stages = f64::from(deployment.pipeline());
        let running = (batch / replicas).max(1.0);
        let offered = (load.concurrency.get() as f64 / replicas).max(running);
        // Each stage works on a micro-batch of its own.
        let pass = Pass::decode(
            (running / stages).max(1.0),
            Span::between(input + 1.0, input + output - 1.0),
        );
        let groups = f64::from(deployment.attention_groups());
        let sequences = (pass.decoding / groups).max(1.0);
        let ranks = deployment.devices_per_stage() as f64;
        let bytes = self.token_bytes() * pass.decoding * self.link;
        let mut account = Account {
            kernels: self.kernels,
            widenings: self.widenings,
            collectives: self.collectives,
            small_collectives: self.small_collectives,
            one_shot: (ranks - 1.0) * bytes / groups,
            two_shot: 2.0 * (ranks - 1.0) / ranks * bytes / groups,
            sequences,
            prompts_per_step: (running - 1.0) / (output * stages),
            prompt: self.prompt(&Pass::prefill(input, cached)),
            running,
            waiting: offered - running,
            output,
            regime: Regime {
                batch: running,
                context: pass.contexts.mean(),
                prompt: input - cached,
                devices: deployment.devices_per_replica() as f64,
                kernels: self.kernels,
            },
            ..Account::default()
        };
        for rated in &self.operators {
            self.add_decode(&mut account, rated, &pass);
        }
        account
    }

    /// Bytes that a token takes between layers.
    fn token_bytes(&self) -> f64 {
        ACTIVATION * self.system.model().hidden() as f64
    }

    fn add_decode(&self, account: &mut Account, rated: &Rated, pass: &Pass) {
        let of = &rated.operator;
        let byte = 1.0 / self.system.device().memory_bandwidth().get();
        let tokens = (pass.decoding * of.share).max(1.0);
        let routed = of.experts.map_or(0.0, |routed| routed.each * routed.touched(tokens));
        let matrices = Work {
            memory: (of.weights + routed) * byte,
            arithmetic: of.per_token * tokens * rated.flop,
        };
        let seen = pass.contexts.mean_capped(of.cap);
        account.core.add(Work {
            memory: (of.cached * seen + of.state) * tokens * byte,
            arithmetic: of.per_pair.decode * tokens * seen * rated.flop,
        });
        let part = match of.kind {
            OperatorKind::Dense | OperatorKind::Shared => &mut account.dense,
            OperatorKind::Experts => &mut account.experts,
            OperatorKind::Head => &mut account.head,
            _ => &mut account.mixers,
        };
        part.add(matrices);
    }

    fn prompt(&self, pass: &Pass) -> Prompt {
        let deployment = self.system.deployment();
        let tokens = pass.positions.count();
        let ranks = deployment.devices_per_stage() as f64;
        let mut arithmetic = 0.0;
        for Rated { operator: of, flop } in &self.operators {
            if of.positions == Positions::Sampled {
                continue;
            }
            let padding = of.experts.map_or(1.0, |routed| {
                1.0 + TILE / 2.0 / (tokens * routed.per_token / routed.count)
            });
            let pairs = tokens * pass.positions.mean_capped(of.cap) * of.per_pair.prefill;
            arithmetic += of.share * (of.per_token * tokens * padding + pairs) * flop;
        }
        Prompt {
            arithmetic,
            link: self.collectives * 2.0 * (ranks - 1.0) / ranks
                * tokens
                * self.token_bytes()
                * self.link,
            kernels: PROMPT_LAUNCHES * self.kernels,
            abreast: f64::from(deployment.attention_groups()),
        }
    }
}

impl Work {
    fn add(&mut self, other: Self) {
        self.memory += other.memory;
        self.arithmetic += other.arithmetic;
    }
}

/// Whether weights in `format` are widened to 16 bits as `device` reads them, for want of arithmetic of their own.
fn is_widened(device: &Device, format: Format) -> bool {
    format.value_bits() < 16 && format.math_on(device) == MathType::Bf16
}

/// Bytes per second that a device sends to the others of a group of `ranks`; not below one, so that nothing is infinite
/// where the table knows no link.
fn link_rate(device: &Device, ranks: u64) -> f64 {
    let reaches = |link: &&Link| match link.topology {
        Topology::Switch { domain, .. } | Topology::Mesh { domain } => ranks <= u64::from(domain),
        _ => true,
    };
    let link = device.link().filter(reaches).or_else(|| device.network()).or_else(|| device.link());
    link.map_or(f64::INFINITY, |link| link.bandwidth.get())
}
