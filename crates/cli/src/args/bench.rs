//! `fizeau bench`.

use clap::Args;

use super::{ClientArgs, EndpointArgs, LevelArgs, LiveArgs, PhysicsArgs, SamplingArgs, TrustArgs};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Accepted so that `vllm bench serve ...` runs with `vllm` replaced by `fizeau`.
    #[arg(hide = true, value_parser = ["serve"])]
    pub(crate) serve: Option<String>,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) host: HostArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// First find out what this client can do at most on this machine with such requests, in about 15 s. A run near that
    /// is suspect (--threshold ceiling-suspect=0.8). Where neither an endpoint
    /// (--base-url, --host, --port) nor a model is named, there is no run.
    #[arg(long, help_heading = "Client")]
    pub(crate) calibrate: bool,
    #[command(flatten)]
    pub(crate) physics: PhysicsArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    /// What the endpoint runs on, in a line of your own, for the report.
    #[arg(long, value_name = "TEXT", env = "FIZEAU_ENGINE", help_heading = "Checklist")]
    pub(crate) engine: Option<String>,
    /// The formats of weights and key-value cache, in a line of your own, for the report; with --model-config they are known.
    #[arg(long, value_name = "TEXT", help_heading = "Checklist")]
    pub(crate) precision: Option<String>,
    #[command(flatten)]
    pub(crate) vllm: VllmArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct HostArgs {
    /// The server's host, where --base-url is not given; by default 127.0.0.1.
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// The server's port, where --base-url is not given; by default 8000.
    #[arg(long)]
    pub(crate) port: Option<u16>,
}

/// Flags of `vllm bench serve` that change nothing here.
#[derive(Debug, Args)]
pub(crate) struct VllmArgs {
    #[arg(long, hide = true)]
    pub(crate) disable_tqdm: bool,
    #[arg(long, hide = true)]
    pub(crate) trust_remote_code: bool,
    /// Text goes out as it stands on text routes; on chat routes the server has the template.
    #[arg(long, hide = true, alias = "custom-skip-chat-template")]
    pub(crate) skip_chat_template: bool,
    #[arg(long, hide = true)]
    pub(crate) request_id_prefix: Option<String>,
    /// How sessions come to adapters: by the weights of --lora-modules.
    #[arg(long, hide = true, value_parser = ["random", "round-robin"])]
    pub(crate) lora_assignment: Option<String>,
    #[command(flatten)]
    pub(crate) sonnet: SonnetArgs,
    #[arg(long, hide = true)]
    pub(crate) tokenizer_mode: Option<String>,
    #[arg(long, hide = true)]
    pub(crate) ready_check_timeout_sec: Option<f64>,
}

/// The lengths of vLLM's `sonnet`: the prompt's holds that of the prefix.
#[derive(Debug, Args)]
pub(crate) struct SonnetArgs {
    #[arg(long, hide = true, conflicts_with = "random_input_len")]
    pub(crate) sonnet_input_len: Option<u64>,
    #[arg(long, hide = true, conflicts_with = "random_output_len")]
    pub(crate) sonnet_output_len: Option<u64>,
    #[arg(long, hide = true, conflicts_with = "random_prefix_len", requires = "sonnet_input_len")]
    pub(crate) sonnet_prefix_len: Option<u64>,
}
