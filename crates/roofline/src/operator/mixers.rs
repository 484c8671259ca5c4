//! What mixes tokens: attention of each kind, linear attention, state-space layers.

use super::{
    ACTIVATION, Operator, OperatorBuilder, OperatorCut, OperatorElements, OperatorKind,
    OperatorWidths, Pairs,
};
use crate::Format;
use crate::model::{Attention, AttentionKeys, DeltaNet, Latent, Layers, Mamba2, Mixer};
use crate::reach::LayerReach;

impl OperatorBuilder<'_> {
    pub(super) fn mixer(&self, layers: &Layers, all: &mut Vec<Operator>) {
        match &layers.mixer {
            Mixer::Attention(attention) => self.softmax(attention, layers, all),
            Mixer::Latent(latent) => self.latent(latent, layers, all),
            Mixer::DeltaNet(layer) => all.push(self.delta_net(layer, layers)),
            Mixer::Mamba2(layer) => all.push(self.mamba(layer, layers)),
            Mixer::None => {}
        }
    }

    fn softmax(&self, layer: &Attention, layers: &Layers, all: &mut Vec<Operator>) {
        let (hidden, count) = (self.model.hidden, layers.count as f64);
        let kv = match layer.keys {
            AttentionKeys::Own => layer.kv_heads * (layer.key_dim + layer.value_dim),
            AttentionKeys::AreValues => layer.kv_heads * layer.key_dim,
            AttentionKeys::Shared => 0,
        };
        let parts = OperatorElements {
            cut: layer.matrix_elements(hidden).saturating_sub(hidden * kv),
            heads: (hidden * kv, layer.kv_heads),
            ..OperatorElements::default()
        };
        let query = layer.heads * layer.key_dim * layer.query_parts;
        let widths =
            OperatorWidths { whole: 2 * hidden, cut: query + kv + layer.heads * layer.value_dim };
        let written = (hidden * kv) as f64 / layer.matrix_elements(hidden).max(1) as f64;
        let projections =
            self.matrices(OperatorKind::Projections, layer.format, parts, widths, count);
        all.push(self.ended(projections, layers, written));

        let format = self.model.kv_cache();
        let flops = layer.flops_per_pair() as f64 * count / self.ways();
        let kept = self.cut.attention_bytes(layer, format) * count;
        let attention = Operator {
            per_pair: Pairs::alike(flops),
            cached: kept * self.heads_share(layer.kv_heads),
            reach: self.reaches.place(LayerReach::of_attention(layer)),
            ..self.attending(
                format,
                layer.format,
                layer.heads * (layer.key_dim + layer.value_dim),
                count,
            )
        };
        all.push(self.ended(attention, layers, 0.0));
    }

    fn latent(&self, layer: &Latent, layers: &Layers, all: &mut Vec<Operator>) {
        let (hidden, count) = (self.model.hidden, layers.count as f64);
        // The projections down to the latents are whole on each rank, those up from them are cut by heads.
        let down = layer.query_rank.unwrap_or(0) + layer.cache_elements();
        let parts = OperatorElements {
            cut: layer.matrix_elements(hidden).saturating_sub(hidden * down),
            whole: hidden * down,
            ..OperatorElements::default()
        };
        let query = layer.heads * (layer.nope_dim + layer.rope_dim);
        let whole = 2 * hidden + down + layer.query_rank.unwrap_or(0) + layer.kv_rank;
        let widths = OperatorWidths { whole, cut: query + 2 * layer.heads * layer.value_dim };
        let latents = (hidden * layer.cache_elements()) as f64;
        let written = latents / layer.matrix_elements(hidden).max(1) as f64;
        let projections =
            self.matrices(OperatorKind::Projections, layer.format, parts, widths, count);
        all.push(self.ended(projections, layers, written));

        let format = self.model.kv_cache();
        let kept = self.cut.latent_bytes(layer, format).0 * count;
        let expansion = match self.cut {
            OperatorCut::Ideal => 0.0,
            OperatorCut::Real => 2.0 * layer.expansion_elements() as f64 * count / self.ways(),
        };
        let attention = Operator {
            expansion,
            expanded_in: layer.format,
            per_pair: Pairs {
                prefill: layer.flops_per_pair_expanded() as f64 * count / self.ways(),
                last: 0.0,
                decode: layer.flops_per_pair_absorbed() as f64 * count / self.ways(),
            },
            // One latent for all heads: no rank does without it.
            cached: kept * self.heads_share(1),
            reach: self.reaches.place(LayerReach::of_latent(layer)),
            ..self.attending(format, layer.format, query + layer.heads * layer.value_dim, count)
        };
        all.push(self.ended(attention, layers, 0.0));
        all.extend(self.indexer(layer, layers));
    }

    /// Engines keep the indexer whole on each rank.
    fn indexer(&self, latent: &Latent, layers: &Layers) -> Option<Operator> {
        let indexer = latent.indexer.as_ref().filter(|indexer| !indexer.is_shared())?;
        let hidden = self.model.hidden;
        let count = layers.count as f64;
        // For a bound the keys alone: the rest is needed only where more tokens are in the cache than may be chosen.
        let whole = match self.cut {
            OperatorCut::Ideal => hidden * indexer.dim,
            OperatorCut::Real => indexer.matrix_elements(hidden, latent.query_rank),
        };
        let reach = match self.cut {
            OperatorCut::Ideal => self.reaches.place(LayerReach::of_choice(indexer)),
            OperatorCut::Real => LayerReach::WHOLE,
        };
        let from = latent.query_rank.unwrap_or(hidden);
        let widths = OperatorWidths {
            whole: from + hidden + indexer.heads * indexer.dim + indexer.dim + indexer.heads,
            cut: 0,
        };
        let parts = OperatorElements { whole, ..OperatorElements::default() };
        let ways = match self.cut {
            OperatorCut::Ideal => self.stage(),
            OperatorCut::Real => 1.0,
        };
        let flops = indexer.flops_per_pair() as f64 * count / ways;
        let format = self.model.kv_cache();
        let kept = self.cut.latent_bytes(latent, format).1 * count;
        let operator = Operator {
            per_pair: Pairs::alike(flops),
            cached: kept * self.heads_share(1),
            reach,
            ..self.matrices(OperatorKind::Indexer, latent.format, parts, widths, count)
        };
        Some(self.ended(operator, layers, 1.0))
    }

    /// Attention itself: `width` elements of queries and results for each token, cut by heads.
    fn attending(&self, cache: Format, projections: Format, width: u64, count: f64) -> Operator {
        let activations = match self.cut {
            OperatorCut::Ideal => 0.0,
            OperatorCut::Real => ACTIVATION * width as f64 / self.tensor() * count,
        };
        let format = self.attention_math(cache, projections);
        Operator {
            activations,
            share: self.share(),
            ..Operator::new(OperatorKind::Attention, format)
        }
    }

    /// What attention multiplies: what the cache holds; for the bound whatever its operands, or the projections', fit into.
    fn attention_math(&self, cache: Format, projections: Format) -> Format {
        match self.cut {
            OperatorCut::Ideal => cache.attended_beside(projections),
            OperatorCut::Real => cache.attended(),
        }
    }

    fn delta_net(&self, layer: &DeltaNet, layers: &Layers) -> Operator {
        let (hidden, count) = (self.model.hidden, layers.count as f64);
        let (keys, values) = (layer.key_heads * layer.key_dim, layer.value_heads * layer.value_dim);
        let widths = OperatorWidths { whole: 2 * hidden, cut: 2 * keys + 3 * values };
        let parts =
            OperatorElements { cut: layer.matrix_elements(hidden), ..OperatorElements::default() };
        let matrices = self.matrices(OperatorKind::Recurrent, layer.format, parts, widths, count);
        let (state, convolution) = (layer.state_elements(), layer.convolution_elements());
        let operator = self.with_state(matrices, state, convolution, count);
        // Keys, values and the update's strength; no queries, and nothing of the output.
        let written = hidden * (keys + values + layer.value_heads);
        let written = written_share(written, layer.matrix_elements(hidden), state);
        self.ended(operator, layers, written)
    }

    fn mamba(&self, layer: &Mamba2, layers: &Layers) -> Operator {
        let (hidden, count) = (self.model.hidden, layers.count as f64);
        let inner = layer.heads * layer.head_dim;
        let cut = 3 * inner + 2 * layer.groups * layer.state + layer.heads;
        let parts =
            OperatorElements { cut: layer.matrix_elements(hidden), ..OperatorElements::default() };
        let widths = OperatorWidths { whole: 2 * hidden, cut };
        let matrices = self.matrices(OperatorKind::Recurrent, layer.format, parts, widths, count);
        let (state, convolution) = (layer.state_elements(), layer.convolution_elements());
        let operator = self.with_state(matrices, state, convolution, count);
        // What is put in, where, and by how much; neither what reads it out nor the output.
        let written = hidden * (inner + layer.groups * layer.state + layer.heads);
        let written = written_share(written, layer.matrix_elements(hidden), state);
        self.ended(operator, layers, written)
    }

    /// Arithmetic for each element of the state and token: it is updated and queried, two each (the bound); with decay
    /// and, in the delta rule, the correction, 6 in all.
    fn with_state(&self, matrices: Operator, state: u64, convolution: u64, count: f64) -> Operator {
        let each = match self.cut {
            OperatorCut::Ideal => 4.0,
            OperatorCut::Real => 6.0,
        };
        let bytes = self.cut.state_bytes(self.model, state, convolution);
        Operator {
            per_token: matrices.per_token + each * state as f64 * count / self.ways(),
            state: bytes * count / self.ways(),
            ..matrices
        }
    }
}

/// Of a token's arithmetic in a layer with a state, the share that the state needs for a bound: matrices of `written` elements of
/// `all`, and of the four for each element of the state the two that update it.
fn written_share(written: u64, all: u64, state: u64) -> f64 {
    let state = 2.0 * state as f64;
    (2.0 * written as f64 + state) / (2.0 * all as f64 + 2.0 * state).max(1.0)
}
