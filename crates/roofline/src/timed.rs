//! Operators in seconds on a device, one by one: for the expectation.

use fizeau_core::Seconds;

use crate::deployment::imbalance;
use crate::operator::{Operator, OperatorCut, OperatorKind, Positions, Routed};
use crate::pass::PassTime;
use crate::pass_demand::PassDemand;
use crate::reach::MovedTokens;
use crate::routing::{Coverage, ExpertRouting, fewest};
use crate::{Device, rates};

/// An operator in seconds, as engines cut it.
#[derive(Debug, Clone)]
pub(crate) struct Timed {
    pub(crate) operator: Operator,
    /// How many experts are read.
    pub(crate) coverage: Option<Coverage>,
    /// Seconds a byte.
    pub(crate) byte: f64,
    /// Seconds a FLOP.
    pub(crate) flop: f64,
    /// Seconds for each cached token of a prompt whose latent is expanded.
    pub(crate) expansion: f64,
    cut: OperatorCut,
}

/// What an operator takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperatorTime {
    pub(crate) weights: f64,
    pub(crate) cache: f64,
    pub(crate) activations: f64,
    pub(crate) matrices: f64,
    pub(crate) attention: f64,
}

impl OperatorTime {
    pub(crate) const fn memory(&self) -> f64 {
        self.weights + self.cache + self.activations
    }

    pub(crate) const fn arithmetic(&self) -> f64 {
        self.matrices + self.attention
    }

    pub(crate) const fn longest(&self) -> f64 {
        self.memory().max(self.arithmetic())
    }
}

/// The tokens of a pass that choose experts, each for itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChoosingTokens {
    pub(crate) all: f64,
    /// Those that go through every layer: of a prompt the last one.
    pub(crate) sampled: f64,
}

impl ChoosingTokens {
    /// Of a step, whose tokens are all sampled.
    pub(crate) const fn decoded(tokens: f64) -> Self {
        Self { all: tokens, sampled: tokens }
    }

    /// Of one prompt.
    pub(crate) const fn prompt(tokens: f64) -> Self {
        Self { all: tokens, sampled: 1.0 }
    }

    /// The fewest experts that they read on average over layers, of which all go through the share `whole`.
    fn fewest(self, of: Routed, whole: f64) -> f64 {
        let read = |tokens| fewest(of.count, of.per_token, tokens);
        if self.all == self.sampled || whole >= 1.0 {
            return read(self.all);
        }
        whole * read(self.all) + (1.0 - whole) * read(self.sampled)
    }
}

impl Timed {
    /// As engines compute it.
    pub(crate) fn real(operator: Operator, device: &Device, routing: ExpertRouting) -> Self {
        Self::new(operator, device, routing, OperatorCut::Real)
    }

    /// At best.
    pub(crate) fn ideal(operator: Operator, device: &Device) -> Self {
        Self::new(operator, device, ExpertRouting::Strict, OperatorCut::Ideal)
    }

    /// The same, with the experts that are read looked up: many passes are asked for.
    pub(crate) fn tabulated(self, routing: ExpertRouting) -> Self {
        let table = |routed: Routed| Coverage::tabulated(routing, routed.count, routed.per_token);
        Self { coverage: self.operator.experts.map(table), ..self }
    }

    /// The same, reading the fewest experts that so many tokens choose each for themselves.
    pub(crate) fn evenly_routed(&self, tokens: ChoosingTokens) -> Self {
        let whole = self.operator.whole;
        let read = |of: Routed| Coverage::Fixed(tokens.fewest(of, whole));
        Self { coverage: self.operator.experts.map(read), ..self.clone() }
    }

    /// The seconds that those take to read beyond the experts of one token; 0 where there are none.
    pub(crate) fn read_more(&self, tokens: ChoosingTokens) -> f64 {
        self.operator.experts.map_or(0.0, |of| {
            let read = tokens.fewest(of, self.operator.whole);
            of.each * (read - of.per_token) * self.byte
        })
    }

    fn new(operator: Operator, device: &Device, routing: ExpertRouting, cut: OperatorCut) -> Self {
        let coverage = |routed: Routed| Coverage::new(routing, routed.count, routed.per_token);
        let flop = |format| match cut {
            OperatorCut::Ideal => rates::fastest(device, format),
            OperatorCut::Real => rates::usual(device, format),
        };
        Self {
            operator,
            coverage: operator.experts.map(coverage),
            byte: 1.0
                / match cut {
                    OperatorCut::Ideal => device.memory_bandwidth().get(),
                    OperatorCut::Real => device.usual_bandwidth().get(),
                },
            flop: flop(operator.format),
            expansion: operator.expansion * flop(operator.expanded_in),
            cut,
        }
    }

    pub(crate) const fn kind(&self) -> OperatorKind {
        self.operator.kind
    }

    /// What the operator takes on the busiest device, which has at least one sequence if there is any.
    pub(crate) fn time<C: PassDemand>(&self, demand: &C) -> OperatorTime {
        let of = &self.operator;
        let decoding = busiest(of.share, demand.decoding());
        let prompts = busiest(of.share, demand.prompts());
        let tokens = decoding * demand.decoded() + prompts * demand.prompt_tokens();
        let sampled = decoding * demand.decoded() + prompts * demand.prompts();
        let positions = match of.positions {
            Positions::All => tokens,
            Positions::Sampled => sampled,
        };
        let routed = match (&of.experts, &self.coverage) {
            (Some(routed), Some(coverage)) => routed.each * coverage.of(positions),
            _ => 0.0,
        };
        let mut cache = 0.0;
        let mut attention = 0.0;
        if of.cached > 0.0 {
            let moved = match self.cut {
                OperatorCut::Ideal => demand.moved(&of.reach).all(),
                OperatorCut::Real => {
                    decoding * demand.seen(&of.reach) + prompts * demand.filled(&of.reach)
                }
            };
            cache = of.cached * moved;
            let decoded = match self.cut {
                OperatorCut::Ideal => demand.decode_pairs_parted(&of.reach),
                OperatorCut::Real => {
                    MovedTokens { own: demand.decode_pairs(&of.reach), shared: 0.0 }
                }
            };
            let decoded =
                of.per_pair.decode * decoded.own + of.per_pair.of_shared() * decoded.shared;
            let compared = demand.prompt_pairs(&of.reach);
            let read =
                of.per_pair.prefill * compared + of.per_pair.last * demand.last_pairs(&of.reach);
            let expanded = demand.cached(&of.reach) * self.expansion;
            let absorbed = of.per_pair.decode * compared;
            let read = (expanded + read * self.flop).min(absorbed.max(read) * self.flop);
            attention = decoding * decoded * self.flop + prompts * read;
        }
        if of.state > 0.0 {
            // Read and written; a prompt from the start only writes.
            let resumed = if self.cut == OperatorCut::Ideal { 0.0 } else { demand.resumed() };
            let of_prompts = demand.prompts() + resumed;
            cache += of.state * (2.0 * decoding * demand.decoding() + prompts * of_prompts);
        }
        // The pass waits for the group of devices whose experts are picked most.
        let busiest =
            of.experts.map_or(1.0, |routed| imbalance(routed.groups, positions * routed.per_token));
        OperatorTime {
            weights: (of.weights + routed) * self.byte,
            cache: cache * self.byte,
            activations: of.activations * positions * self.byte,
            matrices: (of.per_token * positions + of.per_sampled * sampled) * busiest * self.flop,
            attention,
        }
    }

    pub(crate) fn add_to<C: PassDemand>(&self, sum: &mut PassTime, demand: &C) {
        let time = self.time(demand);
        sum.weights = sum.weights + Seconds::new(time.weights);
        sum.cache = sum.cache + Seconds::new(time.cache);
        sum.activations = sum.activations + Seconds::new(time.activations);
        sum.matrices = sum.matrices + Seconds::new(time.matrices);
        sum.attention = sum.attention + Seconds::new(time.attention);
        let (memory, arithmetic) = (time.memory(), time.arithmetic());
        sum.total = sum.total + Seconds::new(memory.max(arithmetic));
        let binding = &mut sum.binding;
        if memory >= arithmetic {
            binding.weights = binding.weights + Seconds::new(time.weights);
            binding.cache = binding.cache + Seconds::new(time.cache);
            binding.activations = binding.activations + Seconds::new(time.activations);
        } else {
            binding.compute = binding.compute + Seconds::new(arithmetic);
        }
    }
}

/// Of `whole` sequences, the share of the device that has most, where each has `share` on average: one that has any has
/// at least one.
pub(crate) fn busiest(share: f64, whole: f64) -> f64 {
    if whole > 1.0 { share.max(1.0 / whole) } else { 1.0 }
}
