//! `fizeau bench`.

use clap::Args;
use fizeau::experiment::StartTime;

use super::values::seconds;
use super::{
    ClientArgs, EndpointArgs, LevelArgs, LiveArgs, SamplingArgs, ShardArgs, SpeedOfLightArgs,
    SubjectArgs, TargetArgs, TelemetryArgs, TrustArgs,
};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Accepted so that `vllm bench serve ...` runs with `vllm` replaced by `fizeau`.
    #[arg(hide = true, value_parser = ["serve"])]
    pub(crate) serve: Option<String>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
    /// Begin at this instant of the wall clock, such as 2026-11-23T20:00:00Z, after the warm-up: for shards that cannot reach one
    /// another and whose clocks agree.
    #[arg(
        long,
        value_name = "UTC",
        help_heading = "Several machines",
        conflicts_with = "rendezvous"
    )]
    pub(crate) start_at: Option<StartTime>,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// First measure, in about 15 s, the highest load that this client can send from this machine with such requests. A run close
    /// to it is suspect (--threshold ceiling-suspect=0.8). Without a model and an address (--base-url, --host, --port) only this is
    /// measured.
    #[arg(long, help_heading = "Client")]
    pub(crate) calibrate: bool,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryArgs,
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) vllm: VllmArgs,
}

/// Flags of `vllm bench serve` that have no meaning of their own here.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compatibility (flags of vllm bench serve)")]
pub(crate) struct VllmArgs {
    /// Honoured: `random` draws an adapter for each session, by the weights of --lora-modules; round-robin is refused.
    #[arg(long, value_name = "HOW", value_parser = ["random", "round-robin"], hide_short_help = true)]
    pub(crate) lora_assignment: Option<String>,
    /// Honoured: 1, one prompt in each request; more are refused.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) random_batch_size: Option<u64>,
    #[command(flatten)]
    pub(crate) sonnet: SonnetArgs,
    /// Ignored: text is sent as it stands on text routes, and on chat routes the server applies its template.
    #[arg(long, alias = "custom-skip-chat-template", hide_short_help = true)]
    pub(crate) skip_chat_template: bool,
    /// Ignored: no tokenizer is loaded unless --tokenizer names one.
    #[arg(long, hide_short_help = true)]
    pub(crate) skip_tokenizer_init: bool,
    /// Ignored: no tokenizer is loaded unless --tokenizer names one.
    #[arg(long, value_name = "MODE", hide_short_help = true)]
    pub(crate) tokenizer_mode: Option<String>,
    /// Ignored: no code of a model is run.
    #[arg(long, hide_short_help = true)]
    pub(crate) trust_remote_code: bool,
    /// Ignored: requests are identified by their numbers.
    #[arg(long, value_name = "PREFIX", hide_short_help = true)]
    pub(crate) request_id_prefix: Option<String>,
    /// Ignored: each server is asked for one reply before the run.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, hide_short_help = true)]
    pub(crate) ready_check_timeout_sec: Option<f64>,
    /// Ignored: report.html has the timeline of each level (--out DIR, then `fizeau report DIR --html FILE`).
    #[arg(long, hide_short_help = true)]
    pub(crate) plot_timeline: bool,
    /// Ignored: report.html has the charts of each level.
    #[arg(long, value_name = "MS,MS", hide_short_help = true)]
    pub(crate) timeline_itl_thresholds: Option<String>,
    /// Ignored: report.html has the charts of each level.
    #[arg(long, hide_short_help = true)]
    pub(crate) plot_dataset_stats: bool,
    /// Ignored: a trace is replayed at its own times unless --ignore-trace-times is given.
    #[arg(long, hide_short_help = true)]
    pub(crate) self_timed: bool,
    /// Ignored: pipes get no progress bar.
    #[arg(long, hide_short_help = true)]
    pub(crate) disable_tqdm: bool,
}

/// The lengths of vLLM's `sonnet`: the prompt's holds that of the prefix.
#[derive(Debug, Args)]
pub(crate) struct SonnetArgs {
    /// Honoured: with sonnet, the length of the prompt with what all share; by default 550.
    #[arg(long, value_name = "TOKENS", hide_short_help = true)]
    #[arg(conflicts_with = "random_input_len")]
    pub(crate) sonnet_input_len: Option<u64>,
    /// Honoured: with sonnet, the same as --random-output-len.
    #[arg(long, value_name = "TOKENS", hide_short_help = true)]
    #[arg(conflicts_with = "random_output_len")]
    pub(crate) sonnet_output_len: Option<u64>,
    /// Honoured: with sonnet, the part of --sonnet-input-len that all prompts share; by default 200.
    #[arg(long, value_name = "TOKENS", hide_short_help = true)]
    #[arg(conflicts_with = "random_prefix_len")]
    pub(crate) sonnet_prefix_len: Option<u64>,
}
