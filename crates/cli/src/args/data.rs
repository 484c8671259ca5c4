//! Data sets and conversations.

use std::path::PathBuf;

use clap::Args;

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
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) prefix_repetition_num_prefixes: u64,
    /// With prefix_repetition: the output length.
    #[arg(long, value_name = "TOKENS", default_value_t = 128)]
    pub(crate) prefix_repetition_output_len: u64,
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
    #[arg(long, value_name = "LAW")]
    pub(crate) think_time: Option<String>,
}

impl DataArgs {
    /// Whether no record may come again.
    pub(crate) const fn refuses_repeats(&self) -> bool {
        self.no_repeat || self.no_oversample
    }
}
