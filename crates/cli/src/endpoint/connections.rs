//! How the endpoint is reached: from arguments and the environment to a target, the screen and the record.

use fizeau::record::Connections;
use fizeau::transport::{
    Balance, ConnectionUse, HttpVersion, Proxy, ProxyError, StampChoice, Target, Trust,
};

use crate::args::{BalanceArg, ConnectionArgs, HttpVersionArg};
use crate::client::Wanted;
use crate::exit::{Fail, Named};

/// `target`, reached as `args` and the environment say.
pub(super) fn apply(target: Target, args: &ConnectionArgs) -> Result<Target, Fail> {
    let target = target
        .proxy(proxy().map_err(Fail::usage)?)
        .balance(match args.balance {
            BalanceArg::RoundRobin => Balance::RoundRobin,
            BalanceArg::LeastInFlight => Balance::LeastInFlight,
        })
        .connection_use(connection_use(args))
        .http_version(match args.http_version {
            HttpVersionArg::Http11 => HttpVersion::Http11,
            HttpVersionArg::Http2 => HttpVersion::Http2 { streams: args.http2_streams },
        })
        .stamps(stamps(args));
    match &args.ca_cert {
        _ if args.insecure => target.trust(&Trust::Insecure).named("--insecure"),
        None => Ok(target),
        Some(path) => {
            let name = format!("--ca-cert {}", path.display());
            let pem = std::fs::read(path).named(&name)?;
            target.trust(&Trust::Pem(pem)).named(&name)
        }
    }
}

/// Says what a person might not expect of where the requests to `urls` go; before the first of them leaves.
pub(crate) fn announce(args: &ConnectionArgs, urls: &[String]) {
    if args.insecure && urls.iter().any(|url| is_tls(url)) {
        tell!(
            "warning: --insecure: no certificate is checked; whoever sits on the way can read and change everything, the \
             API key among it"
        );
    }
    // A proxy that cannot be used is refused later, by name.
    let proxy = proxy().unwrap_or_default();
    let mut proxies: Vec<String> = urls.iter().filter_map(|url| proxy.of(url)).collect();
    proxies.sort_unstable();
    proxies.dedup();
    for proxy in proxies {
        tell!(
            "note: requests go through the proxy {proxy}, as the environment says; its time is in every figure (NO_PROXY \
             names hosts to reach directly)"
        );
    }
}

/// What a run with `in_flight` requests at `urls` wants of connections.
pub(crate) fn wanted(args: &ConnectionArgs, urls: &[String], in_flight: u64) -> Wanted {
    // Several servers behind one proxy are one address. One that cannot be used is refused later, by name.
    let proxy = proxy().unwrap_or_default();
    let mut addresses: Vec<String> =
        urls.iter().map(|url| proxy.of(url).unwrap_or_else(|| url.clone())).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let is_shared = args.http_version == HttpVersionArg::Http2 && !args.new_connection_per_request;
    Wanted {
        in_flight,
        addresses: addresses.len().max(1) as u64,
        streams: is_shared.then_some(args.http2_streams),
    }
}

/// `target` with what of `args` the embedded server can follow: how arrivals are stamped, and how long a connection lasts.
pub(crate) fn apply_plain(target: Target, args: &ConnectionArgs) -> Target {
    target.connection_use(connection_use(args)).stamps(stamps(args))
}

const fn connection_use(args: &ConnectionArgs) -> ConnectionUse {
    if args.new_connection_per_request { ConnectionUse::PerRequest } else { ConnectionUse::Reuse }
}

const fn stamps(args: &ConnectionArgs) -> StampChoice {
    if args.user_stamps { StampChoice::User } else { StampChoice::KernelIfAvailable }
}

fn proxy() -> Result<Proxy, ProxyError> {
    Proxy::from_variables(|name| std::env::var(name).ok())
}

fn is_tls(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.trim().eq_ignore_ascii_case("https"))
}

/// For the record.
pub(super) fn describe(target: &Target, args: &ConnectionArgs) -> Connections {
    let also_at: Vec<String> =
        target.urls().skip(1).map(|url| super::split(&url).0.to_owned()).collect();
    let balance = match args.balance {
        BalanceArg::RoundRobin => "round_robin",
        BalanceArg::LeastInFlight => "least_in_flight",
    };
    let streams = match args.http_version {
        HttpVersionArg::Http11 => None,
        HttpVersionArg::Http2 => Some(args.http2_streams.get()),
    };
    Connections {
        balance: (!also_at.is_empty()).then(|| balance.to_owned()),
        also_at,
        http_version: streams.map_or("1.1", |_| "2").to_owned(),
        http2_streams: streams,
        lifetime: if args.new_connection_per_request { "one request" } else { "kept" }.to_owned(),
        certificates: target.urls().any(|url| is_tls(&url)).then(|| match &args.ca_cert {
            _ if args.insecure => "NOT checked (--insecure)".to_owned(),
            None => "checked".to_owned(),
            Some(path) => format!("checked, also by {}", path.display()),
        }),
        proxies: target.proxies(),
        stamps: if args.user_stamps { "user" } else { "kernel if available" }.to_owned(),
    }
}
