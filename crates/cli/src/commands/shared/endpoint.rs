//! From arguments to an endpoint.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau::core::Nanos;
use fizeau::experiment::{
    BackendChoice, CacheBeforeLevel, ConnectionSpec, EndpointSpec, TrustSpec,
};
use fizeau::record::SpeedOfLightReference;
use fizeau::sim::Scenario;
use fizeau::sim::http::{Server, ServerConfig, ServerHandle};
use fizeau::transport::{
    Backend, ConnectionUse, HttpVersion, Proxy, Secret, StampChoice, Timeouts,
};

use crate::args::{ConnectionArgs, EndpointArgs, HttpVersionArg, SamplingArgs};
use crate::commands::shared::workload::sampling_body;
use crate::exit::{Fail, Named, read_named};

/// The endpoint that `args` name, at `base_urls`. Nothing is read but the API key.
pub(crate) fn spec(
    args: &EndpointArgs,
    base_urls: Vec<String>,
    sampling: &SamplingArgs,
) -> Result<EndpointSpec, Fail> {
    let model = args.served_model_name.as_ref().or(args.model.as_ref());
    let mut spec = EndpointSpec::new("", model.map_or("", String::as_str));
    spec.base_urls = base_urls;
    spec.backend = args.backend.parse().named("--backend")?;
    spec.route.clone_from(&args.endpoint);
    spec.headers = args
        .headers
        .iter()
        .map(|text| text.parse().named("--header"))
        .collect::<Result<_, Fail>>()?;
    spec.api_key = api_key(args)?;
    spec.timeouts = timeouts(args)?;
    spec.connections = connections(&args.connections)?;
    spec.extra_body = sampling_body(sampling)?;
    spec.logprobs = sampling.logprobs;
    if args.reset_cache {
        spec.cache = CacheBeforeLevel::Emptied;
    }
    Ok(spec)
}

/// From a file, or from the environment; never from the command line, which others can read.
fn api_key(args: &EndpointArgs) -> Result<Option<Secret>, Fail> {
    if let Some(path) = &args.api_key_file {
        let key = read_named("--api-key-file", path, "a file that holds the key alone")?;
        return Ok(Some(Secret::new(key.trim())));
    }
    let from = ["FIZEAU_API_KEY", "OPENAI_API_KEY"];
    let mut keys = from.iter().filter_map(|name| std::env::var(name).ok());
    Ok(keys.find(|key| !key.is_empty()).map(Secret::new))
}

fn timeouts(args: &EndpointArgs) -> Result<Timeouts, Fail> {
    let seconds = |flag: &str, value: Option<f64>| match value {
        None => Ok(None),
        Some(0.0) => Err(usage!("{flag}: 0 seconds are over at once; give more, or leave it out")),
        Some(value) => Nanos::from_secs_f64(value).map(Some).named(flag),
    };
    Ok(Timeouts {
        connect: seconds("--connect-timeout", Some(args.connect_timeout))?,
        first_token: seconds("--first-token-timeout", args.first_token_timeout)?,
        idle: seconds("--idle-timeout", args.idle_timeout)?,
        total: seconds("--timeout", Some(args.timeout))?,
    })
}

/// How the endpoint is reached.
fn connections(args: &ConnectionArgs) -> Result<ConnectionSpec, Fail> {
    let mut spec = ConnectionSpec::default();
    spec.balance = args.balance;
    spec.trust = match &args.ca_cert {
        _ if args.insecure => TrustSpec::Unchecked,
        None => TrustSpec::WebPki,
        Some(path) => TrustSpec::File(path.clone()),
    };
    if args.new_connection_per_request {
        spec.connection_use = ConnectionUse::PerRequest;
    }
    spec.http_version = match args.http_version {
        HttpVersionArg::Http11 => HttpVersion::Http11,
        HttpVersionArg::Http2 => HttpVersion::Http2 { streams: args.http2_streams },
    };
    if args.user_stamps {
        spec.stamps = StampChoice::User;
    }
    spec.proxy = proxy()?;
    Ok(spec)
}

/// The proxies that the environment names.
pub(crate) fn proxy() -> Result<Proxy, Fail> {
    Proxy::from_variables(|name| std::env::var(name).ok()).map_err(Fail::usage)
}

// The embedded engine: simulated, behind a real HTTP server on loopback.

/// A running engine; it ends when this is dropped.
pub(crate) struct Embedded {
    scenario: Scenario,
    server: ServerHandle,
}

impl Embedded {
    /// Starts the default scenario on a free port of loopback.
    pub(crate) fn start() -> Result<Self, Fail> {
        let scenario = Scenario::llama_3_1_8b_h100().map_err(Fail::broken)?;
        let config = ServerConfig::new(scenario.engine()).with_model(scenario.model_name());
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(loopback, config).map_err(Fail::broken)?;
        let server = server.spawn().map_err(Fail::broken)?;
        Ok(Self { scenario, server })
    }

    /// Makes `endpoint` this one. It speaks as vLLM does by default.
    pub(crate) fn stand_for(&self, endpoint: &mut EndpointSpec) {
        endpoint.base_urls = vec![self.server.base_url()];
        self.scenario.model_name().clone_into(&mut endpoint.model);
        if endpoint.backend == BackendChoice::Detected {
            endpoint.backend = Backend::Vllm.into();
        }
    }

    /// One line for reports, which says that it is simulated.
    pub(crate) fn describe(&self) -> String {
        self.scenario.describe()
    }

    /// Its speed of light.
    pub(crate) fn speed_of_light(&self) -> SpeedOfLightReference {
        SpeedOfLightReference::new(self.scenario.model_name(), self.scenario.system().clone())
    }
}
