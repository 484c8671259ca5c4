//! How far back layers look and how much they keep, of which a model has few kinds.

use crate::Model;
use crate::model::{Attention, Indexer, Latent, Mixer};
use crate::span::ContextSpan;

/// What a layer reads and keeps of a sequence, in tokens. Layers with the same reach are computed together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LayerReach {
    /// Its place among the model's reaches.
    pub(crate) index: usize,
    /// How many tokens back a position attends, itself included: a window, or the indexer's choice. Infinite: all.
    pub(crate) seen: f64,
    /// How many tokens stay in the cache: a window, not an indexer's choice, which may fall on any. Infinite: all.
    pub(crate) kept: f64,
    /// Whether both start anew at each multiple of it, as in layers that attend in chunks.
    pub(crate) chunked: bool,
    /// Up to so many tokens a position looks at none: of those that an indexer chooses among there is no choice. 0: it always looks.
    pub(crate) floor: f64,
}

impl LayerReach {
    /// Of a layer that sees everything.
    pub(crate) const WHOLE: Self =
        Self { index: 0, seen: f64::INFINITY, kept: f64::INFINITY, chunked: false, floor: 0.0 };

    pub(crate) fn of_attention(attention: &Attention) -> Self {
        let window = attention.window.map_or(f64::INFINITY, |window| window as f64);
        Self { seen: window, kept: window, chunked: attention.chunked, ..Self::WHOLE }
    }

    pub(crate) fn of_latent(latent: &Latent) -> Self {
        let top_k = latent.indexer.as_ref().map(|indexer| indexer.top_k as f64);
        Self { seen: top_k.unwrap_or(f64::INFINITY), ..Self::WHOLE }
    }

    /// Of an indexer that scores nothing where all would be chosen (SGLang caches its keys and skips the rest then: its pull request
    /// 11892), for a bound.
    pub(crate) fn of_choice(indexer: &Indexer) -> Self {
        Self { floor: indexer.top_k as f64, ..Self::WHOLE }
    }

    /// Of what a sequence sees, on average over `contexts`, all and the least that is its own where the first `shared`
    /// tokens are others' as well. An indexer may choose among those first of all.
    pub(crate) fn parted(&self, contexts: ContextSpan, shared: f64) -> MovedTokens {
        let all = self.mean_seen(contexts);
        if self.chunked {
            // Of what is seen, at least what the shared tokens cannot be.
            let own = (all - shared).max(0.0);
            return MovedTokens { own, shared: all - own };
        }
        let own = ContextSpan::between(contexts.from - shared, contexts.to - shared);
        if self.floor > 0.0 {
            let known = shared * self.looking(contexts);
            return MovedTokens { own: (all - known).max(0.0), shared: known.min(all) };
        }
        let is_choice = self.seen < self.kept;
        let own =
            own.mean_capped(if is_choice { (self.seen - shared).max(0.0) } else { self.seen });
        MovedTokens { own, shared: (all - own).max(0.0) }
    }

    /// What a prompt of `input` tokens reads and writes at the least, of which `cached` are in the cache and `shared` of
    /// those others' as well. Windows may make it cheaper to write all than to read what is there.
    pub(crate) fn filled_least(&self, input: f64, cached: f64, shared: f64) -> MovedTokens {
        if self.floor > 0.0 {
            // All keys are written, and those that are there are read where any position looks.
            let read = if input > self.floor { cached } else { 0.0 };
            let shared = shared.min(read);
            return MovedTokens { own: input - cached + read - shared, shared };
        }
        let read = if cached > 0.0 {
            self.parted(ContextSpan::at(cached), shared.min(cached))
        } else {
            MovedTokens::default()
        };
        let anew = self.mean_kept(ContextSpan::at(input.max(1.0)));
        let own = read.own + (input - cached).min(anew);
        MovedTokens { own: own.min(anew), shared: read.shared.min((anew - own).max(0.0)) }
    }

    fn is_like(&self, other: &Self) -> bool {
        *self == Self { index: self.index, ..*other }
    }

    /// Of these contexts, the share beyond the floor.
    fn looking(&self, contexts: ContextSpan) -> f64 {
        ((contexts.to - self.floor) / contexts.count()).clamp(0.0, 1.0)
    }

    /// The tokens that a position attends to, on average over these contexts.
    pub(crate) fn mean_seen(&self, contexts: ContextSpan) -> f64 {
        if self.floor > 0.0 {
            let beyond = ContextSpan::between(contexts.from.max(self.floor + 1.0), contexts.to);
            return self.looking(contexts) * beyond.mean();
        }
        self.mean_within(contexts, self.seen)
    }

    /// The tokens in the cache, on average over these contexts.
    pub(crate) fn mean_kept(&self, contexts: ContextSpan) -> f64 {
        self.mean_within(contexts, self.kept)
    }

    fn mean_within(&self, contexts: ContextSpan, cap: f64) -> f64 {
        if self.chunked && cap.is_finite() {
            contexts.mean_in_chunks(cap)
        } else {
            contexts.mean_capped(cap)
        }
    }

    /// No more pairs than a prompt of so many tokens compares, whatever was cached before it. It is convex, so that prompts with this
    /// mean compare no fewer on average: in chunks, which begin anew, a straight line from half a chunk on, touched in the middle of each.
    pub(crate) fn fewest_pairs(&self, tokens: f64) -> f64 {
        if self.floor > 0.0 {
            let pairs = |tokens: f64| tokens * (tokens + 1.0) / 2.0;
            return pairs(tokens) - pairs(tokens.min(self.floor));
        }
        let (bend, each) = if self.chunked {
            (self.seen / 2.0, (self.seen + 1.0) / 2.0)
        } else {
            (self.seen, self.seen)
        };
        let curved = tokens.min(bend);
        let pairs = curved * (curved + 1.0) / 2.0;
        if tokens > bend { (tokens - bend).mul_add(each, pairs) } else { pairs }
    }

    /// What a prompt reads and writes of the cache, of whose tokens the first `cached` are in it already: within
    /// windows only what a later token looks back to.
    pub(crate) fn filled(&self, cached: f64, computed: f64) -> f64 {
        if !self.chunked {
            return cached.min(self.seen) + computed.min(self.kept);
        }
        let last = self.mean_kept(ContextSpan::at((cached + computed).max(1.0)));
        cached % self.seen + computed.min(last)
    }
}

/// Tokens of cache that are read or written.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct MovedTokens {
    /// For each sequence.
    pub(crate) own: f64,
    /// Once for all that are in a pass, at best.
    pub(crate) shared: f64,
}

impl MovedTokens {
    pub(crate) const fn all(&self) -> f64 {
        self.own + self.shared
    }

    pub(crate) fn and(self, times: f64, more: Self) -> Self {
        Self { own: self.own + times * more.own, shared: self.shared + times * more.shared }
    }
}

/// The reaches of a model, each once; [`LayerReach::WHOLE`] is always the first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelReaches(Vec<LayerReach>);

impl Default for ModelReaches {
    /// Of a model that sees everything.
    fn default() -> Self {
        Self(vec![LayerReach::WHOLE])
    }
}

impl ModelReaches {
    pub(crate) fn of(model: &Model) -> Self {
        let mut all = Self::default();
        for layers in &model.layers {
            match &layers.mixer {
                Mixer::Attention(attention) => all.add(LayerReach::of_attention(attention)),
                Mixer::Latent(latent) => {
                    all.add(LayerReach::of_latent(latent));
                    latent.indexer.iter().for_each(|own| all.add(LayerReach::of_choice(own)));
                }
                Mixer::DeltaNet(_) | Mixer::Mamba2(_) | Mixer::None => {}
            }
        }
        all
    }

    fn add(&mut self, reach: LayerReach) {
        if !self.0.iter().any(|known| known.is_like(&reach)) {
            self.0.push(LayerReach { index: self.0.len(), ..reach });
        }
    }

    /// The same reach with its place; the whole where it is not among them.
    pub(crate) fn place(&self, reach: LayerReach) -> LayerReach {
        self.0.iter().find(|known| known.is_like(&reach)).copied().unwrap_or(LayerReach::WHOLE)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LayerReach> {
        self.0.iter()
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reach(seen: f64, kept: f64, chunked: bool) -> LayerReach {
        LayerReach { seen, kept, chunked, ..LayerReach::WHOLE }
    }

    const WINDOW: LayerReach = reach(4.0, 4.0, false);
    const CHUNKED: LayerReach = reach(4.0, 4.0, true);
    const CHOOSING: LayerReach = reach(5.0, f64::INFINITY, false);

    /// What ten tokens in the cache and three more move: all, what a window looks back to, or what is of the same chunk.
    #[test]
    fn a_prompt_moves_what_its_layers_see() {
        let moved = |of: LayerReach, cached| of.filled(cached, 3.0);
        assert_eq!([moved(LayerReach::WHOLE, 10.0), moved(WINDOW, 10.0)], [13.0, 7.0]);
        // Two of the third chunk are read, and one of the fourth is kept; none of the second, and three of the third.
        assert_eq!([moved(CHUNKED, 10.0), moved(CHUNKED, 8.0)], [3.0, 3.0]);
        assert_eq!(moved(CHOOSING, 10.0), 8.0);
    }

    /// Where four may be chosen, up to four are no choice.
    #[test]
    fn an_indexer_looks_at_nothing_where_all_are_chosen() {
        let indexer = LayerReach { floor: 4.0, ..LayerReach::WHOLE };
        let seen = |from, to| indexer.mean_seen(ContextSpan::between(from, to));
        assert_eq!([seen(1.0, 4.0), seen(3.0, 6.0), seen(5.0, 7.0)], [0.0, 11.0 / 4.0, 6.0]);
        let MovedTokens { own, shared } = indexer.parted(ContextSpan::between(3.0, 6.0), 2.0);
        assert_eq!([own, shared], [7.0 / 4.0, 1.0]);
        let sum = |to: f64| seen(1.0, to) * to;
        assert_eq!(
            [3.0, 6.0, 9.0].map(|tokens| indexer.fewest_pairs(tokens)),
            [3.0, 6.0, 9.0].map(sum)
        );
        let MovedTokens { own, shared } = indexer.filled_least(4.0, 3.0, 0.0);
        assert_eq!([own, shared], [1.0, 0.0]);
    }

    /// Of a context of ten tokens with the first `shared` alike: own and shared.
    #[test]
    fn what_is_shared_is_what_all_see() {
        let parts = |of: LayerReach, shared| {
            let MovedTokens { own, shared } = of.parted(ContextSpan::at(10.0), shared);
            [own, shared]
        };
        assert_eq!(parts(LayerReach::WHOLE, 4.0), [6.0, 4.0]);
        // A window of four sees the last four: two of them alike where eight are, none where three are.
        assert_eq!([parts(WINDOW, 8.0), parts(WINDOW, 3.0)], [[2.0, 2.0], [4.0, 0.0]]);
        // Of five that are chosen as many as can be among the shared ones.
        assert_eq!([parts(CHOOSING, 3.0), parts(CHOOSING, 8.0)], [[2.0, 3.0], [0.0, 5.0]]);
        // The tenth sees two of its chunk, of which one may be alike.
        assert_eq!([parts(CHUNKED, 1.0), parts(CHUNKED, 9.0)], [[1.0, 1.0], [0.0, 2.0]]);
    }

    /// Prompts of ten tokens: at the least what is read and written, or all that stays.
    #[test]
    fn the_least_that_a_prompt_moves() {
        let moved = |of: LayerReach, cached, shared| {
            let MovedTokens { own, shared } = of.filled_least(10.0, cached, shared);
            [own, shared]
        };
        assert_eq!(moved(LayerReach::WHOLE, 0.0, 0.0), [10.0, 0.0]);
        assert_eq!(moved(LayerReach::WHOLE, 6.0, 4.0), [6.0, 4.0]);
        // More cannot be alike than is cached.
        assert_eq!(moved(LayerReach::WHOLE, 6.0, 9.0), [4.0, 6.0]);
        assert_eq!([moved(WINDOW, 0.0, 0.0), moved(WINDOW, 9.0, 0.0)], [[4.0, 0.0]; 2]);
        // Three are read and one is written, all of them alike but that.
        assert_eq!(moved(WINDOW, 9.0, 9.0), [1.0, 3.0]);
    }
}
