//! From arguments to an endpoint, and what a person is told of it.

use fizeau::core::Nanos;
use fizeau::experiment::{
    ConnectionSpec, ContextLimit, EndpointSpec, ExtraHeader, PreflightStep, PreparedEndpoint,
    TrustSpec, check_context, preflight,
};
use fizeau::transport::{
    Balance, ConnectionUse, HttpVersion, KeepText, MonotonicClock, Proxy, Secret, StampChoice,
    Target, Timeouts,
};
use fizeau::workload::Workload;

use crate::args::{BalanceArg, ConnectionArgs, EndpointArgs, HttpVersionArg};
use crate::exit::{Fail, Named};
use crate::terminal::progress::Waiting;

/// The endpoint that `args` name, at `base_urls`, for `model`. Nothing is sent.
pub(crate) fn call(
    args: &EndpointArgs,
    base_urls: &[String],
    model: &str,
    extra: &str,
    keep_text: KeepText,
) -> Result<PreparedEndpoint, Fail> {
    let mut endpoint = spec(args, base_urls, model, extra)?.prepare(keep_text)?;
    if args.connections.insecure {
        let certificates = endpoint.connections.certificates.iter_mut();
        certificates.for_each(|how| how.push_str(" (--insecure)"));
    }
    Ok(endpoint)
}

/// As [`call`], before anything is read but the API key.
pub(crate) fn spec(
    args: &EndpointArgs,
    base_urls: &[String],
    model: &str,
    extra: &str,
) -> Result<EndpointSpec, Fail> {
    let mut spec = EndpointSpec::new("", model);
    spec.base_urls = base_urls.to_vec();
    spec.backend = args.backend.parse().named("--backend")?;
    spec.route.clone_from(&args.endpoint);
    spec.headers = args.headers.iter().map(|text| header(text)).collect::<Result<_, _>>()?;
    spec.api_key = api_key(args)?;
    spec.timeouts = timeouts(args)?;
    spec.connections = connections(&args.connections, proxy()?);
    extra.clone_into(&mut spec.extra_body);
    Ok(spec)
}

fn header(text: &str) -> Result<ExtraHeader, Fail> {
    let (name, value) = text
        .split_once(['=', ':'])
        .ok_or_else(|| Fail::usage("--header: write NAME=VALUE or \"NAME: VALUE\""))?;
    Ok(ExtraHeader::new(name.trim(), value.trim()))
}

/// From a file, or from the environment; never from the command line, which others can read.
fn api_key(args: &EndpointArgs) -> Result<Option<Secret>, Fail> {
    if let Some(path) = &args.api_key_file {
        let name = format!("--api-key-file {}", path.display());
        let text = std::fs::read_to_string(path).named(&name)?;
        return Ok(Some(Secret::new(text.trim())));
    }
    let from = ["FIZEAU_API_KEY", "OPENAI_API_KEY"];
    let mut keys = from.iter().filter_map(|name| std::env::var(name).ok());
    Ok(keys.find(|key| !key.is_empty()).map(Secret::new))
}

fn timeouts(args: &EndpointArgs) -> Result<Timeouts, Fail> {
    let seconds = |flag: &str, value: Option<f64>| match value {
        None => Ok(None),
        Some(0.0) => Err(Fail::usage(format!(
            "{flag}: 0 seconds are over at once; give more, or leave it out"
        ))),
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
pub(crate) fn connections(args: &ConnectionArgs, proxy: Proxy) -> ConnectionSpec {
    let mut spec = ConnectionSpec::default();
    spec.balance = match args.balance {
        BalanceArg::RoundRobin => Balance::RoundRobin,
        BalanceArg::LeastInFlight => Balance::LeastInFlight,
    };
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
    spec.proxy = proxy;
    spec
}

/// As [`connections`], where a proxy that cannot be used is refused later, by name.
pub(crate) fn reached(args: &ConnectionArgs) -> ConnectionSpec {
    connections(args, proxy().unwrap_or_default())
}

/// The proxies that the environment names.
pub(crate) fn proxy() -> Result<Proxy, Fail> {
    Proxy::from_variables(|name| std::env::var(name).ok()).map_err(Fail::usage)
}

/// Says what a person might not expect of where the requests to `urls` go; before the first of them leaves.
pub(crate) fn announce(args: &ConnectionArgs, urls: &[String]) {
    let reached = reached(args);
    if reached.is_unchecked(urls) {
        tell!(
            "warning: --insecure: no certificate is checked; whoever sits on the way can read and change everything, the \
             API key among it"
        );
    }
    for proxy in reached.proxies(urls) {
        tell!(
            "note: requests go through the proxy {proxy}, as the environment says; its time is in every figure (NO_PROXY \
             names hosts to reach directly)"
        );
    }
}

/// Refuses, by `check`, a workload that is too long for the model as the server says, where nobody else has said how much it
/// takes; then asks each server for one reply, on a connection of its own.
pub(crate) async fn check(
    target: &Target,
    known: Option<&ContextLimit>,
    plan: &dyn Workload,
    check: impl FnOnce(&ContextLimit) -> Result<(), Fail>,
) -> Result<(), Fail> {
    if known.is_none() {
        check_context(target, check).await?;
    }
    let watch = |step: PreflightStep<'_>| match step {
        PreflightStep::Asking(url) => Some(Waiting::for_reply(url)),
        PreflightStep::Note(note) => {
            tell!("note: {note}");
            None
        }
        _ => None,
    };
    preflight(target, MonotonicClock::new(), plan, watch).await?;
    Ok(())
}

/// The target that `args` lead to, without an endpoint at hand: for what must be known before one is started.
pub(crate) fn nowhere(args: &EndpointArgs) -> Result<Target, Fail> {
    Ok(call(args, &["http://127.0.0.1:1".to_owned()], "", "{}", KeepText::No)?.target)
}
