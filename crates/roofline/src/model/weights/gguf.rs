//! A model's weights as llama.cpp stores them.

use super::super::parts::{AttentionDims, LatentDims, MatrixPart, MatrixSizes, MatrixSlot};
use super::super::{
    Attention, Dense, Experts, FeedForward, Latent, Layers, Mixer, Model, TensorClass,
};
use crate::format::ModelShape;
use crate::{FileType, Format};

impl Model {
    /// As llama.cpp stores a file of this type. Which layers get more bits goes by their place, which is not kept here:
    /// each layer gets the mean.
    pub(super) fn set_file(&mut self, kind: FileType) {
        let count = self.layers.iter().map(|layers| layers.count).sum::<u64>();
        let shape = ModelShape {
            layers: count,
            sharing: self.layers.iter().find_map(sharing).unwrap_or(1),
            experts: self.layers.iter().find_map(experts).unwrap_or(0),
            tied: self.tables.tied,
        };
        let mean = |class: TensorClass, sizes: &MatrixSizes| {
            let parts: Vec<(Format, f64)> = (0..count)
                .flat_map(|layer| sizes.0.iter().map(move |part| (layer, *part)))
                .filter_map(|(layer, (part, size))| {
                    let tensor = MatrixSlot { class, part }.in_gguf()?;
                    Some((kind.format(tensor, layer, shape), size))
                })
                .collect();
            Format::blend(&parts)
        };
        let whole = MatrixSizes(vec![(MatrixPart::Whole, 1.0)]);
        self.tables.embedding = mean(TensorClass::Embedding, &whole);
        self.tables.head = mean(TensorClass::Head, &whole);
        for layers in self.layers.iter_mut().chain(&mut self.draft) {
            match &mut layers.mixer {
                Mixer::Attention(layer) => {
                    layer.format = mean(TensorClass::Attention, &layer.sizes());
                }
                Mixer::Latent(layer) => {
                    layer.format = mean(TensorClass::Attention, &layer.sizes(self.hidden));
                }
                Mixer::DeltaNet(layer) => layer.format = mean(TensorClass::Recurrent, &whole),
                Mixer::Mamba2(layer) => layer.format = mean(TensorClass::Recurrent, &whole),
                Mixer::None => {}
            }
            match &mut layers.feed_forward {
                FeedForward::Dense(dense) => {
                    dense.format = mean(TensorClass::Dense, &dense.sizes());
                }
                FeedForward::Experts(Experts { each, shared, latent_format, .. }) => {
                    each.format = mean(TensorClass::Experts, &each.sizes());
                    *latent_format = mean(TensorClass::Dense, &whole);
                    if let Some(shared) = shared {
                        shared.format = mean(TensorClass::SharedExperts, &shared.sizes());
                    }
                }
                FeedForward::None => {}
            }
        }
    }
}

fn sharing(layers: &Layers) -> Option<u64> {
    match &layers.mixer {
        Mixer::Attention(layer) => layer.heads.checked_div(layer.kv_heads),
        _ => None,
    }
}

fn experts(layers: &Layers) -> Option<u64> {
    match &layers.feed_forward {
        FeedForward::Experts(experts) => Some(experts.count),
        _ => None,
    }
}

impl Attention {
    fn sizes(&self) -> MatrixSizes {
        MatrixSizes::attention(AttentionDims {
            heads: self.heads,
            kv_heads: self.kv_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            query_parts: self.query_parts,
        })
    }
}

impl Latent {
    fn sizes(&self, hidden: u64) -> MatrixSizes {
        MatrixSizes::latent(LatentDims {
            hidden,
            heads: self.heads,
            query_rank: self.query_rank,
            kv_rank: self.kv_rank,
            nope_dim: self.nope_dim,
            rope_dim: self.rope_dim,
            value_dim: self.value_dim,
        })
    }
}

impl Dense {
    fn sizes(&self) -> MatrixSizes {
        MatrixSizes::feed_forward(self.matrices)
    }
}
