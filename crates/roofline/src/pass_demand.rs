//! What a pass carries, in the sums that cost time.

use crate::context_spread::ContextSpread;
use crate::pass::Pass;
use crate::reach::{LayerReach, MovedTokens};
use crate::span::ContextSpan;

/// What a pass (or many) carries. Decoding and prompts are apart, because devices share them differently; each sum
/// is linear in its number of sequences.
pub(crate) trait PassDemand {
    /// Sequences that decode.
    fn decoding(&self) -> f64;
    /// Tokens that they bring.
    fn decoded(&self) -> f64;
    /// Prompts that are read in.
    fn prompts(&self) -> f64;
    /// Tokens of them that are computed.
    fn prompt_tokens(&self) -> f64;
    /// Prompts that go on from tokens cached before, and so start from a state.
    fn resumed(&self) -> f64;
    /// Tokens of cache that decoding reads and writes.
    fn seen(&self, reach: &LayerReach) -> f64;
    /// Pairs of positions that decoding compares.
    fn decode_pairs(&self, reach: &LayerReach) -> f64;
    /// Tokens of cache that prompts read and write.
    fn filled(&self, reach: &LayerReach) -> f64;
    /// Pairs of positions that prompts compare.
    fn prompt_pairs(&self, reach: &LayerReach) -> f64;
    /// Those of each prompt's last position.
    fn last_pairs(&self, reach: &LayerReach) -> f64;
    /// Tokens of prompts that are cached, and that others of theirs attend to.
    fn cached(&self, reach: &LayerReach) -> f64;

    /// Pairs that decoding compares, those apart of which the earlier token is one that all sequences begin with: for a bound.
    fn decode_pairs_parted(&self, reach: &LayerReach) -> MovedTokens {
        MovedTokens { own: self.decode_pairs(reach), shared: 0.0 }
    }

    /// What of the cache must be moved at the least, with a prefix that sequences share read once: for a bound.
    fn moved(&self, reach: &LayerReach) -> MovedTokens {
        MovedTokens { own: self.seen(reach) + self.filled(reach), shared: 0.0 }
    }
}

impl Pass {
    /// What a sequence that decodes sees, its own and what others begin with as well.
    fn seen_parted(&self, reach: &LayerReach) -> MovedTokens {
        let known = self.shared.min(self.contexts.from - 1.0).max(0.0);
        reach.parted(self.contexts, known)
    }
}

impl PassDemand for Pass {
    fn decoding(&self) -> f64 {
        self.decoding
    }

    fn decoded(&self) -> f64 {
        self.decoding * self.tokens_each
    }

    fn prompts(&self) -> f64 {
        self.prompts
    }

    fn prompt_tokens(&self) -> f64 {
        if self.prompts > 0.0 { self.prompts * self.positions.count() } else { 0.0 }
    }

    fn resumed(&self) -> f64 {
        if self.positions.from > 1.0 { self.prompts } else { 0.0 }
    }

    fn seen(&self, reach: &LayerReach) -> f64 {
        if self.decoding > 0.0 { self.decoding * reach.mean_seen(self.contexts) } else { 0.0 }
    }

    fn decode_pairs(&self, reach: &LayerReach) -> f64 {
        self.seen(reach) * self.tokens_each
    }

    fn filled(&self, reach: &LayerReach) -> f64 {
        if self.prompts <= 0.0 {
            return 0.0;
        }
        let cached = (self.positions.from - 1.0).max(0.0);
        self.prompts * reach.filled(cached, self.positions.count())
    }

    fn prompt_pairs(&self, reach: &LayerReach) -> f64 {
        if self.prompts <= 0.0 {
            return 0.0;
        }
        self.prompts * self.positions.count() * reach.mean_seen(self.positions)
    }

    fn last_pairs(&self, reach: &LayerReach) -> f64 {
        if self.prompts <= 0.0 {
            return 0.0;
        }
        self.prompts * reach.mean_seen(ContextSpan::at(self.positions.to))
    }

    fn cached(&self, reach: &LayerReach) -> f64 {
        let cached = (self.positions.from - 1.0).max(0.0);
        self.prompts * cached.min(reach.kept)
    }

    fn decode_pairs_parted(&self, reach: &LayerReach) -> MovedTokens {
        if self.decoding <= 0.0 {
            return MovedTokens::default();
        }
        let seen = self.seen_parted(reach);
        MovedTokens::default().and(self.decoding * self.tokens_each, seen)
    }

    fn moved(&self, reach: &LayerReach) -> MovedTokens {
        let (mut own, mut shared) = (0.0, 0.0_f64);
        if self.decoding > 0.0 {
            let seen = self.seen_parted(reach);
            own += self.decoding * seen.own;
            shared = seen.shared * self.decoding.min(1.0);
        }
        if self.prompts > 0.0 {
            let cached = (self.positions.from - 1.0).max(0.0);
            let filled = reach.filled_least(self.positions.to, cached, self.shared);
            own += self.prompts * filled.own;
            shared = shared.max(filled.shared * self.prompts.min(1.0));
        }
        MovedTokens { own, shared }
    }
}

/// A batch of which only sums are known, as an engine adds them up: contexts within windows and chunks are then taken
/// as long as the sums allow, so that no time comes out too short; or, with a [`PassSums::spread`], so that none comes out too long.
///
/// ```
/// use fizeau_roofline::{Deployment, Device, KnownModel, Pass, PassSums, ContextSpan, System};
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// // Two sequences of 1,000 and 3,000 tokens.
/// let sums = PassSums { decoding: 2.0, context: 4000.0, ..PassSums::default() };
/// let alike = Pass::decode(2.0, ContextSpan::at(2000.0));
/// assert_eq!(system.bound_sums(&sums), system.bound_pass(&alike));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PassSums {
    /// Sequences that decode one token each, or verify a draft.
    pub decoding: f64,
    /// Tokens of drafts that they verify, beyond the one that each decodes. Each sequence's tokens see all of its context,
    /// which is read once for them.
    pub drafted: f64,
    /// Tokens that are computed besides for nothing, up to a batch size for which an engine has a graph: matrices and LM head,
    /// but no cache.
    pub padding: f64,
    /// Their contexts, in tokens, those of this pass included.
    pub context: f64,
    /// Prompts, or chunks of them, that are read in.
    pub prompts: f64,
    /// Their tokens.
    pub prompt_tokens: f64,
    /// Their contexts at the end of the chunk, in tokens.
    pub prompt_context: f64,
    /// Pairs of a prompt's token and one that it attends to, itself included.
    pub prompt_pairs: f64,
    /// How far contexts may differ, for whoever needs the least time: windows then see the least that sums and spread allow, and
    /// several prompts attend within them as if nothing had been cached. None takes all contexts to be alike, which takes longest.
    pub spread: Option<ContextSpread>,
}

impl PassSums {
    /// The spread, where it matters to a layer.
    fn spread_within(&self, reach: &LayerReach) -> Option<ContextSpread> {
        self.spread.filter(|_| reach.seen.is_finite())
    }

    /// Of contexts, which come to `sum`, the tokens that are looked at beyond a floor: all are alike, or else there are no fewer than
    /// those above it.
    fn beyond(&self, reach: &LayerReach, sum: f64, contexts: f64) -> f64 {
        match self.spread {
            Some(_) => (sum - contexts * reach.floor).max(0.0),
            None if sum > contexts * reach.floor => sum,
            None => 0.0,
        }
    }

    /// A pass with the same numbers of sequences and tokens, for what depends on nothing else.
    pub(crate) fn as_pass(&self) -> Pass {
        let each = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
        let context = each(self.context, self.decoding);
        let end = each(self.prompt_context, self.prompts);
        let start = end - each(self.prompt_tokens, self.prompts) + 1.0;
        Pass {
            tokens_each: if self.decoding > 0.0 { self.decoded() / self.decoding } else { 1.0 },
            prompts: self.prompts,
            positions: ContextSpan::between(start, end),
            ..Pass::decode(self.decoding, ContextSpan::at(context))
        }
    }
}

impl PassDemand for PassSums {
    fn decoding(&self) -> f64 {
        self.decoding
    }

    fn decoded(&self) -> f64 {
        self.decoding + self.drafted + self.padding
    }

    fn prompts(&self) -> f64 {
        self.prompts
    }

    fn prompt_tokens(&self) -> f64 {
        self.prompt_tokens
    }

    fn resumed(&self) -> f64 {
        if self.prompt_context > self.prompt_tokens { self.prompts } else { 0.0 }
    }

    fn seen(&self, reach: &LayerReach) -> f64 {
        if self.decoding <= 0.0 {
            return 0.0;
        }
        if reach.floor > 0.0 {
            return self.beyond(reach, self.context, self.decoding);
        }
        self.spread_within(reach).map_or_else(
            || self.context.min(self.decoding * reach.seen),
            |spread| self.decoding * spread.least_seen(reach, self.context / self.decoding),
        )
    }

    fn decode_pairs(&self, reach: &LayerReach) -> f64 {
        let each = if self.drafted > 0.0 { 1.0 + self.drafted / self.decoding } else { 1.0 };
        if self.decoding > 0.0 { self.seen(reach) * each } else { 0.0 }
    }

    fn filled(&self, reach: &LayerReach) -> f64 {
        if self.prompts <= 0.0 {
            return 0.0;
        }
        let cached = (self.prompt_context - self.prompt_tokens).max(0.0);
        if reach.floor > 0.0 {
            let looks = self.prompt_context > self.prompts * reach.floor;
            let is_known = self.spread.is_none() || self.prompts == 1.0;
            return self.prompt_tokens + if looks && is_known { cached } else { 0.0 };
        }
        match self.spread_within(reach) {
            Some(_) if self.prompts == 1.0 => {
                reach.filled_least(self.prompt_context, cached, 0.0).all()
            }
            Some(spread) => {
                let [end, computed] =
                    [self.prompt_context, self.prompt_tokens].map(|sum| sum / self.prompts);
                self.prompts * spread.least_filled(reach, end, computed)
            }
            None => {
                let written = self.prompt_tokens.min(self.prompts * reach.kept);
                cached.min(self.prompts * reach.seen) + written
            }
        }
    }

    fn prompt_pairs(&self, reach: &LayerReach) -> f64 {
        if self.prompt_tokens <= 0.0 {
            return 0.0;
        }
        if reach.floor > 0.0 && self.prompts > 0.0 {
            return match self.spread {
                Some(_) if self.prompts != 1.0 => {
                    self.prompts * reach.fewest_pairs(self.prompt_tokens / self.prompts)
                }
                _ => self.as_pass().prompt_pairs(reach),
            };
        }
        match self.spread_within(reach) {
            Some(_) if self.prompts == 1.0 => self.as_pass().prompt_pairs(reach),
            Some(_) if self.prompts > 0.0 => {
                self.prompts * reach.fewest_pairs(self.prompt_tokens / self.prompts)
            }
            _ => self.prompt_pairs.min(self.prompt_tokens * reach.seen),
        }
    }

    fn last_pairs(&self, reach: &LayerReach) -> f64 {
        if self.prompts <= 0.0 || self.prompt_tokens <= 0.0 {
            return 0.0;
        }
        if reach.floor > 0.0 {
            return self.beyond(reach, self.prompt_context, self.prompts);
        }
        match self.spread_within(reach) {
            Some(_) if self.prompts == 1.0 => self.as_pass().last_pairs(reach),
            Some(spread) => {
                // The variance is of those that decode.
                let spread = ContextSpread { variance: None, ..spread };
                self.prompts * spread.least_seen(reach, self.prompt_context / self.prompts)
            }
            None => self.prompt_context.min(self.prompts * reach.seen),
        }
    }

    fn cached(&self, reach: &LayerReach) -> f64 {
        (self.prompt_context - self.prompt_tokens).clamp(0.0, self.prompts.max(1.0) * reach.kept)
    }

    fn moved(&self, reach: &LayerReach) -> MovedTokens {
        let anew = self.prompt_context.min(self.prompts * reach.kept);
        let filled = if self.prompts > 0.0 { self.filled(reach).min(anew) } else { 0.0 };
        MovedTokens { own: self.seen(reach) + filled, shared: 0.0 }
    }
}
