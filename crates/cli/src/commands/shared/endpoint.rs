//! From arguments to an endpoint.

use fizeau::core::Nanos;
use fizeau::experiment::{CacheBeforeLevel, ConnectionSpec, EndpointSpec, TrustSpec};
use fizeau::transport::{ConnectionUse, HttpVersion, Proxy, Secret, StampChoice, Timeouts};

use crate::args::{ConnectionArgs, EndpointArgs, SamplingArgs};
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
    spec.connections = connections(&args.connections);
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
fn connections(args: &ConnectionArgs) -> ConnectionSpec {
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
    if args.http_version == "2" {
        spec.http_version = HttpVersion::Http2 { streams: args.http2_streams };
    }
    if args.user_stamps {
        spec.stamps = StampChoice::User;
    }
    spec.proxy = proxy();
    spec
}

/// The proxies that the environment names.
pub(crate) fn proxy() -> Proxy {
    Proxy::from_variables(|name| std::env::var(name).ok())
}
