//! Which endpoint, and how to speak to it.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use fizeau::transport::LoadBalancing;

use super::choice::choice;
use super::values::{host, seconds};
use crate::exit::Fail;

/// Where the one server is that a command measures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct TargetArgs {
    /// The server's address, such as `http://127.0.0.1:8000` or `https://api.example.com`. Identical servers share the requests:
    /// give the flag for each, or put commas between their addresses.
    #[arg(long, value_name = "URL", env = "FIZEAU_BASE_URL", value_delimiter = ',')]
    pub(crate) base_url: Vec<String>,
    /// Whether the line itself says so, and not the environment alone, which is nobody's wish for this line.
    #[arg(skip)]
    pub(crate) is_url_typed: bool,
    /// The server's host, instead of --base-url; 127.0.0.1 where only --port is given.
    #[arg(long, value_parser = host, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// The server's port, instead of --base-url; 8000 where only --host is given.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

impl TargetArgs {
    /// Whether --host or --port says where the server is.
    pub(crate) const fn names_host(&self) -> bool {
        self.host.is_some() || self.port.is_some()
    }

    /// Whether the line says where the server is.
    pub(crate) const fn is_typed(&self) -> bool {
        self.is_url_typed || self.names_host()
    }

    /// Lets what the line says stand before what the environment says.
    pub(crate) fn settle(&mut self) -> Result<(), Fail> {
        if !self.names_host() {
            return Ok(());
        }
        let flag = if self.port.is_some() { "--port" } else { "--host" };
        refuse_if!(
            self.is_url_typed,
            "{flag}: --base-url says where the server is; give one or the other"
        );
        self.base_url.clear();
        Ok(())
    }

    /// Where the servers are; none where nobody says.
    pub(crate) fn urls(&self) -> Vec<String> {
        match (&*self.base_url, self.names_host()) {
            ([], true) => vec![self.host_url()],
            (urls, _) => urls.to_vec(),
        }
    }

    /// The address that --host and --port make, with their defaults.
    pub(crate) fn host_url(&self) -> String {
        let (host, port) = (self.host.as_deref().unwrap_or("127.0.0.1"), self.port.unwrap_or(8000));
        match host.contains(':') {
            true => format!("http://[{host}]:{port}"),
            false => format!("http://{host}:{port}"),
        }
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct EndpointArgs {
    /// The kind of server: vllm, openai, sglang, trtllm, triton, tgi, llama.cpp, ollama, anthropic, gemini, ...; some use the
    /// chat route under another name, such as vllm-chat. An unknown kind is answered with the list of all. With auto, a few tiny
    /// requests find the kind out, and the model's name too if the server has only one.
    #[arg(long, alias = "endpoint-type", value_name = "KIND", default_value = "vllm")]
    #[arg(env = "FIZEAU_BACKEND")]
    pub(crate) backend: String,
    /// The route, such as /v1/chat/completions; by default the usual one of --backend.
    #[arg(long, value_name = "ROUTE")]
    pub(crate) endpoint: Option<String>,
    /// The model's name, as the server knows it.
    #[arg(long, value_name = "NAME", env = "FIZEAU_MODEL")]
    pub(crate) model: Option<String>,
    /// The name to put into requests, where it differs from --model.
    #[arg(long, value_name = "NAME")]
    pub(crate) served_model_name: Option<String>,
    /// An extra header, as NAME=VALUE or "NAME: VALUE". Its value is never written to a file.
    #[arg(long = "header", value_name = "NAME=VALUE", num_args = 1..)]
    pub(crate) headers: Vec<String>,
    /// A file that holds the API key. Without it, FIZEAU_API_KEY or OPENAI_API_KEY is used if it is set.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Give a connection up after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 10.0)]
    pub(crate) connect_timeout: f64,
    /// Give a request up if its first token takes longer than this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) first_token_timeout: Option<f64>,
    /// Give a request up if no token comes for this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) idle_timeout: Option<f64>,
    /// Give a request up after this many seconds in all.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 21_600.0)]
    pub(crate) timeout: f64,
    /// Empty the prefix cache of the server before each level (and each turn of `ab`): /reset_prefix_cache of vLLM, /flush_cache of
    /// SGLang. The run ends if it cannot be emptied.
    #[arg(long)]
    pub(crate) reset_cache: bool,
    #[command(flatten)]
    pub(crate) connections: ConnectionArgs,
}

/// How the endpoint is reached. Proxies are taken from the environment, as curl takes them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ConnectionArgs {
    /// How several servers share the requests.
    #[arg(long, value_parser = choice::<LoadBalancing>(), value_name = "HOW", default_value = "round-robin")]
    pub(crate) balance: LoadBalancing,
    /// Trust the certificates in this PEM file too, and those that they signed.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// Check no certificate: anybody between here and the server can then read and change everything.
    #[arg(long, conflicts_with = "ca_cert")]
    pub(crate) insecure: bool,
    /// Open a connection for each request and close it afterwards. The time that this takes is reported apart from the latencies.
    #[arg(long)]
    pub(crate) new_connection_per_request: bool,
    /// The version of HTTP. Without TLS, version 2 is spoken without being negotiated.
    #[arg(long, value_parser = ["1.1", "2"], value_name = "VERSION", default_value = "1.1")]
    pub(crate) http_version: String,
    /// With HTTP/2, the most requests at a time on one connection; when all are full, another one is opened.
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) http2_streams: NonZeroU32,
    /// Take the times of arrival in this process even where the kernel would take them, to see the difference.
    #[arg(long)]
    pub(crate) user_stamps: bool,
}
