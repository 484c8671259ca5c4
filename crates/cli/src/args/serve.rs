//! `fizeau serve`.

use std::path::PathBuf;

use clap::Args;
use fizeau::sim::http::SglangText;

use super::choice::{Word, choice};
use super::{EngineArgs, SystemArgs};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The port to listen on; 0 takes a free one and prints it.
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
    /// The only model name to accept; by default any name is.
    #[arg(long)]
    pub(crate) served_model_name: Option<String>,
    /// The most tokens, prompt and output together, of one request; longer ones get status 400. By default as many as the
    /// model and the cache allow.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) max_model_len: Option<u64>,
    /// Let the engine's time run so many times as fast as life; below 1, slower.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) time_scale: f64,
    /// Let replies end by themselves, unless a request sets ignore_eos: after so many tokens, or with mean:TOKENS after a length
    /// drawn from --engine-seed, geometric with that mean. By default a reply has all the tokens that it may.
    #[arg(long, value_name = "TOKENS|mean:TOKENS")]
    pub(crate) natural_len: Option<String>,
    /// Have SGLang's /get_model_info, by which clients know it, and its name in /v1/models; errors and metrics stay vLLM's. Each
    /// event of /generate has all the text so far, or only what is new.
    #[arg(long, value_parser = choice(&SGLANG_TEXTS), value_name = "TEXT", num_args = 0..=1,
          default_missing_value = "cumulative")]
    pub(crate) sglang: Option<SglangText>,
    /// Misbehave: faults of --list-faults, such as reset@5 (the connection is reset after five tokens), stall:300ms+crlf (both),
    /// 0.1*reset,0.02*503 (of that share of the requests each). Requests choose for themselves with the header
    /// x-fizeau-fault; `allow` permits that alone. Drawn from --engine-seed.
    #[arg(long, alias = "faults", value_name = "FAULTS")]
    pub(crate) fault: Option<String>,
    /// List the faults and end.
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// Speak TLS with this certificate chain (PEM). With --ssl-keyfile.
    #[arg(long, value_name = "FILE", requires = "ssl_keyfile", conflicts_with = "tls_self_signed")]
    pub(crate) ssl_certfile: Option<PathBuf>,
    /// The private key (PEM) of --ssl-certfile.
    #[arg(long, value_name = "FILE", requires = "ssl_certfile")]
    pub(crate) ssl_keyfile: Option<PathBuf>,
    /// Speak TLS with a certificate made for localhost and --host, and write it to this file, for clients to trust.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_self_signed: Option<PathBuf>,
    /// Instead of an engine with a batch, fixed timing: the first token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "itl_ms", conflicts_with_all = OF_AN_ENGINE)]
    pub(crate) ttft_ms: Option<f64>,
    /// With --ttft-ms: each further token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "ttft_ms")]
    pub(crate) itl_ms: Option<f64>,
    /// End with the standard input, and so with whoever holds its other end.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// What there is nothing of without an engine: all of its flags but those of the prefix cache and of the seed.
const OF_AN_ENGINE: [&str; 39] = [
    "model_config",
    "hardware",
    "tp",
    "pp",
    "ep",
    "dp",
    "replicas",
    "weights",
    "kv",
    "memory_share",
    "max_num_seqs",
    "prefix",
    "routing",
    "overlap",
    "exchange",
    "max_num_batched_tokens",
    "block_size",
    "num_gpu_blocks",
    "policy",
    "no_chunked_prefill",
    "reserve",
    "scheduling_policy",
    "max_waiting",
    "cuda_graph_sizes",
    "router",
    "draft",
    "acceptance",
    "drafter",
    "disaggregate",
    "transfer",
    "bandwidth_efficiency",
    "compute_efficiency",
    "per_step",
    "per_sequence",
    "per_layer",
    "per_collective",
    "calibration",
    "calibration_engine",
    "power_limit",
];

const SGLANG_TEXTS: [Word<SglangText>; 2] = [
    ("cumulative", SglangText::Cumulative, "All the text so far, as it does by default"),
    (
        "incremental",
        SglangText::Incremental,
        "What is new, as with its --incremental-streaming-output",
    ),
];

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// The flags of one group of arguments.
    fn flags<A: Args>() -> Vec<String> {
        let command = A::augment_args(clap::Command::new("flags"));
        command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
    }

    /// A flag that would change nothing is refused, whichever comes to be.
    #[test]
    fn fixed_timing_has_no_engine() {
        let here = ["enable_prefix_caching", "engine_seed"];
        let mut found = [flags::<SystemArgs>(), flags::<EngineArgs>()].concat();
        found.retain(|name| !here.contains(&name.as_str()));
        for name in &found {
            assert!(OF_AN_ENGINE.contains(&name.as_str()), "{name}");
        }
        assert_eq!(found.len(), OF_AN_ENGINE.len());
        crate::args::Cli::command().debug_assert();
    }
}
