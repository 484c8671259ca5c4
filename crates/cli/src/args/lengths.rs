//! How long requests are, and what their prompts have in common.

use clap::Args;
use fizeau::workload::RangeStyle;

use super::choice::{Word, choice};

/// Not one length for all: equal requests march in step, and their latencies are not those of real traffic.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Lengths")]
pub(crate) struct LengthArgs {
    /// Prompt length in tokens: a number, or a law such as uniform:200-300, normal:mean=500,sd=100,min=50,max=2000,
    /// lognormal:median=500,sigma=0.8,min=50,max=4000 or histogram:1-100=5,101-1000=3. The default is uniform:512-1536, with
    /// --dataset-name vllm-random 1024.
    #[arg(long, visible_alias = "isl", alias = "input-len", value_name = "TOKENS|LAW",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_input_len: Option<String>,
    /// Output length in tokens: a number or a law. The default is uniform:64-192, with --dataset-name vllm-random 128.
    #[arg(long, visible_alias = "osl", alias = "output-len", value_name = "TOKENS|LAW",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_output_len: Option<String>,
    /// Draw lengths that are given as one number uniformly within this share of it, from 0 up to 1 (exclusive); or a share for
    /// each, as {"input": 0.5, "output": 0.2}. Without it a number is exact.
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_range_ratio: Option<String>,
    /// Whose definition of --random-range-ratio R holds for a length L: vllm's, from L(1-R) to L(1+R), or sglang's, from L R to L.
    #[arg(long, value_parser = choice(&STYLES), value_name = "STYLE", default_value = "vllm")]
    pub(crate) range_ratio_style: RangeStyle,
    /// Lengths that are typical of a use: chat, code-generation, long-context-qa or summarization.
    #[arg(long, value_name = "NAME")]
    pub(crate) length_preset: Option<String>,
    /// Pairs of lengths that belong together, INPUT/OUTPUT=WEIGHT, such as 250/100=3,1000/20=1.
    #[arg(long, value_name = "PAIRS", conflicts_with = "length_preset")]
    pub(crate) length_pairs: Option<String>,
}

const STYLES: [Word<RangeStyle>; 2] = [
    ("vllm", RangeStyle::Vllm, "From L(1-R) to L(1+R)"),
    ("sglang", RangeStyle::Sglang, "From L R to L"),
];

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shared prefixes")]
pub(crate) struct PrefixArgs {
    /// The number of prompt tokens that all requests share, before their own.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) random_prefix_len: u64,
    /// The number of different prefixes, each of which some of the requests share.
    #[arg(long, value_name = "N", requires = "prefix_len")]
    pub(crate) prefix_groups: Option<u64>,
    /// With --prefix-groups: the length of each prefix, before a prompt's own tokens.
    #[arg(long, value_name = "TOKENS", requires = "prefix_groups")]
    pub(crate) prefix_len: Option<u64>,
    /// With --prefix-groups: the share of requests that begin with a group's prefix, from 0 to 1; by default all. The others
    /// begin with as many tokens of their own.
    #[arg(long, value_name = "SHARE", requires = "prefix_groups")]
    pub(crate) prefix_share: Option<f64>,
    /// With --prefix-groups: the k-th group is used in proportion to 1/k^S; by default all groups are used equally often.
    #[arg(long, value_name = "S", requires = "prefix_groups")]
    pub(crate) prefix_zipf: Option<f64>,
}
