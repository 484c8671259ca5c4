//! What to ask: the flags of every command that sends requests.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, value_parser};
use fizeau::core::Nanos;
use fizeau::workload::RangeStyle;
use serde::Serialize;

use super::choice::choice;
use super::values::{finite, from_zero, probability, share, some_time};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// Where prompts come from. Generated: random, vllm-random (exactly vLLM's own), sonnet, prefix_repetition. From the file
    /// of --dataset-path: sharegpt, custom, openai-batch; with times: mooncake, timed_trace (in seconds, and with blocks of 16 tokens,
    /// as vLLM reads it), azure, burstgpt.
    #[arg(long, value_name = "NAME", default_value = "random")]
    pub(crate) dataset_name: String,
    /// The seed of arrival times, lengths and order: the same seed gives the same ones.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Repeat the prompts of the run that reported this number. By default each run has prompts of its own, so that no prefix
    /// cache of an earlier run helps.
    #[arg(long, value_name = "N", conflicts_with = "reuse_prompts")]
    pub(crate) salt: Option<u64>,
    /// Send the same prompts as every other run that has this flag and the same seed.
    #[arg(long)]
    pub(crate) reuse_prompts: bool,
    /// Count tokens on the client: with tiktoken:o200k_base, with the tokenizer.json at this path (or in this folder), or with that of
    /// a Hugging Face id, ORG/NAME, which is looked for in the local cache of the Hub. Prompts are then text of exact length. Without
    /// it prompts are token ids where the server takes them, and the server counts.
    #[arg(long, value_name = "NAME|PATH|ORG/NAME")]
    pub(crate) tokenizer: Option<String>,
    /// The most tokens that the model takes, prompt and output together. Longer requests are refused before any is sent.
    /// By default it is that of --model-config or of the server.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_model_len: Option<u64>,
    /// Request LoRA adapters instead of the model, by weight, one for each session: with a b=2, adapter b is asked twice as often.
    #[arg(long, value_name = "NAME[=WEIGHT]", num_args = 1..)]
    pub(crate) lora_modules: Vec<String>,
    /// Let the model stop at its own end. By default it is told to generate the full length, where the server can do that; but
    /// not with sharegpt, custom and openai-batch.
    #[arg(long)]
    pub(crate) no_ignore_eos: bool,
    /// With sharegpt, custom and openai-batch: tell the model to generate the full length.
    #[arg(long, conflicts_with = "no_ignore_eos")]
    pub(crate) ignore_eos: bool,
    #[command(flatten)]
    pub(crate) lengths: LengthArgs,
    #[command(flatten)]
    pub(crate) prefix: PrefixArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionArgs,
}

// Data sets and conversations.

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data sets")]
pub(crate) struct DataArgs {
    /// The file of a data set or a trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) dataset_path: Option<PathBuf>,
    /// With sharegpt: the output length of each request, in place of the data set's own.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) sharegpt_output_len: Option<u64>,
    /// With custom and openai-batch: the output length of each request, in place of the data set's own; -1 keeps those.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) custom_output_len: Option<i64>,
    /// With prefix_repetition: the length of each prefix.
    #[arg(long, value_name = "TOKENS", default_value_t = 256)]
    pub(crate) prefix_repetition_prefix_len: u64,
    /// With prefix_repetition: the length of each prompt's own part.
    #[arg(long, value_name = "TOKENS", default_value_t = 256)]
    pub(crate) prefix_repetition_suffix_len: u64,
    /// With prefix_repetition: the number of prefixes.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) prefix_repetition_num_prefixes: NonZeroU64,
    /// With prefix_repetition: the output length.
    #[arg(long, value_name = "TOKENS", default_value_t = 128)]
    pub(crate) prefix_repetition_output_len: u64,
    /// With mooncake and timed_trace: how long a timestamp of 1 in the file is; by default 0.001 s, with timed_trace 1 s.
    #[arg(long, value_name = "SECONDS", value_parser = some_time)]
    pub(crate) timed_trace_sec_multiplier: Option<Nanos>,
    /// With mooncake and timed_trace: how many tokens each of the hash_ids in the file is; by default 512, with timed_trace 16.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) timed_trace_chunk_hash_size: Option<NonZeroU64>,
    /// With vllm-random and prefix_repetition as token ids: the size of the model's vocabulary.
    #[arg(long, value_name = "N", default_value_t = 32_000)]
    pub(crate) vocab_size: u32,
    /// Refuse a data set or trace that has fewer records than there are requests. By default it is used again from its beginning.
    #[arg(long)]
    pub(crate) no_repeat: bool,
    /// vLLM's name for it, which does nothing where no record can come again.
    #[arg(long, hide = true)]
    pub(crate) no_oversample: bool,
    /// Take the records of a data set in the order of the file.
    #[arg(long)]
    pub(crate) disable_shuffle: bool,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Conversations")]
pub(crate) struct SessionArgs {
    /// With sharegpt: send whole conversations, as custom always does. Each next turn carries the replies that really came.
    #[arg(long)]
    pub(crate) multi_turn: bool,
    /// Send generated conversations of this many turns each, such as 4 or 2-6.
    #[arg(long, value_name = "N|A-B")]
    pub(crate) turns: Option<String>,
    /// The seconds between a reply and the next turn: 2, exp:2 (its mean) or lognormal:2 (its median); by default none.
    #[arg(long, value_name = "SECONDS|DIST")]
    pub(crate) think_time: Option<String>,
}

impl DataArgs {
    /// Whether no record may come again.
    pub(crate) const fn refuses_repeats(&self) -> bool {
        self.no_repeat || self.no_oversample
    }
}

// How long requests are, and what their prompts have in common.

/// Not one length for all: equal requests march in step, and their latencies are not those of real traffic.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Lengths")]
pub(crate) struct LengthArgs {
    /// Prompt length in tokens, fixed or drawn: 250, uniform:200-300, normal:mean=500,sd=100,min=50,max=2000,
    /// lognormal:median=500,sigma=0.8,min=50,max=4000 or histogram:1-100=5,101-1000=3. The default is uniform:512-1536, with
    /// --dataset-name vllm-random 1024, and with sonnet 350 after a prefix of 200 that all share.
    #[arg(long, visible_alias = "isl", alias = "input-len", value_name = "TOKENS|DIST",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_input_len: Option<String>,
    /// Output length in tokens, fixed or drawn. The default is uniform:64-192, with --dataset-name vllm-random 128, with sonnet 150.
    #[arg(long, visible_alias = "osl", alias = "output-len", value_name = "TOKENS|DIST",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_output_len: Option<String>,
    /// Draw lengths that are given as one number uniformly within this share of it, from 0 up to 1 (exclusive); or a share for
    /// each, as {"input": 0.5, "output": 0.2}. Without it a number is exact.
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_range_ratio: Option<String>,
    /// Whose definition of --random-range-ratio R holds for a length L: vllm's, from L(1-R) to L(1+R), or sglang's, from L R to L.
    #[arg(long, value_parser = choice::<RangeStyle>(), value_name = "STYLE", default_value = "vllm")]
    pub(crate) range_ratio_style: RangeStyle,
    /// Lengths that are typical of a use: chat, code-generation, long-context-qa or summarization.
    #[arg(long, value_name = "NAME")]
    pub(crate) length_preset: Option<String>,
    /// Pairs of lengths that belong together, INPUT/OUTPUT=WEIGHT, such as 250/100=3,1000/20=1.
    #[arg(long, value_name = "PAIRS", conflicts_with = "length_preset")]
    pub(crate) length_pairs: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shared prefixes")]
pub(crate) struct PrefixArgs {
    /// The number of prompt tokens that all requests share, before their own.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) random_prefix_len: u64,
    /// The number of different prefixes, each of which some of the requests share.
    #[arg(long, value_name = "N", requires = "prefix_len")]
    pub(crate) prefix_groups: Option<NonZeroU64>,
    /// With --prefix-groups: the length of each prefix, before a prompt's own tokens.
    #[arg(long, value_name = "TOKENS", requires = "prefix_groups")]
    pub(crate) prefix_len: Option<u64>,
    /// With --prefix-groups: the share of requests that begin with a group's prefix, from 0 to 1; by default all. The others
    /// begin with as many tokens of their own.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "prefix_groups")]
    pub(crate) prefix_share: Option<f64>,
    /// With --prefix-groups: the k-th group is used in proportion to 1/k^S; by default all groups are used equally often.
    #[arg(long, value_name = "S", requires = "prefix_groups")]
    pub(crate) prefix_zipf: Option<f64>,
}

// How the model shall choose tokens.

#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Sampling (sent only where given)")]
pub(crate) struct SamplingArgs {
    /// The sampling temperature.
    #[arg(long, value_name = "T", value_parser = from_zero)]
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling: consider the likeliest tokens that together have this probability.
    #[arg(long, value_name = "P", value_parser = probability)]
    pub(crate) top_p: Option<f64>,
    /// Consider this many of the likeliest tokens; with -1 or 0 all.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value_parser!(i64).range(-1..))]
    pub(crate) top_k: Option<i64>,
    /// Consider tokens of at least this probability, relative to the likeliest token.
    #[arg(long, value_name = "P", value_parser = probability)]
    pub(crate) min_p: Option<f64>,
    /// The frequency penalty.
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true, value_parser = finite)]
    pub(crate) frequency_penalty: Option<f64>,
    /// The presence penalty.
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true, value_parser = finite)]
    pub(crate) presence_penalty: Option<f64>,
    /// The repetition penalty.
    #[arg(long, value_name = "PENALTY", value_parser = from_zero)]
    pub(crate) repetition_penalty: Option<f64>,
    /// Ask for the log-probabilities of each token and of this many alternatives. They make replies larger.
    #[arg(long, value_name = "N")]
    pub(crate) logprobs: Option<u32>,
    /// Further fields of the request body, as a JSON object.
    #[arg(long, value_name = "JSON")]
    #[serde(skip)]
    pub(crate) extra_body: Option<String>,
}
