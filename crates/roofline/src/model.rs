//! A dense decoder, reduced to what a bound needs: how much is stored, how much is read, how much is computed.

mod config;
mod error;
mod fields;

pub use error::ModelError;

use fizeau_core::{Bytes, Flops, Tokens};

/// How a number is stored, and with it which arithmetic units work on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// Two bytes: bfloat16 or float16. Every device in the table computes both at the same rate.
    Bf16,
    /// One byte: 8-bit floating point with a scale per tensor.
    Fp8,
}

impl Precision {
    /// The size of one element. Per-tensor scales are a few bytes a matrix and not counted.
    #[must_use]
    pub const fn element_size(self) -> Bytes {
        match self {
            Self::Bf16 => Bytes::new(2.0),
            Self::Fp8 => Bytes::new(1.0),
        }
    }

    /// The name used in files and reports: `bf16`, `fp8`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
        }
    }
}

/// A dense decoder-only transformer, as its `config.json` describes it.
///
/// Understood are Llama, Mistral without a sliding window, Qwen2 and Qwen3 (dense), with 16-bit weights or
/// per-tensor fp8. In the formulas, `h` is the hidden size, `L` the layers, `H` and `K` the query and
/// key-value heads, `d` the head dimension, `f` the width of the feed-forward block, `V` the vocabulary.
///
/// ```
/// use fizeau_roofline::Model;
/// # let text = include_str!(concat!(
/// #     env!("CARGO_MANIFEST_DIR"),
/// #     "/../../fixtures/models/llama-3.1-8b/config.json"
/// # ));
/// let model = Model::from_config_json(text)?;
/// assert_eq!(model.total_parameters(), 8_030_261_248);
/// assert_eq!(model.kv_bytes_per_token().get(), 131_072.0);
/// # Ok::<(), fizeau_roofline::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    shape: Shape,
    kv_cache: Precision,
}

impl Model {
    /// Reads a Hugging Face `config.json`.
    ///
    /// The key-value cache is taken to be 16-bit, as engines keep it by default; see [`Model::with_kv_cache`].
    ///
    /// # Errors
    /// If the text is not a JSON object, a field is missing or senseless, two fields contradict each other,
    /// or the model is of a kind that this crate does not cover. The error names the field and what it ought
    /// to be.
    pub fn from_config_json(text: &str) -> Result<Self, ModelError> {
        let shape = config::parse(text)?;
        Ok(Self { shape, kv_cache: Precision::Bf16 })
    }

    /// The same model with its key-value cache kept in `precision`. Whether it is 16-bit or fp8 is a setting
    /// of the engine that the model's config does not know.
    #[must_use]
    pub fn with_kv_cache(self, precision: Precision) -> Self {
        Self { kv_cache: precision, ..self }
    }

    /// The architecture's name as the config gives it, such as `LlamaForCausalLM`.
    #[must_use]
    pub fn architecture(&self) -> &str {
        &self.shape.architecture
    }

    /// How the matrices of the layers are stored. Embedding, LM head, norms and biases always have two
    /// bytes, as in published fp8 checkpoints.
    #[must_use]
    pub const fn precision(&self) -> Precision {
        self.shape.precision
    }

    /// The longest context that the config declares; none where it is silent.
    #[must_use]
    pub const fn max_context(&self) -> Option<Tokens> {
        self.shape.max_context
    }

    /// Every parameter that is stored, embedding, norms and biases included. A tied table counts once.
    #[must_use]
    pub const fn total_parameters(&self) -> u64 {
        let s = &self.shape;
        let tables = if s.tied { 1 } else { 2 };
        tables * s.table() + s.layers * (s.layer_matrices() + s.layer_vectors) + s.hidden
    }

    /// The parameters that every step multiplies by, and so has to read: all matrices of the layers,
    /// `L (2hd(H + K) + 3hf)`, and the LM head, `Vh`.
    ///
    /// The input embedding is not among them (a step gathers single rows of it) unless it is tied: then the
    /// table is the LM head. Norm gains and biases, less than 0.01 % of a model, are left out too, so a
    /// bound stays a bound.
    #[must_use]
    pub const fn streamed_parameters(&self) -> u64 {
        self.shape.layers * self.shape.layer_matrices() + self.shape.table()
    }

    /// What all weights take in memory.
    #[must_use]
    pub fn resident_weight_bytes(&self) -> Bytes {
        let matrices = self.shape.layers * self.shape.layer_matrices();
        let wide = self.total_parameters() - matrices;
        self.shape.precision.element_size() * matrices as f64
            + Precision::Bf16.element_size() * wide as f64
    }

    /// What one step reads of the weights, however many sequences it carries: the bytes of
    /// [`Model::streamed_parameters`].
    #[must_use]
    pub fn streamed_weight_bytes(&self) -> Bytes {
        let matrices = self.shape.layers * self.shape.layer_matrices();
        self.shape.precision.element_size() * matrices as f64
            + Precision::Bf16.element_size() * self.shape.table() as f64
    }

    /// What one token of one sequence takes in the key-value cache, over all layers: `2LKd` elements.
    #[must_use]
    pub fn kv_bytes_per_token(&self) -> Bytes {
        let s = &self.shape;
        self.kv_cache.element_size() * (2 * s.layers * s.kv_heads * s.head_dim) as f64
    }

    /// Arithmetic per token in the matrices of the layers, LM head apart: two for each parameter.
    #[must_use]
    pub const fn linear_flops_per_token(&self) -> Flops {
        Flops::new((2 * self.shape.layers * self.shape.layer_matrices()) as f64)
    }

    /// Arithmetic for one row of logits, `2Vh`: once for a prompt, once for each decoded token.
    #[must_use]
    pub const fn head_flops_per_token(&self) -> Flops {
        Flops::new((2 * self.shape.table()) as f64)
    }

    /// Arithmetic for one query position attending to one key position, over all layers: `4LHd` (scores and
    /// weighted values, `2Hd` each). A decoded token at context `c` makes `c` pairs, a prompt of `n` tokens
    /// `n(n + 1)/2`.
    #[must_use]
    pub const fn attention_flops_per_pair(&self) -> Flops {
        let s = &self.shape;
        Flops::new((4 * s.layers * s.heads * s.head_dim) as f64)
    }
}

/// The dimensions of a checked config. Each is at least 1 and small enough that no product below overflows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    architecture: String,
    layers: u64,
    hidden: u64,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    feed_forward: u64,
    vocabulary: u64,
    /// Norm gains and biases of one layer.
    layer_vectors: u64,
    /// Whether the input embedding doubles as LM head.
    tied: bool,
    precision: Precision,
    max_context: Option<Tokens>,
}

impl Shape {
    /// Elements of one layer's matrices: query and output, key and value, and the gated feed-forward block's
    /// three.
    const fn layer_matrices(&self) -> u64 {
        let attention = 2 * self.hidden * self.head_dim * (self.heads + self.kv_heads);
        attention + 3 * self.hidden * self.feed_forward
    }

    /// Elements of the embedding table, and of the LM head.
    const fn table(&self) -> u64 {
        self.vocabulary * self.hidden
    }
}
