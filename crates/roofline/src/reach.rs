//! How far back layers look and how much they keep, of which a model has few kinds.

use crate::Model;
use crate::model::{Attention, Latent, Mixer};
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
}

impl LayerReach {
    /// Of a layer that sees everything.
    pub(crate) const WHOLE: Self =
        Self { index: 0, seen: f64::INFINITY, kept: f64::INFINITY, chunked: false };

    pub(crate) fn of_attention(attention: &Attention) -> Self {
        let window = attention.window.map_or(f64::INFINITY, |window| window as f64);
        Self { index: 0, seen: window, kept: window, chunked: attention.chunked }
    }

    pub(crate) fn of_latent(latent: &Latent) -> Self {
        let top_k = latent.indexer.as_ref().map(|indexer| indexer.top_k as f64);
        Self { seen: top_k.unwrap_or(f64::INFINITY), ..Self::WHOLE }
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
        let is_choice = self.seen < self.kept;
        let own =
            own.mean_capped(if is_choice { (self.seen - shared).max(0.0) } else { self.seen });
        MovedTokens { own, shared: (all - own).max(0.0) }
    }

    /// What a prompt of `input` tokens reads and writes at the least, of which `cached` are in the cache and `shared` of
    /// those others' as well. Windows may make it cheaper to write all than to read what is there.
    pub(crate) fn filled_least(&self, input: f64, cached: f64, shared: f64) -> MovedTokens {
        let read = if cached > 0.0 {
            self.parted(ContextSpan::at(cached), shared.min(cached))
        } else {
            MovedTokens::default()
        };
        let anew = self.mean_kept(ContextSpan::at(input.max(1.0)));
        let own = read.own + (input - cached).min(anew);
        MovedTokens { own: own.min(anew), shared: read.shared.min((anew - own).max(0.0)) }
    }

    const fn is_like(&self, other: &Self) -> bool {
        self.seen == other.seen && self.kept == other.kept && self.chunked == other.chunked
    }

    /// The tokens that a position attends to, on average over these contexts.
    pub(crate) fn mean_seen(&self, contexts: ContextSpan) -> f64 {
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
                Mixer::Latent(latent) => all.add(LayerReach::of_latent(latent)),
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
