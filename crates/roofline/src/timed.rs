//! Operators in seconds on a device: one by one for the expectation, summed up for the bound.

use fizeau_core::Seconds;

use crate::carried::Carried;
use crate::deployment::imbalance;
use crate::operator::{Operator, OperatorKind, Positions, Routed};
use crate::pass::PassTime;
use crate::reach::{Reach, Reaches};
use crate::routing::{Coverage, Routing};
use crate::{Device, rates};

/// An operator in seconds, as engines cut it.
#[derive(Debug, Clone)]
pub(crate) struct Timed {
    operator: Operator,
    /// How many experts are read.
    coverage: Option<Coverage>,
    /// Seconds a byte.
    byte: f64,
    /// Seconds a FLOP.
    flop: f64,
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

impl Timed {
    /// As engines compute it.
    pub(crate) fn real(operator: Operator, device: &Device, routing: Routing) -> Self {
        Self::new(operator, device, routing, rates::usual(device, operator.format))
    }

    /// At best.
    pub(crate) fn ideal(operator: Operator, device: &Device) -> Self {
        Self::new(operator, device, Routing::Strict, rates::fastest(device, operator.format))
    }

    fn new(operator: Operator, device: &Device, routing: Routing, flop: f64) -> Self {
        let coverage = |routed: Routed| Coverage::new(routing, routed.count, routed.per_token);
        Self {
            operator,
            coverage: operator.experts.map(coverage),
            byte: 1.0 / device.memory_bandwidth().get(),
            flop,
        }
    }

    pub(crate) const fn kind(&self) -> OperatorKind {
        self.operator.kind
    }

    /// What the operator takes on the busiest device, which has at least one sequence if there is any.
    pub(crate) fn time<C: Carried>(&self, carried: &C) -> OperatorTime {
        let of = &self.operator;
        let share = |whole: f64| if whole > 1.0 { of.share.max(1.0 / whole) } else { 1.0 };
        let (decoding, prompts) = (share(carried.decoding()), share(carried.prompts()));
        let tokens = decoding * carried.decoded() + prompts * carried.prompt_tokens();
        let positions = match of.positions {
            Positions::All => tokens,
            Positions::Sampled => decoding * carried.decoded() + prompts * carried.prompts(),
        };
        let routed = match (&of.experts, &self.coverage) {
            (Some(routed), Some(coverage)) => routed.each * coverage.of(positions),
            _ => 0.0,
        };
        let mut cache = 0.0;
        let mut pairs = 0.0;
        if of.cached > 0.0 {
            let moved = decoding * carried.seen(&of.reach) + prompts * carried.filled(&of.reach);
            cache = of.cached * moved;
            pairs = of.per_pair.decode * decoding * carried.decode_pairs(&of.reach)
                + of.per_pair.prefill * prompts * carried.prompt_pairs(&of.reach);
        }
        if of.state > 0.0 {
            // Read and written; a prompt from the start only writes.
            let of_prompts = carried.prompts() + carried.resumed();
            cache += of.state * (2.0 * decoding * carried.decoding() + prompts * of_prompts);
        }
        // The pass waits for the group of devices whose experts are picked most.
        let busiest =
            of.experts.map_or(1.0, |routed| imbalance(routed.groups, positions * routed.per_token));
        OperatorTime {
            weights: (of.weights + routed) * self.byte,
            cache: cache * self.byte,
            activations: of.activations * positions * self.byte,
            matrices: of.per_token * positions * busiest * self.flop,
            attention: pairs * self.flop,
        }
    }

    pub(crate) fn add_to<C: Carried>(&self, sum: &mut PassTime, carried: &C) {
        let time = self.time(carried);
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

/// All operators of a pass in seconds, cut as evenly as arithmetic allows.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    /// Reading the weights once, of the experts as few as one token uses.
    pub(crate) weights: f64,
    /// Arithmetic of a token, LM head apart.
    token: f64,
    /// The LM head's, for a sampled position.
    sampled: f64,
    /// Moving a sequence's state once.
    state: f64,
    reaches: Vec<ReachTotals>,
}

#[derive(Debug, Clone, Copy)]
struct ReachTotals {
    reach: Reach,
    /// Moving a token's cache.
    cached: f64,
    /// Comparing a pair.
    decode: f64,
    prefill: f64,
}

impl Totals {
    pub(crate) fn new(operators: &[Timed], reaches: &Reaches) -> Self {
        let empty =
            |reach: &Reach| ReachTotals { reach: *reach, cached: 0.0, decode: 0.0, prefill: 0.0 };
        let mut sum = Self {
            weights: 0.0,
            token: 0.0,
            sampled: 0.0,
            state: 0.0,
            reaches: reaches.iter().map(empty).collect(),
        };
        for Timed { operator: of, byte, flop, .. } in operators {
            let routed = of.experts.map_or(0.0, |routed| routed.each * routed.per_token);
            sum.weights += (of.weights + routed) * byte;
            match of.positions {
                Positions::All => sum.token += of.per_token * flop,
                Positions::Sampled => sum.sampled += of.per_token * flop,
            }
            sum.state += of.state * byte;
            if let Some(totals) = sum.reaches.get_mut(of.reach.index) {
                totals.cached += of.cached * byte;
                totals.decode += of.per_pair.decode * flop;
                totals.prefill += of.per_pair.prefill * flop;
            }
        }
        // A model without full attention need not reckon it.
        sum.reaches.retain(|totals| totals.cached > 0.0);
        sum
    }

    /// Arithmetic of the layers' matrices and the LM head.
    pub(crate) fn matrices<C: Carried>(&self, carried: &C) -> f64 {
        let sampled = carried.decoded() + carried.prompts();
        self.token * (carried.decoded() + carried.prompt_tokens()) + self.sampled * sampled
    }

    /// Moving caches and states, and the arithmetic of attention.
    pub(crate) fn cache_and_attention<C: Carried>(&self, carried: &C) -> (f64, f64) {
        let states = 2.0 * carried.decoding() + carried.prompts() + carried.resumed();
        let (mut cache, mut attention) = (self.state * states, 0.0);
        for of in &self.reaches {
            cache += of.cached * (carried.seen(&of.reach) + carried.filled(&of.reach));
            attention += of.decode * carried.decode_pairs(&of.reach)
                + of.prefill * carried.prompt_pairs(&of.reach);
        }
        (cache, attention)
    }

    /// Many passes, `reads` of which read the weights; nothing of it is in the total.
    pub(crate) fn all<C: Carried>(&self, carried: &C, reads: f64) -> PassTime {
        let (cache, attention) = self.cache_and_attention(carried);
        PassTime {
            weights: Seconds::new(self.weights * reads),
            cache: Seconds::new(cache),
            matrices: Seconds::new(self.matrices(carried)),
            attention: Seconds::new(attention),
            ..PassTime::default()
        }
    }

    /// One pass: all memory and all arithmetic overlap.
    pub(crate) fn time<C: Carried>(&self, carried: &C) -> PassTime {
        let matrices = self.matrices(carried);
        let (cache, attention) = self.cache_and_attention(carried);
        let mut time = PassTime {
            weights: Seconds::new(self.weights),
            cache: Seconds::new(cache),
            matrices: Seconds::new(matrices),
            attention: Seconds::new(attention),
            ..PassTime::default()
        };
        let (memory, arithmetic) = (self.weights + cache, matrices + attention);
        time.total = Seconds::new(memory.max(arithmetic));
        if memory >= arithmetic {
            time.binding.weights = time.weights;
            time.binding.cache = time.cache;
        } else {
            time.binding.compute = Seconds::new(arithmetic);
        }
        time
    }
}
