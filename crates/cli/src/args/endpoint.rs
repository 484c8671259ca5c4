//! Which endpoint, and how to speak to it.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fizeau::transport::Balance;

use super::choice::{Word, choice};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct EndpointArgs {
    /// What the server is: vllm, openai, sglang, trtllm, triton, tgi, llama.cpp, ollama, anthropic, gemini, ...; some take
    /// the chat route by another name, such as vllm-chat. An unknown one is answered with all that there are; auto finds
    /// out by a few tiny requests, and takes the model's name from the server if it has only one.
    #[arg(long, alias = "endpoint-type", default_value = "vllm", env = "FIZEAU_BACKEND")]
    pub(crate) backend: String,
    /// Where the server is, such as `http://127.0.0.1:8000` or `https://api.example.com`. Give several, one by one or with
    /// commas between them, to share the requests among servers that are alike.
    #[arg(long, value_name = "URL", env = "FIZEAU_BASE_URL", value_delimiter = ',')]
    pub(crate) base_url: Vec<String>,
    /// The route, such as /v1/chat/completions; by default the backend's own.
    #[arg(long)]
    pub(crate) endpoint: Option<String>,
    /// The model's name, as the server knows it.
    #[arg(long, env = "FIZEAU_MODEL")]
    pub(crate) model: Option<String>,
    /// The name to put into requests, where it differs from --model.
    #[arg(long)]
    pub(crate) served_model_name: Option<String>,
    /// An extra header, as NAME=VALUE or "NAME: VALUE". Values never reach a file.
    #[arg(long = "header", value_name = "NAME=VALUE", num_args = 1..)]
    pub(crate) headers: Vec<String>,
    /// A file that holds the API key; otherwise FIZEAU_API_KEY or OPENAI_API_KEY is used where set.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Give up a connection after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) connect_timeout: f64,
    /// Give up a request whose first token takes longer than this many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) first_token_timeout: Option<f64>,
    /// Give up a request that is silent for this many seconds between tokens.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_timeout: Option<f64>,
    /// Give up a request after this many seconds in all.
    #[arg(long, value_name = "SECONDS", default_value_t = 21_600.0)]
    pub(crate) timeout: f64,
    #[command(flatten)]
    pub(crate) connections: ConnectionArgs,
}

/// How the endpoint is reached. Proxies are taken from the environment, as curl takes them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ConnectionArgs {
    /// How requests are shared among several --base-url.
    #[arg(long, value_parser = choice(&BALANCES), default_value = "round-robin")]
    pub(crate) balance: Balance,
    /// Trust the certificates in this PEM file too, and those that they signed.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// Check no certificate: whoever sits on the way can read and change everything.
    #[arg(long, conflicts_with = "ca_cert")]
    pub(crate) insecure: bool,
    /// Make a connection for each request, and close it after. The time it takes is apart from the latencies.
    #[arg(long)]
    pub(crate) new_connection_per_request: bool,
    /// The version of HTTP; 2 without TLS is spoken by prior knowledge.
    #[arg(long, value_enum, default_value_t = HttpVersionArg::Http11)]
    pub(crate) http_version: HttpVersionArg,
    /// With HTTP/2, the most requests at a time on one connection; when all are full, another one is made.
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) http2_streams: NonZeroU32,
    /// Stamp arrivals in this process even where the kernel would, to see the difference.
    #[arg(long)]
    pub(crate) user_stamps: bool,
}

const BALANCES: [Word<Balance>; 2] = [
    ("round-robin", Balance::RoundRobin, "By the request's number"),
    ("least-in-flight", Balance::LeastInFlight, "To the one with the fewest requests in flight"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpVersionArg {
    #[value(name = "1.1")]
    Http11,
    #[value(name = "2")]
    Http2,
}
