//! How long requests are, and what their prompts have in common.

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Lengths")]
pub(crate) struct LawArgs {
    /// Lengths of one number are uniform within this share of it, from 0 up to 1 (exclusive); or a share for each, as
    /// {"input": 0.5, "output": 0.2}.
    #[arg(long, value_name = "SHARE", default_value = "0", conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_range_ratio: String,
    /// Whose reading of --random-range-ratio R holds for a length L: vllm's, L(1-R) to L(1+R), or sglang's, L R to L.
    #[arg(long, value_enum, default_value_t = RangeStyleArg::Vllm)]
    pub(crate) range_ratio_style: RangeStyleArg,
    /// Lengths of a kind of use: chat, code-generation, long-context-qa or summarization.
    #[arg(long, value_name = "NAME")]
    pub(crate) length_preset: Option<String>,
    /// Lengths that belong together, INPUT/OUTPUT=WEIGHT, such as 250/100=3,1000/20=1.
    #[arg(long, value_name = "PAIRS", conflicts_with = "length_preset")]
    pub(crate) length_pairs: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RangeStyleArg {
    /// L(1-R) to L(1+R).
    Vllm,
    /// L R to L.
    Sglang,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shared prefixes")]
pub(crate) struct PrefixArgs {
    /// Prompt tokens that all requests share, before their own.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) random_prefix_len: u64,
    /// This many different prefixes, each shared by some of the requests.
    #[arg(long, value_name = "N", requires = "prefix_len")]
    pub(crate) prefix_groups: Option<u64>,
    /// With --prefix-groups: tokens of each prefix, before a prompt's own.
    #[arg(long, value_name = "TOKENS", requires = "prefix_groups")]
    pub(crate) prefix_len: Option<u64>,
    /// With --prefix-groups: the share of requests that begin with a group's prefix, from 0 to 1; by default all. The others
    /// begin with as many tokens of their own.
    #[arg(long, value_name = "SHARE", requires = "prefix_groups")]
    pub(crate) prefix_share: Option<f64>,
    /// With --prefix-groups: the k-th group comes in proportion to 1/k^S; by default all alike.
    #[arg(long, value_name = "S", requires = "prefix_groups")]
    pub(crate) prefix_zipf: Option<f64>,
}
