//! The file types of llama.cpp: which block type each tensor of a GGUF file gets.

use std::fmt;
use std::str::FromStr;

use super::{Format, GgmlType, UnknownFormat};

/// A file type of llama.cpp's `llama-quantize`, such as `Q4_K_M`: most tensors in one block type, and those that suffer
/// most in a wider one. The rules are those of `llama_tensor_get_type` in its `llama-quant.cpp`, without an importance
/// matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FileType {
    /// About 3.2 bits.
    Q2K,
    /// About 3.6 bits.
    Q3KS,
    /// About 4.0 bits.
    Q3KM,
    /// About 4.3 bits.
    Q3KL,
    /// About 4.5 bits.
    Iq4Xs,
    /// About 4.7 bits.
    Iq4Nl,
    /// About 4.6 bits.
    Q4_0,
    /// About 4.7 bits.
    Q4KS,
    /// About 4.9 bits.
    Q4KM,
    /// About 5.6 bits.
    Q5_0,
    /// About 5.6 bits.
    Q5KS,
    /// About 5.7 bits.
    Q5KM,
    /// 6.6 bits.
    Q6K,
    /// 8.5 bits.
    Q8_0,
}

/// Each with its name and the block type that most tensors get.
const ALL: [(FileType, &str, GgmlType); 14] = [
    (FileType::Q2K, "q2_k", GgmlType::Q2K),
    (FileType::Q3KS, "q3_k_s", GgmlType::Q3K),
    (FileType::Q3KM, "q3_k_m", GgmlType::Q3K),
    (FileType::Q3KL, "q3_k_l", GgmlType::Q3K),
    (FileType::Iq4Xs, "iq4_xs", GgmlType::Iq4Xs),
    (FileType::Iq4Nl, "iq4_nl", GgmlType::Iq4Nl),
    (FileType::Q4_0, "q4_0", GgmlType::Q4_0),
    (FileType::Q4KS, "q4_k_s", GgmlType::Q4K),
    (FileType::Q4KM, "q4_k_m", GgmlType::Q4K),
    (FileType::Q5_0, "q5_0", GgmlType::Q5_0),
    (FileType::Q5KS, "q5_k_s", GgmlType::Q5K),
    (FileType::Q5KM, "q5_k_m", GgmlType::Q5K),
    (FileType::Q6K, "q6_k", GgmlType::Q6K),
    (FileType::Q8_0, "q8_0", GgmlType::Q8_0),
];

/// What the rules look at of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelShape {
    pub(crate) layers: u64,
    /// Query heads for each key-value head.
    pub(crate) sharing: u64,
    /// Experts of a layer; 0 in a dense model.
    pub(crate) experts: u64,
    /// Whether the input embedding doubles as LM head.
    pub(crate) tied: bool,
}

/// The tensors that the rules tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GgufTensor {
    Embedding,
    Head,
    Key,
    Value,
    AttentionOutput,
    /// The last matrix of a feed-forward block, experts' too.
    Down,
    Other,
}

impl FileType {
    /// The name, as the file has it in lower case: `q4_k_m`.
    pub(crate) fn as_str(self) -> &'static str {
        ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// The block type of a tensor of layer `layer`, counted from 0.
    pub(crate) fn format(self, tensor: GgufTensor, layer: u64, shape: ModelShape) -> Format {
        let base = ALL.iter().find(|row| row.0 == self).map_or(GgmlType::Q8_0, |row| row.2);
        Format::Ggml(match tensor {
            GgufTensor::Embedding if !shape.tied => base,
            GgufTensor::Embedding | GgufTensor::Head => match self {
                Self::Q8_0 => GgmlType::Q8_0,
                _ => GgmlType::Q6K,
            },
            // Eight experts share one attention, which is then small.
            GgufTensor::Key | GgufTensor::Value if shape.experts == 8 => GgmlType::Q8_0,
            GgufTensor::Value => self.value(base, layer, shape),
            GgufTensor::Down => self.down(base, layer, shape.layers),
            GgufTensor::AttentionOutput => self.output(base, shape),
            GgufTensor::Key | GgufTensor::Other => base,
        })
    }

    fn value(self, base: GgmlType, layer: u64, shape: ModelShape) -> GgmlType {
        let shared = shape.sharing >= 4;
        match self {
            Self::Q2K if shared => GgmlType::Q4K,
            Self::Q2K => GgmlType::Q3K,
            Self::Q3KM if layer < 2 => GgmlType::Q5K,
            Self::Q3KM => GgmlType::Q4K,
            Self::Q3KL => GgmlType::Q5K,
            Self::Iq4Nl | Self::Iq4Xs if shared => GgmlType::Q5K,
            Self::Q4KS if layer < 4 => GgmlType::Q5K,
            Self::Q4KM | Self::Q5KM if more_bits(layer, shape.layers) => GgmlType::Q6K,
            _ => base,
        }
    }

    fn down(self, base: GgmlType, layer: u64, layers: u64) -> GgmlType {
        match self {
            Self::Q2K => GgmlType::Q3K,
            Self::Q3KM if layer < layers / 16 => GgmlType::Q5K,
            Self::Q3KM => GgmlType::Q4K,
            Self::Q3KL => GgmlType::Q5K,
            Self::Q4KM | Self::Q5KM if more_bits(layer, layers) => GgmlType::Q6K,
            Self::Q4KS | Self::Iq4Nl | Self::Iq4Xs if layer < layers / 8 => GgmlType::Q5K,
            _ => base,
        }
    }

    fn output(self, base: GgmlType, shape: ModelShape) -> GgmlType {
        use FileType::{Iq4Nl, Iq4Xs, Q2K, Q3KL, Q3KM, Q3KS, Q4KM, Q4KS};
        match self {
            Q2K | Q3KS | Q3KM | Iq4Nl | Iq4Xs | Q4KS | Q4KM if shape.experts == 8 => GgmlType::Q5K,
            Q2K => GgmlType::Q3K,
            Q3KM => GgmlType::Q4K,
            Q3KL => GgmlType::Q5K,
            _ => base,
        }
    }
}

/// Whether a layer is among those that get more bits: the first and the last eighth, and each third between.
const fn more_bits(layer: u64, layers: u64) -> bool {
    let eighth = layers / 8;
    layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2
}

impl FromStr for FileType {
    type Err = UnknownFormat;

    /// Reads a name such as `Q4_K_M`. Case does not matter, and `-` will do for `_`.
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let wanted = name.trim().to_lowercase().replace('-', "_");
        let found = ALL.iter().find(|row| row.1 == wanted).map(|row| row.0);
        found.ok_or_else(|| UnknownFormat::new(name))
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
