//! `fizeau serve`.

use std::path::PathBuf;

use clap::{Args, Id};
use fizeau::sim::http::SglangText;

use super::choice::choice;
use super::{EngineArgs, SystemArgs, ids};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on.
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The port to listen on; 0 takes a free one and prints it.
    #[arg(long, value_name = "PORT", default_value_t = 8000)]
    pub(crate) port: u16,
    /// The model's name for clients: requests for another one are refused. By default any name is accepted. It chooses no model:
    /// --model-config does.
    #[arg(long, visible_alias = "model", value_name = "NAME")]
    pub(crate) served_model_name: Option<String>,
    /// The most tokens of one request, prompt and output together; longer requests get status 400. By default as many as the
    /// model and its cache allow.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) max_model_len: Option<u64>,
    /// Run the engine this many times as fast as real time; below 1, slower.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) time_scale: f64,
    /// Publish a record of each step at this port over ZeroMQ, as vLLM does under the same flag; 0 takes a free one and prints it.
    #[arg(long, value_name = "PORT", conflicts_with = "ttft_ms")]
    pub(crate) forward_pass_metrics_port: Option<u16>,
    /// Let replies end by themselves, unless a request sets ignore_eos: after this many tokens, or with mean:TOKENS after a random
    /// length (geometric with that mean, drawn from --engine-seed). By default a reply has all the tokens that it may have.
    #[arg(long, value_name = "TOKENS|mean:TOKENS")]
    pub(crate) natural_len: Option<String>,
    /// Answer /get_model_info and /v1/models as SGLang does, by which clients recognise it; errors and metrics stay those of vLLM. Each
    /// event of /generate has all the text so far (cumulative), or only what is new (incremental).
    #[arg(long, value_parser = choice::<SglangText>(), value_name = "TEXT", num_args = 0..=1,
          default_missing_value = "cumulative")]
    pub(crate) sglang: Option<SglangText>,
    /// Refuse token ids on /v1/completions, as servers do that take only text there.
    #[arg(long)]
    pub(crate) text_prompts: bool,
    /// Misbehave as --list-faults describes: with reset@5 the connection is reset after five tokens, with stall:300ms+crlf both
    /// faults happen, with 0.1*reset,0.02*503 each happens to that share of the requests (drawn from --engine-seed). A request may
    /// choose its own fault by the header x-fizeau-fault; with allow only such requests have one.
    #[arg(long, alias = "faults", value_name = "FAULTS")]
    pub(crate) fault: Option<String>,
    /// List the faults and exit.
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// Speak TLS with this certificate chain (PEM). With --ssl-keyfile.
    #[arg(long, value_name = "FILE", requires = "ssl_keyfile", conflicts_with = "tls_self_signed")]
    pub(crate) ssl_certfile: Option<PathBuf>,
    /// The private key (PEM) of --ssl-certfile.
    #[arg(long, value_name = "FILE", requires = "ssl_certfile")]
    pub(crate) ssl_keyfile: Option<PathBuf>,
    /// Speak TLS with a new certificate for localhost and --host, and write it to this file for clients to trust.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_self_signed: Option<PathBuf>,
    /// Simulate no engine: send the first token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "itl_ms", conflicts_with_all = of_an_engine())]
    pub(crate) ttft_ms: Option<f64>,
    /// With --ttft-ms: send each further token after this many milliseconds.
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
fn of_an_engine() -> Vec<Id> {
    ids(SystemArgs::augment_args)
        .chain(ids(EngineArgs::augment_args))
        .filter(|id| !["enable_prefix_caching", "engine_seed"].contains(&id.as_str()))
        .collect()
}
