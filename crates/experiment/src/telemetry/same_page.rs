//! Whether two addresses are of one page.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use super::host;
use crate::endpoint::split_url;

/// Whether pages at `one` and `other`, without queries, are one: addresses that are alike, or of one path on one socket. Of two names
/// the socket tells nothing, since a gateway may have a server for each.
pub(super) fn is_same_page(one: &str, other: &str) -> bool {
    let (own, its) = (split_url(one), split_url(other));
    let is_number = |origin: &str| {
        let host = host(origin);
        host == "localhost" || bare(host).parse::<IpAddr>().is_ok()
    };
    let is_on_one_socket = || {
        let its = sockets(its.0);
        sockets(own.0).iter().any(|socket| its.contains(socket))
    };
    let has_one_path = own.1 == its.1;
    one == other || has_one_path && (is_number(own.0) || is_number(its.0)) && is_on_one_socket()
}

/// Where a server listens; nowhere if its name is not known.
fn sockets(origin: &str) -> Vec<SocketAddr> {
    let port = origin.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let usual = if origin.starts_with("https:") { 443 } else { 80 };
    let port: u16 = port.unwrap_or(usual);
    (bare(host(origin)), port).to_socket_addrs().map_or_else(|_| Vec::new(), Iterator::collect)
}

/// An address without the brackets that set it apart from a port.
fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::is_same_page;

    #[test]
    fn a_page_is_known_by_its_socket_and_path() {
        for (one, other, same) in [
            ("http://localhost:8000/metrics", "http://127.0.0.1:8000/metrics", true),
            ("http://[::1]:80/m", "http://[::1]/m", true),
            ("http://127.0.0.1:8000/metrics", "http://127.0.0.1:8001/metrics", false),
            ("http://127.0.0.1:8000/metrics", "http://localhost:8000/m", false),
            ("http://a.invalid/m", "http://a.invalid/m", true),
            ("http://a.invalid/m", "http://b.invalid/m", false),
        ] {
            assert_eq!(is_same_page(one, other), same, "{one} {other}");
        }
    }
}
