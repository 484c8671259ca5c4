//! Which endpoint, and how to speak to it.

use clap::Args;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct EndpointArgs {
    /// What the server is: vllm, openai, sglang, trtllm, triton, tgi, llama.cpp, ollama, anthropic, gemini, ...; some take
    /// the chat route by another name, such as vllm-chat. An unknown one is answered with all that there are; auto finds
    /// out by a few tiny requests, and takes the model's name from the server if it has only one.
    #[arg(long, alias = "endpoint-type", default_value = "vllm", env = "FIZEAU_BACKEND")]
    pub(crate) backend: String,
    /// Where the server is, such as http://127.0.0.1:8000.
    #[arg(long, env = "FIZEAU_BASE_URL")]
    pub(crate) base_url: Option<String>,
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
    pub(crate) api_key_file: Option<std::path::PathBuf>,
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
}
