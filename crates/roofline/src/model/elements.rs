//! How much a layer stores, multiplies and remembers: the formulas.

use super::{Attention, AttentionKeys, DeltaNet, Dense, Experts, Indexer, Latent, Mamba2};

impl Attention {
    /// Elements of its matrices in a model of hidden size `hidden`.
    pub(crate) const fn matrix_elements(&self, hidden: u64) -> u64 {
        let projected = match self.keys {
            AttentionKeys::Own => self.kv_heads * (self.key_dim + self.value_dim),
            AttentionKeys::AreValues => self.kv_heads * self.key_dim,
            AttentionKeys::Shared => 0,
        };
        let wide = self.heads * self.key_dim * self.query_parts;
        let query = match self.query_rank {
            Some(rank) => hidden * rank + rank * wide,
            None => hidden * wide,
        };
        query + hidden * projected + self.heads * self.value_dim * hidden
    }

    /// Elements that engines keep of a token, and that a step reads for each token that it sees: keys and values, even where one
    /// projection makes both.
    pub(crate) const fn cache_elements(&self) -> u64 {
        self.kv_heads * (self.key_dim + self.value_dim)
    }

    /// The fewest of them that would do. Of keys and values that one projection makes its output is enough: norms and rotation can
    /// be done again in each step.
    pub(crate) const fn least_cache_elements(&self) -> u64 {
        match self.keys {
            AttentionKeys::Own | AttentionKeys::Shared => self.cache_elements(),
            AttentionKeys::AreValues => self.kv_heads * self.key_dim,
        }
    }

    /// Arithmetic for one query position and one key position: `2 H (d_k + d_v)`.
    pub(crate) const fn flops_per_pair(&self) -> u64 {
        2 * self.heads * (self.key_dim + self.value_dim)
    }
}

impl Latent {
    /// Elements of its matrices, the indexer's apart.
    pub(crate) const fn matrix_elements(&self, hidden: u64) -> u64 {
        let (heads, rope) = (self.heads, self.rope_dim);
        let wide = heads * (self.nope_dim + rope);
        let query = match self.query_rank {
            Some(rank) => hidden * rank + rank * wide,
            None => hidden * wide,
        };
        let latent = hidden * (self.kv_rank + rope);
        let output = heads * self.value_dim * hidden;
        let gate = if self.output_gate { output } else { 0 };
        query + latent + self.expansion_elements() + output + gate
    }

    /// Elements of the matrices that make keys and values out of a latent, `kv_r H (n + v)`.
    pub(crate) const fn expansion_elements(&self) -> u64 {
        self.kv_rank * self.heads * (self.nope_dim + self.value_dim)
    }

    /// Elements of the latent, `kv_r + r`, one a token: keys and values are one.
    pub(crate) const fn cache_elements(&self) -> u64 {
        self.kv_rank + self.rope_dim
    }

    /// Arithmetic for one pair of positions with keys and values expanded, as in prefill: `2 H (n + r + v)`.
    pub(crate) const fn flops_per_pair_expanded(&self) -> u64 {
        2 * self.heads * (self.nope_dim + self.rope_dim + self.value_dim)
    }

    /// Arithmetic for one pair with the expansion absorbed into query and output, as in decode:
    /// `2 H (2 kv_r + r)`.
    pub(crate) const fn flops_per_pair_absorbed(&self) -> u64 {
        2 * self.heads * (2 * self.kv_rank + self.rope_dim)
    }
}

impl Indexer {
    /// Elements of its matrices: queries from the query's latent (or the hidden state), one key, head weights.
    pub(crate) const fn matrix_elements(&self, hidden: u64, query_rank: Option<u64>) -> u64 {
        let from = match query_rank {
            Some(rank) => rank,
            None => hidden,
        };
        from * self.heads * self.dim + hidden * self.dim + hidden * self.heads
    }

    /// Whether the choice is that of an earlier layer.
    pub(crate) const fn is_shared(&self) -> bool {
        self.heads == 0
    }

    /// Arithmetic for one pair of positions: `2 H_i d_i`.
    pub(crate) const fn flops_per_pair(&self) -> u64 {
        2 * self.heads * self.dim
    }
}

impl DeltaNet {
    const fn keys(&self) -> u64 {
        self.key_heads * self.key_dim
    }

    const fn values(&self) -> u64 {
        self.value_heads * self.value_dim
    }

    /// Elements of its matrices: queries, keys, values, output; the update's strength, a number a head; decay and
    /// output gate.
    pub(crate) const fn matrix_elements(&self, hidden: u64) -> u64 {
        let (values, heads) = (self.values(), self.value_heads);
        let gates = match self.gate_rank {
            Some(rank) => {
                let low = hidden * rank + rank * values;
                low + if self.full_output_gate { hidden * values } else { low }
            }
            None => hidden * (values + heads),
        };
        hidden * (2 * self.keys() + values) + values * hidden + hidden * heads + gates
    }

    /// Convolution taps, decay and step terms, output norm.
    pub(crate) const fn vector_elements(&self) -> u64 {
        let steps = match self.gate_rank {
            Some(_) => self.values(),
            None => self.value_heads,
        };
        self.convolution * (2 * self.keys() + self.values())
            + self.value_heads
            + steps
            + self.value_dim
    }

    /// Elements of a sequence's state, `n_v d_k d_v`.
    pub(crate) const fn state_elements(&self) -> u64 {
        self.value_heads * self.key_dim * self.value_dim
    }

    /// Elements that the short convolution remembers of a sequence.
    pub(crate) const fn convolution_elements(&self) -> u64 {
        (self.convolution - 1) * (2 * self.keys() + self.values())
    }
}

impl Mamba2 {
    const fn inner(&self) -> u64 {
        self.heads * self.head_dim
    }

    const fn channels(&self) -> u64 {
        self.inner() + 2 * self.groups * self.state
    }

    /// Elements of its matrices: the input projection and the output's.
    pub(crate) const fn matrix_elements(&self, hidden: u64) -> u64 {
        hidden * (self.inner() + self.channels() + self.heads) + self.inner() * hidden
    }

    /// Elements of a sequence's state.
    pub(crate) const fn state_elements(&self) -> u64 {
        self.inner() * self.state
    }

    /// Elements that the short convolution remembers of a sequence.
    pub(crate) const fn convolution_elements(&self) -> u64 {
        (self.convolution - 1) * self.channels()
    }
}

impl Dense {
    /// Elements of its matrices.
    pub(crate) const fn matrix_elements(&self, hidden: u64) -> u64 {
        self.matrices * hidden * self.width
    }
}

impl Experts {
    /// Elements of one expert's matrices.
    pub(crate) const fn each_elements(&self, hidden: u64) -> u64 {
        match self.latent {
            Some(latent) => self.each.matrix_elements(latent),
            None => self.each.matrix_elements(hidden),
        }
    }

    /// Elements of the projections into the experts' narrower width and back; 0 where they have none.
    pub(crate) const fn latent_elements(&self, hidden: u64) -> u64 {
        match self.latent {
            Some(latent) => 2 * hidden * latent,
            None => 0,
        }
    }

    /// Elements of the router's matrix, `h E`.
    pub(crate) const fn router_elements(&self, hidden: u64) -> u64 {
        hidden * self.count
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

    use crate::{KnownModel, Layers, Mixer, Model};

    fn model(name: &str) -> Model {
        KnownModel::named(name).unwrap().model().unwrap()
    }

    #[test]
    fn a_latent_is_kept_once_for_keys_and_values() {
        for layers in model("deepseek-v3.2").layers {
            let Mixer::Latent(latent) = &layers.mixer else { continue };
            assert_eq!(latent.cache_elements(), 576);
            // Absorbed decode: 2,176 FLOP a head and token.
            assert_eq!(latent.flops_per_pair_absorbed(), 128 * 2176);
        }
    }

    /// Elements of states and of what convolutions remember, of one sequence.
    fn states(model: &Model) -> (u64, u64) {
        let of = |layers: &Layers| {
            let (state, convolution) = match &layers.mixer {
                Mixer::DeltaNet(layer) => (layer.state_elements(), layer.convolution_elements()),
                Mixer::Mamba2(layer) => (layer.state_elements(), layer.convolution_elements()),
                _ => (0, 0),
            };
            (layers.count * state, layers.count * convolution)
        };
        let each = model.layers.iter().map(of);
        each.fold((0, 0), |sum, (state, convolution)| (sum.0 + state, sum.1 + convolution))
    }

    #[test]
    fn hybrids_remember_a_state() {
        let millions = |elements: u64| format!("{:.3}", elements as f64 / 1e6);
        let (state, convolution) = states(&model("qwen3-next-80b-a3b"));
        assert_eq!((millions(state), millions(convolution)), ("18.874".into(), "0.885".into()));
        let (state, convolution) = states(&model("nemotron-h-56b"));
        assert_eq!((millions(state), millions(convolution)), ("226.492".into(), "3.318".into()));
        let (state, _) = states(&model("nemotron-3-nano-30b-a3b"));
        assert_eq!(millions(state), "12.059");
    }
}
