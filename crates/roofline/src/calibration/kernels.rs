//! How many kernels a pass launches, by the structure of the layers.
//!
//! Serving engines fuse much, and alike: the counts are those of what cannot be fused into one, for any model that has
//! the part. They need not be exact, only in proportion; the time for one ([`crate::Constant::PerKernel`]) is fitted.
//!
//! | part | kernels | |
//! |---|---|---|
//! | softmax attention | 6 | norm, qkv, rotary and cache write, attention, its reduction, output |
//! | norm of queries and keys | 1 | |
//! | output gate | 1 | |
//! | latent attention | 11 | norms (2), down, up, absorb, rotary and write, attention, reduction, values, output |
//! | indexer | 6 | queries, key, weights, write, scores, selection |
//! | linear attention, state space | 6 | norm, input, convolution, recurrence, gated norm, output |
//! | dense feed-forward | 4 | norm, gate and up, activation, down |
//! | experts | 6 | norm, router, selection, up, down, combination |
//! | shared experts | 3 | gate and up, activation, down |
//! | block-scaled fp8 | 2 for a mixer, 3 for a feed-forward | inputs scaled as they come |
//! | NVFP4 | 1 for a mixer, 1 for a feed-forward | inputs scaled as they come |
//! | fp8 by tensor or token | 1 for a mixer | attention's output is scaled; all other inputs are as a norm or an activation is written |
//! | the pass | 3 | embedding, head, sampling |
//!
//! The counts for latent attention, indexers, recurrent layers and shared experts follow the rule of the others; the
//! measurements in the fixtures have none of them.

use crate::model::{Experts, FeedForward, Layers, Mixer, QueryNorm};
use crate::{Activations, Format, Model};

/// Of a pass, whatever its layers.
const PASS: u64 = 3;

/// Kernels of a decode step.
pub(super) fn of_pass(model: &Model) -> u64 {
    let layers = model.layers.iter();
    PASS + layers.map(|layers| layers.count * of_layer(layers)).sum::<u64>()
}

fn of_layer(layers: &Layers) -> u64 {
    let mixer = match &layers.mixer {
        Mixer::Attention(attention) => {
            6 + u64::from(attention.query_norm != QueryNorm::None)
                + u64::from(attention.query_parts > 1)
                + scaling(attention.format).0
        }
        Mixer::Latent(latent) => {
            let own = latent.indexer.as_ref().is_some_and(|indexer| !indexer.is_shared());
            let indexer = if own { 6 } else { 0 };
            11 + indexer + scaling(latent.format).0
        }
        Mixer::DeltaNet(layer) => 6 + scaling(layer.format).0,
        Mixer::Mamba2(layer) => 6 + scaling(layer.format).0,
        Mixer::None => 0,
    };
    let feed_forward = match &layers.feed_forward {
        FeedForward::Dense(dense) => 4 + scaling(dense.format).1,
        FeedForward::Experts(experts) => 6 + of_shared(experts) + scaling(experts.each.format).1,
        FeedForward::None => 0,
    };
    mixer + feed_forward
}

fn of_shared(experts: &Experts) -> u64 {
    if experts.shared.is_some() { 3 } else { 0 }
}

/// What scaling activations as they come adds to a mixer and to a feed-forward block.
const fn scaling(format: Format) -> (u64, u64) {
    match format {
        Format::Fp8Blocks { .. } => (2, 3),
        Format::Nvfp4 => (1, 1),
        Format::Fp8 => (1, 0),
        Format::Beside(weights) => match weights.activations() {
            Activations::A4 => (1, 1),
            Activations::A8 => (1, 0),
            Activations::A16 => (0, 0),
        },
        _ => (0, 0),
    }
}

/// Collectives of a pass in which ranks exchange no more than a number for each token: sums of norms that span heads.
pub(super) fn small_collectives(model: &Model) -> u64 {
    let spans = |layers: &&Layers| {
        matches!(&layers.mixer, Mixer::Attention(attention)
            if attention.query_norm == QueryNorm::AllHeads)
    };
    model.layers.iter().filter(spans).map(|layers| layers.count).sum()
}

/// Sums over ranks of a pass: after each mixer and each feed-forward block.
pub(super) fn collectives(model: &Model) -> u64 {
    let each = |layers: &Layers| {
        u64::from(layers.mixer != Mixer::None) + u64::from(layers.feed_forward != FeedForward::None)
    };
    model.layers.iter().map(|layers| layers.count * each(layers)).sum()
}

/// Layers that have weights for which `widens` holds.
pub(super) fn layers_with(model: &Model, widens: impl Fn(Format) -> bool) -> u64 {
    let has = |layers: &&Layers| {
        let mixer = match &layers.mixer {
            Mixer::Attention(attention) => Some(attention.format),
            Mixer::Latent(latent) => Some(latent.format),
            Mixer::DeltaNet(layer) => Some(layer.format),
            Mixer::Mamba2(layer) => Some(layer.format),
            Mixer::None => None,
        };
        let feed_forward = match &layers.feed_forward {
            FeedForward::Dense(dense) => Some(dense.format),
            FeedForward::Experts(experts) => Some(experts.each.format),
            FeedForward::None => None,
        };
        mixer.is_some_and(&widens) || feed_forward.is_some_and(&widens)
    };
    model.layers.iter().filter(has).map(|layers| layers.count).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use super::{collectives, layers_with, of_pass, small_collectives};
    use crate::{Format, KnownModel, Model};

    fn model(name: &str) -> Model {
        KnownModel::named(name).unwrap().model().unwrap()
    }

    #[test]
    fn kernels_follow_the_structure() {
        let each = [
            // 80 layers of attention and feed-forward.
            ("llama-3.1-70b", 80 * 10 + 3),
            // Experts.
            ("gpt-oss-120b", 36 * 12 + 3),
            // Norms of queries and keys, and block-scaled fp8.
            ("minimax-m2.5", 62 * (12 + 1 + 5) + 3),
            // Latent attention in block-scaled fp8; 3 dense layers, 58 with experts and a shared one.
            ("deepseek-v3", 61 * (11 + 2) + 3 * (4 + 3) + 58 * (6 + 3 + 3) + 3),
        ];
        for (name, kernels) in each {
            assert_eq!(of_pass(&model(name)), kernels, "{name}");
        }
    }

    #[test]
    fn ranks_exchange_sums_after_each_part_of_a_layer() {
        assert_eq!(collectives(&model("llama-3.1-70b")), 160);
        // Each layer is either a mixer or a feed-forward block.
        assert_eq!(collectives(&model("nemotron-h-56b")), 118);
        assert_eq!(small_collectives(&model("minimax-m2.5")), 62);
        assert_eq!(small_collectives(&model("qwen3-8b")), 0, "each head is normed by itself");
    }

    #[test]
    fn layers_with_a_format_are_counted() {
        let is_narrow = |format: Format| format.value_bits() == 4;
        assert_eq!(layers_with(&model("gpt-oss-20b"), is_narrow), 24);
        assert_eq!(layers_with(&model("llama-3.1-8b"), is_narrow), 0);
    }
}
