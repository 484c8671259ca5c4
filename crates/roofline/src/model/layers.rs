//! What a layer is made of. The formulas stand in `elements`.

use crate::Format;

/// Layers that are all alike. A model is a list of them; their order within the model matters to where a prompt's work ends, and to
/// what pipeline stages keep, alone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Layers {
    /// How many there are, at least 1.
    pub count: u64,
    /// What mixes tokens.
    pub mixer: Mixer,
    /// What works on each token alone.
    pub feed_forward: FeedForward,
    /// Norm gains over the hidden size, of one layer, in elements.
    pub norms: u64,
    /// Whether both blocks read the layer's input, so that ranks can sum both outputs at once; else the feed-forward
    /// block reads what the mixer made.
    pub parallel: bool,
    /// How many of them a prompt needs less of.
    pub(crate) end: PromptEnd,
}

/// Of layers that are alike, those of which a prompt needs no more than its last position: nothing behind the last keys, values or
/// states that a layer writes is ever read but for the position that is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PromptEnd {
    /// Those that write the model's last cache or state, one or none: all positions need what is written, and nothing else of it.
    pub(crate) last: u64,
    /// Those behind it.
    pub(crate) behind: u64,
}

/// What mixes tokens in a layer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mixer {
    /// Softmax attention over keys and values: MHA, GQA, MQA; full or in a window.
    Attention(Attention),
    /// Attention over a latent (MLA), possibly over the part of it that an indexer picks (DSA).
    Latent(Latent),
    /// Gated DeltaNet: linear attention with a matrix state.
    DeltaNet(DeltaNet),
    /// Mamba-2: a state-space layer.
    Mamba2(Mamba2),
    /// Nothing: the layer is a feed-forward block only, as in Nemotron-H.
    None,
}

/// Softmax attention. In the formulas `H` and `K` are query and key-value heads, `d` a head's dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Attention {
    /// Query heads, `H`.
    pub heads: u64,
    /// Key-value heads, `K`; divides `H`.
    pub kv_heads: u64,
    /// Dimension of a query and of a key.
    pub key_dim: u64,
    /// Dimension of a value.
    pub value_dim: u64,
    /// How many tokens back it sees at most, itself included; none: all.
    pub window: Option<u64>,
    /// Whether it sees back to the start of its chunk only, where chunks are as long as the window (Llama 4): then
    /// it is the whole window at a chunk's end and one token at its start.
    pub chunked: bool,
    /// Rank of the query's projection, where it is one down and one up (Step-3); none: a full projection.
    pub query_rank: Option<u64>,
    /// Outputs of the query projection for each query head's dimension: 1, or 2 with an output gate.
    pub query_parts: u64,
    /// Where its keys and values come from.
    pub keys: AttentionKeys,
    /// How queries and keys are normed before they meet.
    pub query_norm: QueryNorm,
    /// Biases, norms of queries and keys, sinks, in elements.
    pub vectors: u64,
    /// How its matrices are stored.
    pub format: Format,
}

/// How an attention layer norms its queries and keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryNorm {
    /// Not at all.
    None,
    /// Each head for itself.
    PerHead,
    /// All heads together, so that tensor-parallel ranks have to exchange sums.
    AllHeads,
}

/// Where an attention layer's keys and values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttentionKeys {
    /// Its own, both projected and cached.
    Own,
    /// Its own, of one projection (`attention_k_eq_v`). Keys are then normed with gains and rotated, values only normed, so that
    /// engines cache both (`Gemma4Attention` of vLLM, `Gemma4TextAttention` of Hugging Face).
    AreValues,
    /// Those of an earlier layer: neither projected nor cached again, but read.
    Shared,
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values are kept as one latent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Latent {
    /// Query heads, `H`.
    pub heads: u64,
    /// Rank of the query's low-rank projection, `q_r`; none: a full projection.
    pub query_rank: Option<u64>,
    /// Rank of the latent, `kv_r`.
    pub kv_rank: u64,
    /// Dimensions of a head's key without position, `n`.
    pub nope_dim: u64,
    /// Dimensions of the key's shared rotary part, `r`.
    pub rope_dim: u64,
    /// Dimension of a value, `v`.
    pub value_dim: u64,
    /// Whether a projection of the hidden state gates the output, `h H v` (Kimi K3).
    pub output_gate: bool,
    /// What picks the tokens to attend to; none: all of them.
    pub indexer: Option<Indexer>,
    /// Norms and biases, in elements.
    pub vectors: u64,
    /// How its matrices are stored.
    pub format: Format,
}

/// The lightning indexer of sparse attention (DeepSeek-V3.2): scores every token, keeps the best.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Indexer {
    /// Heads, `H_i`; 0 where the choice is that of an earlier layer, for which nothing is stored, kept or computed here.
    pub heads: u64,
    /// Dimension of a head and of the one key a token, `d_i`; 0 likewise.
    pub dim: u64,
    /// Tokens that are kept.
    pub top_k: u64,
    /// Norms, in elements.
    pub vectors: u64,
}

/// Gated DeltaNet (arXiv 2412.06464), as in Qwen3-Next, or Kimi delta attention (arXiv 2510.26692), whose decay is
/// per channel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeltaNet {
    /// Key (and query) heads.
    pub key_heads: u64,
    /// Dimension of a key.
    pub key_dim: u64,
    /// Value heads.
    pub value_heads: u64,
    /// Dimension of a value.
    pub value_dim: u64,
    /// Taps of the short convolution.
    pub convolution: u64,
    /// Rank of the projections of decay and output gate, where they are of low rank and per channel (Kimi delta
    /// attention); none: a full output gate, and a decay for each head.
    pub gate_rank: Option<u64>,
    /// Whether the output gate is of full rank, whatever the decay is.
    pub full_output_gate: bool,
    /// How its matrices are stored.
    pub format: Format,
}

/// Mamba-2 (arXiv 2405.21060), as in Nemotron-H.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Mamba2 {
    /// Heads.
    pub heads: u64,
    /// Dimension of a head.
    pub head_dim: u64,
    /// Groups that share the state's input and output projections.
    pub groups: u64,
    /// Size of the state of each channel.
    pub state: u64,
    /// Taps of the short convolution.
    pub convolution: u64,
    /// Elements beside its matrices and convolution.
    pub vectors: u64,
    /// How its matrices are stored.
    pub format: Format,
}

/// What works on each token alone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FeedForward {
    /// The same matrices for every token.
    Dense(Dense),
    /// A mixture of experts.
    Experts(Experts),
    /// Nothing: the layer is a mixer only, as in Nemotron-H.
    None,
}

/// A dense feed-forward block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dense {
    /// Width, `f`.
    pub width: u64,
    /// Matrices of `h x f`: 3 where gated, 2 where not.
    pub matrices: u64,
    /// Biases, and the gate of a shared expert, in elements.
    pub vectors: u64,
    /// How its matrices are stored.
    pub format: Format,
}

/// A mixture of experts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Experts {
    /// Experts to choose from, `E`.
    pub count: u64,
    /// Experts that a token uses, `k`.
    pub per_token: u64,
    /// Groups of experts of which a token uses a few only (node-limited routing); none: it uses any.
    pub groups: Option<ExpertGroups>,
    /// One expert.
    pub each: Dense,
    /// Width that tokens are projected to before the experts and back after them (LatentMoE, as in Nemotron-3);
    /// none: experts work on the hidden state itself.
    pub latent: Option<u64>,
    /// How the projections to that width and back are stored.
    pub latent_format: Format,
    /// What every token uses besides; its width is that of all shared experts together.
    pub shared: Option<Dense>,
    /// Biases and correction terms of the router, in elements; its matrix is `h x E`.
    pub router_vectors: u64,
    /// How the router's matrix is stored.
    pub router_format: Format,
}

/// Groups into which a router divides its experts, to send a token to some of them only (DeepSeek-V3,
/// arXiv 2412.19437).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpertGroups {
    /// How many there are.
    pub count: u64,
    /// How many a token uses: fewer.
    pub per_token: u64,
}
