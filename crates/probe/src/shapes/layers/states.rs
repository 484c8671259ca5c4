//! What layers do besides products and attention: with their states, and to norm.

use fizeau_roofline::{
    Attention, DeltaNet, Format, Latent, Layers, Mamba2, Mixer, OperatorKind, QueryNorm, TermKind,
};

use super::{ModelOperator, ShapesOf};
use crate::measurement::{NormShape, Operation, RecurrenceRule, RecurrenceShape};

impl ShapesOf<'_> {
    pub(super) fn delta_net(&self, layer: &DeltaNet, count: u64) -> ModelOperator {
        let heads = (layer.key_heads, layer.value_heads);
        self.states(RecurrenceRule::DeltaRule, heads, (layer.key_dim, layer.value_dim), count)
    }

    /// Its groups have keys and queries, which its heads share.
    pub(super) fn mamba(&self, layer: &Mamba2, count: u64) -> ModelOperator {
        let heads = (layer.groups, layer.heads);
        self.states(RecurrenceRule::StateSpace, heads, (layer.state, layer.head_dim), count)
    }

    fn states(
        &self,
        rule: RecurrenceRule,
        (key_heads, value_heads): (u64, u64),
        (key_dim, value_dim): (u64, u64),
        count: u64,
    ) -> ModelOperator {
        let (key_heads, value_heads) = (self.cut(key_heads), self.cut(value_heads));
        let shape = RecurrenceShape {
            rule,
            sequences: self.local,
            tokens: self.pass.tokens,
            // Heads are repeated where ranks are more than they.
            key_heads: if value_heads.is_multiple_of(key_heads) { key_heads } else { value_heads },
            value_heads,
            key_dim,
            value_dim,
        };
        let role = "states".to_owned();
        ModelOperator {
            part: TermKind::Operator(OperatorKind::Recurrent),
            operation: Operation::Recurrence { shape, role: Some(role.clone()) },
            role,
            format: self.model.state_cache(),
            count,
        }
    }

    pub(super) fn norm(&self, role: &str, (rows, width): (u64, u64), count: u64) -> ModelOperator {
        let (role, shape) = (role.to_owned(), NormShape::new(rows, width));
        ModelOperator {
            part: TermKind::Operator(OperatorKind::Vectors),
            operation: Operation::Norm { shape, role: Some(role.clone()) },
            role,
            format: Format::Bf16,
            count,
        }
    }

    pub(super) fn norms(&self, layers: &Layers, all: &mut Vec<ModelOperator>) {
        let (hidden, tokens) = (self.model.hidden, self.tokens());
        let of_hidden = layers.norms / hidden;
        all.extend(
            (of_hidden > 0).then(|| self.norm("norm", (tokens, hidden), of_hidden * layers.count)),
        );
        let inner: Vec<(&str, u64, u64)> = match &layers.mixer {
            Mixer::Attention(layer) => self.of_attention(layer),
            Mixer::Latent(layer) => of_latent(layer),
            Mixer::DeltaNet(layer) => {
                vec![("states_norm", self.cut(layer.value_heads), layer.value_dim)]
            }
            Mixer::Mamba2(layer) => {
                vec![("states_norm", 1, self.cut(layer.heads) * layer.head_dim)]
            }
            _ => Vec::new(),
        };
        let of = |(role, rows, width)| self.norm(role, (tokens * rows, width), layers.count);
        all.extend(inner.into_iter().map(of));
    }

    /// Role, rows of a token, and width of a row.
    fn of_attention(&self, layer: &Attention) -> Vec<(&'static str, u64, u64)> {
        let (heads, kv_heads) = (self.cut(layer.heads), self.cut(layer.kv_heads));
        match layer.query_norm {
            QueryNorm::PerHead => {
                vec![("query_norm", heads, layer.key_dim), ("key_norm", kv_heads, layer.key_dim)]
            }
            QueryNorm::AllHeads => vec![
                ("query_norm", 1, heads * layer.key_dim),
                ("key_norm", 1, kv_heads * layer.key_dim),
            ],
            _ => Vec::new(),
        }
    }
}

fn of_latent(layer: &Latent) -> Vec<(&'static str, u64, u64)> {
    let queries = layer.query_rank.map(|rank| ("query_norm", 1, rank));
    queries.into_iter().chain([("latent_norm", 1, layer.kv_rank)]).collect()
}
