//! Which requests go through which proxy.

use fizeau_transport::Proxy;

fn proxy(variables: &[(&str, &str)]) -> Proxy {
    Proxy::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[track_caller]
fn check(variables: &[(&str, &str)], url: &str, expected: Option<&str>) {
    let via = proxy(variables).of(url).unwrap();
    assert_eq!(via.as_deref(), expected, "{variables:?} {url}");
}

#[test]
fn each_scheme_has_its_variable_and_all_proxy_stands_in() {
    let both = [("http_proxy", "http://h:1"), ("all_proxy", "a:2")];
    check(&both, "http://x", Some("http://h:1"));
    check(&[("ALL_PROXY", "a:2")], "http://x", Some("http://a:2"));
    check(&[("HTTPS_PROXY", "s:3")], "http://x", None);
    check(&[("HTTP_PROXY", "h:1")], "http://x", None);
    check(&[("http_proxy", " "), ("ALL_PROXY", "a:2")], "http://x", Some("http://a:2"));
    check(&[("all_proxy", "a:1"), ("ALL_PROXY", "b:2")], "http://x", Some("http://a:1"));
}

#[test]
#[cfg(feature = "tls")]
fn the_variable_for_tls_may_be_in_either_case() {
    check(&[("HTTPS_PROXY", "s:3")], "https://x", Some("http://s:3"));
    check(&[("https_proxy", "t:4"), ("HTTPS_PROXY", "s:3")], "https://x", Some("http://t:4"));
    check(&[("http_proxy", "h:1")], "https://x", None);
}

#[test]
fn exceptions_name_hosts_domains_and_ports() {
    let direct = |exceptions: &str, url: &str| {
        check(&[("http_proxy", "p:1"), ("no_proxy", exceptions)], url, None);
    };
    let proxied = |exceptions: &str, url: &str| {
        check(&[("http_proxy", "p:1"), ("NO_PROXY", exceptions)], url, Some("http://p:1"));
    };
    for exceptions in [
        "*",
        "example.com",
        ".example.com",
        "*.example.com",
        "a, EXAMPLE.com",
        "b a.example.com:80",
    ] {
        direct(exceptions, "http://a.example.com");
    }
    for exceptions in ["", "ample.com", "a.example.com:81", "example", "b.a.example.com"] {
        proxied(exceptions, "http://a.example.com");
    }
    direct("10.0.0.1", "http://10.0.0.1:8000");
    direct("fe80::1", "http://[fe80::1]:8000");
    direct("[fe80::1]:8000", "http://[fe80::1]:8000");
    proxied("0.0.1", "http://10.0.0.1:8000");
    proxied("10.0.0.1:8001", "http://10.0.0.1:8000");
    for network in ["10.0.0.0/8", "10.200.3.0/24", "0.0.0.0/0", "10.200.3.4/32", "x 10.200.3.5/31"]
    {
        direct(network, "http://10.200.3.4:8000");
    }
    for network in ["11.0.0.0/8", "10.200.3.5/32", "10.0.0.0/33", "10.0.0.0/", "::/0", "a/8"] {
        proxied(network, "http://10.200.3.4:8000");
    }
    direct("fd00::/8", "http://[fdab::1]:8000");
    direct("::/0", "http://[fdab::1]:8000");
    proxied("fe00::/8", "http://[fdab::1]:8000");
    proxied("10.0.0.0/8", "http://10.example.com");
}

#[test]
fn loopback_is_never_proxied() {
    for url in
        ["http://localhost:8000", "http://127.8.0.1:8000", "http://[::1]", "http://a.LOCALHOST."]
    {
        check(&[("all_proxy", "p:1")], url, None);
    }
    for url in ["http://localhost.com", "http://10.0.0.1", "http://[::2]"] {
        check(&[("all_proxy", "p:1")], url, Some("http://p:1"));
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_by_the_name_of_its_variable() {
    let cases = [
        ("socks5://h:1", "not an HTTP proxy"),
        ("https://h:1", "not an HTTP proxy"),
        ("http://h", "no port"),
        ("http://h:x", "port"),
        ("http://s3cret:s3cret@:1", "no host"),
    ];
    for (url, why) in cases {
        let error = proxy(&[("all_proxy", url)]).of("http://x").unwrap_err().to_string();
        assert!(error.contains("all_proxy") && error.contains(why), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
        // A variable that plays no part refuses nothing.
        check(&[("all_proxy", url)], "http://localhost:8000", None);
        check(&[("all_proxy", url), ("no_proxy", "*")], "http://x", None);
        check(&[("https_proxy", url), ("http_proxy", "h:1")], "http://x", Some("http://h:1"));
    }
}

#[test]
fn credentials_are_never_shown() {
    let proxy = proxy(&[("http_proxy", "http://me:s3cret@h:1/")]);
    assert_eq!(proxy.of("http://x").unwrap().as_deref(), Some("http://***@h:1"));
    assert!(!format!("{proxy:?}").contains("s3cret"));
}
