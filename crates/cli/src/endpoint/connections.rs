//! How the endpoint is reached: from arguments and the environment to a target, the screen and the record.

use fizeau::report::Connections;
use fizeau::transport::{Balance, ConnectionUse, HttpVersion, Proxy, StampChoice, Target, Trust};

use crate::args::{BalanceArg, ConnectionArgs, HttpVersionArg};
use crate::exit::{Fail, Named};

/// `target`, reached as `args` and the environment say.
pub(super) fn apply(target: Target, args: &ConnectionArgs) -> Result<Target, Fail> {
    let proxy = Proxy::from_variables(|name| std::env::var(name).ok()).map_err(Fail::usage)?;
    let target = target
        .proxy(proxy)
        .balance(match args.balance {
            BalanceArg::RoundRobin => Balance::RoundRobin,
            BalanceArg::LeastInFlight => Balance::LeastInFlight,
        })
        .connection_use(if args.new_connection_per_request {
            ConnectionUse::PerRequest
        } else {
            ConnectionUse::Reuse
        })
        .http_version(match args.http_version {
            HttpVersionArg::Http11 => HttpVersion::Http11,
            HttpVersionArg::Http2 => HttpVersion::Http2 { streams: args.http2_streams },
        })
        .stamps(if args.user_stamps { StampChoice::User } else { StampChoice::KernelIfAvailable });
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

/// Says what a person might not expect of where the requests go.
pub(super) fn announce(target: &Target) {
    if target.is_insecure() {
        eprintln!(
            "warning: --insecure: no certificate is checked; whoever sits on the way can read and change everything, the \
             API key among it"
        );
    }
    for proxy in target.proxies() {
        eprintln!(
            "note: requests go through the proxy {proxy}, as the environment says; its time is in every figure (NO_PROXY \
             names hosts to reach directly)"
        );
    }
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
    let is_tls = target.urls().any(|url| url.starts_with("https://"));
    Connections {
        balance: (!also_at.is_empty()).then(|| balance.to_owned()),
        also_at,
        http_version: streams.map_or("1.1", |_| "2").to_owned(),
        http2_streams: streams,
        lifetime: if args.new_connection_per_request { "one request" } else { "kept" }.to_owned(),
        certificates: is_tls.then(|| match &args.ca_cert {
            _ if args.insecure => "NOT checked (--insecure)".to_owned(),
            None => "checked".to_owned(),
            Some(path) => format!("checked, also by {}", path.display()),
        }),
        proxies: target.proxies(),
        stamps: if args.user_stamps { "user" } else { "kernel if available" }.to_owned(),
    }
}
