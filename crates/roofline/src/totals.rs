//! Operators in seconds, summed up where nothing tells them apart: for the bound, and for an engine that overlaps.

use fizeau_core::Seconds;

use crate::deployment::imbalance;
use crate::operator::{OperatorCut, Positions};
use crate::pass::PassTime;
use crate::pass_demand::PassDemand;
use crate::reach::{LayerReach, ModelReaches, MovedTokens};
use crate::routing::Coverage;
use crate::timed::{Timed, busiest};

/// All operators of a pass in seconds, cut alike.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    /// Reading the weights once, of the experts those that are read whatever the tokens.
    pub(crate) weights: f64,
    /// Arithmetic of a token, LM head apart.
    token: f64,
    /// The LM head's, for a sampled position, and what of a prompt no other needs.
    sampled: f64,
    /// Moving a sequence's state once.
    state: f64,
    cut: OperatorCut,
    reaches: Vec<ReachTotals>,
}

#[derive(Debug, Clone, Copy)]
struct ReachTotals {
    reach: LayerReach,
    /// Moving a token's cache.
    cached: f64,
    /// Comparing a pair.
    decode: f64,
    /// One of a token that others begin with as well, where that is cheaper.
    shared: f64,
    prefill: f64,
    /// One of the last position of a prompt, beside those.
    last: f64,
    /// Expanding the latent of a cached token of a prompt.
    expansion: f64,
}

impl Totals {
    pub(crate) fn new<'a>(
        operators: impl Iterator<Item = &'a Timed>,
        reaches: &ModelReaches,
        cut: OperatorCut,
    ) -> Self {
        let empty = |reach: &LayerReach| ReachTotals {
            reach: *reach,
            cached: 0.0,
            decode: 0.0,
            shared: 0.0,
            prefill: 0.0,
            last: 0.0,
            expansion: 0.0,
        };
        let mut sum = Self {
            weights: 0.0,
            token: 0.0,
            sampled: 0.0,
            state: 0.0,
            cut,
            reaches: reaches.iter().map(empty).collect(),
        };
        for Timed { operator: of, coverage, byte, flop, expansion, .. } in operators {
            sum.weights += of.weights * byte;
            // Of those that tokens pick each for themselves, the number depends on the tokens.
            if let (Some(routed), Some(Coverage::Fixed(count))) = (of.experts, coverage) {
                sum.weights += routed.each * count * byte;
            }
            match of.positions {
                Positions::All => sum.token += of.per_token * flop,
                Positions::Sampled => sum.sampled += of.per_token * flop,
            }
            sum.sampled += of.per_sampled * flop;
            sum.state += of.state * byte;
            if let Some(totals) = sum.reaches.get_mut(of.reach.index) {
                totals.cached += of.cached * byte;
                totals.decode += of.per_pair.decode * flop;
                totals.shared += of.per_pair.of_shared() * flop;
                totals.prefill += of.per_pair.prefill * flop;
                totals.last += of.per_pair.last * flop;
                totals.expansion += expansion;
            }
        }
        for totals in &mut sum.reaches {
            // Sums in another order.
            if totals.shared > totals.decode * (1.0 - 1e-9) {
                totals.shared = totals.decode;
            }
        }
        // A model without full attention need not compute it.
        sum.reaches.retain(|totals| totals.cached > 0.0);
        sum
    }

    /// The same, whose weights take so many seconds more to read.
    pub(crate) fn reading_more(self, seconds: f64) -> Self {
        Self { weights: self.weights + seconds, ..self }
    }

    /// Arithmetic of the layers' matrices and the LM head.
    pub(crate) fn matrices<C: PassDemand>(&self, demand: &C) -> f64 {
        let sampled = demand.decoded() + demand.prompts();
        self.token * (demand.decoded() + demand.prompt_tokens()) + self.sampled * sampled
    }

    /// Moving caches and states, of that what sequences share, and the arithmetic of attention.
    pub(crate) fn cache_and_attention<C: PassDemand>(&self, demand: &C) -> (MovedTokens, f64) {
        // An engine that would rather not read a cached state can compute the prompt again.
        let resumed = if self.cut == OperatorCut::Ideal { 0.0 } else { demand.resumed() };
        let states = 2.0 * demand.decoding() + demand.prompts() + resumed;
        let mut cache = MovedTokens { own: self.state * states, shared: 0.0 };
        let mut attention = 0.0;
        for of in &self.reaches {
            let moved = match self.cut {
                OperatorCut::Ideal => demand.moved(&of.reach),
                OperatorCut::Real => {
                    let own = demand.seen(&of.reach) + demand.filled(&of.reach);
                    MovedTokens { own, shared: 0.0 }
                }
            };
            cache = cache.and(of.cached, moved);
            attention += match self.cut {
                OperatorCut::Ideal if of.shared < of.decode => {
                    let pairs = demand.decode_pairs_parted(&of.reach);
                    of.decode * pairs.own + of.shared * pairs.shared
                }
                _ => of.decode * demand.decode_pairs(&of.reach),
            };
            let compared = demand.prompt_pairs(&of.reach);
            let read = of.prefill * compared;
            attention += if of.expansion > 0.0 {
                // Latents that were cached are expanded once more, unless attending to them as they are takes less.
                (of.expansion * demand.cached(&of.reach) + read).min(of.decode * compared)
            } else {
                read
            };
            if of.last > 0.0 {
                attention += of.last * demand.last_pairs(&of.reach);
            }
        }
        (cache, attention)
    }

    /// Many passes, `reads` of which read the weights; nothing of it is in the total.
    pub(crate) fn all<C: PassDemand>(&self, demand: &C, reads: f64) -> PassTime {
        let (cache, attention) = self.cache_and_attention(demand);
        PassTime {
            weights: Seconds::new(self.weights * reads),
            cache: Seconds::new(cache.all()),
            shared: Seconds::new(cache.shared),
            matrices: Seconds::new(self.matrices(demand)),
            attention: Seconds::new(attention),
            ..PassTime::default()
        }
    }

    /// One pass: all memory and all arithmetic overlap.
    pub(crate) fn time<C: PassDemand>(&self, demand: &C) -> PassTime {
        let matrices = self.matrices(demand);
        let (cache, attention) = self.cache_and_attention(demand);
        let mut time = PassTime {
            weights: Seconds::new(self.weights),
            cache: Seconds::new(cache.all()),
            shared: Seconds::new(cache.shared),
            matrices: Seconds::new(matrices),
            attention: Seconds::new(attention),
            ..PassTime::default()
        };
        let (memory, arithmetic) = (self.weights + cache.all(), matrices + attention);
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

/// Operators as engines cut them, summed up by the share of the sequences that a device works on.
#[derive(Debug, Clone)]
pub(crate) struct OperatorShares {
    each: Vec<(f64, Totals)>,
    experts: Vec<ExpertShares>,
}

/// Experts: what depends on the tokens otherwise than in proportion.
#[derive(Debug, Clone)]
struct ExpertShares {
    share: f64,
    /// Reading one, where tokens pick each for themselves.
    each: f64,
    coverage: Coverage,
    /// Arithmetic of a token, on average over the groups of devices.
    token: f64,
    groups: f64,
    per_token: f64,
}

impl OperatorShares {
    pub(crate) fn new(operators: &[Timed], reaches: &ModelReaches) -> Self {
        let mut shares: Vec<f64> = Vec::new();
        let mut experts = Vec::new();
        for Timed { operator: of, coverage, byte, flop, .. } in operators {
            if !shares.contains(&of.share) {
                shares.push(of.share);
            }
            if let (Some(routed), Some(coverage)) = (of.experts, coverage) {
                let is_fixed = matches!(coverage, Coverage::Fixed(_));
                experts.push(ExpertShares {
                    share: of.share,
                    each: if is_fixed { 0.0 } else { routed.each * byte },
                    coverage: coverage.clone(),
                    token: of.per_token * flop,
                    groups: routed.groups,
                    per_token: routed.per_token,
                });
            }
        }
        let alike =
            |share: f64| operators.iter().filter(move |timed| timed.operator.share == share);
        let totals = |share: f64| (share, Totals::new(alike(share), reaches, OperatorCut::Real));
        Self { each: shares.into_iter().map(totals).collect(), experts }
    }

    /// The parts of one pass on the busiest device, activations apart; of the total, memory and arithmetic overlap.
    pub(crate) fn time<C: PassDemand>(&self, demand: &C) -> PassTime {
        let mut sum = PassTime::default();
        for (share, totals) in &self.each {
            let part = totals.time(&DeviceTotals::new(demand, *share));
            sum.weights = sum.weights + part.weights;
            sum.cache = sum.cache + part.cache;
            sum.matrices = sum.matrices + part.matrices;
            sum.attention = sum.attention + part.attention;
        }
        for picked in &self.experts {
            let on_device = DeviceTotals::new(demand, picked.share);
            let tokens = on_device.decoded() + on_device.prompt_tokens();
            sum.weights = sum.weights + Seconds::new(picked.each * picked.coverage.of(tokens));
            let fuller = imbalance(picked.groups, tokens * picked.per_token) - 1.0;
            sum.matrices = sum.matrices + Seconds::new(picked.token * tokens * fuller);
        }
        sum.total = sum.memory().max(sum.arithmetic());
        sum
    }
}

/// What the busiest device has of a pass.
struct DeviceTotals<'a, C> {
    whole: &'a C,
    decoding: f64,
    prompts: f64,
}

impl<'a, C: PassDemand> DeviceTotals<'a, C> {
    fn new(whole: &'a C, share: f64) -> Self {
        let of = |whole: f64| busiest(share, whole);
        Self { whole, decoding: of(whole.decoding()), prompts: of(whole.prompts()) }
    }
}

impl<C: PassDemand> PassDemand for DeviceTotals<'_, C> {
    fn decoding(&self) -> f64 {
        self.whole.decoding() * self.decoding
    }

    fn decoded(&self) -> f64 {
        self.whole.decoded() * self.decoding
    }

    fn prompts(&self) -> f64 {
        self.whole.prompts() * self.prompts
    }

    fn prompt_tokens(&self) -> f64 {
        self.whole.prompt_tokens() * self.prompts
    }

    fn resumed(&self) -> f64 {
        self.whole.resumed() * self.prompts
    }

    fn seen(&self, reach: &LayerReach) -> f64 {
        self.whole.seen(reach) * self.decoding
    }

    fn decode_pairs(&self, reach: &LayerReach) -> f64 {
        self.whole.decode_pairs(reach) * self.decoding
    }

    fn filled(&self, reach: &LayerReach) -> f64 {
        self.whole.filled(reach) * self.prompts
    }

    fn prompt_pairs(&self, reach: &LayerReach) -> f64 {
        self.whole.prompt_pairs(reach) * self.prompts
    }

    fn last_pairs(&self, reach: &LayerReach) -> f64 {
        self.whole.last_pairs(reach) * self.prompts
    }

    fn cached(&self, reach: &LayerReach) -> f64 {
        self.whole.cached(reach) * self.prompts
    }
}
