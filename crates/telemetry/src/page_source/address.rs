//! Addresses of pages.

/// The parts of an address that may be shown: all but the user's name and password, and the query, either of which may hold a key.
pub(super) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{path}")
}

/// The address of the page at the base of an endpoint.
pub(super) fn below(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    // Endpoints are often given with the version of their API.
    let base = base.strip_suffix("/v1").unwrap_or(base);
    format!("{base}{path}")
}

#[cfg(test)]
mod tests {
    use super::{below, shown};

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        assert_eq!(shown("http://a:8000/metrics"), "http://a:8000/metrics");
        assert_eq!(shown("https://me:secret@a/m?key=secret#x"), "https://a/m");
        assert_eq!(shown("me:secret@a"), "a");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn the_page_is_beside_the_api() {
        assert_eq!(below("http://a/v1/", "/metrics"), "http://a/metrics");
        assert_eq!(below("http://a", "/prometheus/metrics"), "http://a/prometheus/metrics");
    }
}
