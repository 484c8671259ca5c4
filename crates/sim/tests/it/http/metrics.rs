//! `GET /metrics`, read by the grammar of Prometheus's text format.

use std::collections::BTreeMap;

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::http::ServerConfig;
use fizeau_sim::{Engine, EngineConfig, PrefixCaching, ReplicaRouting, Replicas, StepLoad};
use serde_json::json;

use super::client::{get, post};
use super::{fixed, serve};

/// The samples of one text, by name and labels, and each family's type.
#[derive(Debug, Default)]
struct Scrape {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<(String, Vec<(String, String)>), f64>,
}

impl Scrape {
    /// Reads a text: comments before the samples of their family, one sample a line.
    fn of(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line ends too");
        let mut scrape = Self::default();
        let mut family = String::new();
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, words) = help.split_once(' ').expect("a name and a text");
                assert!(!words.is_empty());
                family = name.to_owned();
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("a name and a type");
                assert_eq!(name, family, "HELP and TYPE are of one family");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                let before = scrape.kinds.insert(name.to_owned(), kind.to_owned());
                assert_eq!(before, None, "a family comes once");
            } else {
                let (name, labels, value) = sample(line);
                let ending = name.strip_prefix(&family).expect("a sample of the family");
                let histogram = scrape.kinds[&family] == "histogram";
                let endings: &[_] = if histogram { &["_bucket", "_sum", "_count"] } else { &[""] };
                assert!(endings.contains(&ending), "{line}");
                assert_eq!(scrape.samples.insert((name, labels), value), None, "{line}");
            }
        }
        scrape
    }

    /// The one sample called `name`.
    fn value(&self, name: &str) -> f64 {
        let mut values = self.samples.iter().filter(|((of, _), _)| of == name);
        let (_, value) = values.next().unwrap_or_else(|| panic!("no {name}"));
        assert!(values.next().is_none(), "one {name}");
        *value
    }

    /// The buckets of a histogram: each edge and the count up to it.
    fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let name = format!("{name}_bucket");
        let buckets = self.samples.iter().filter(|((of, _), _)| *of == name);
        let mut buckets: Vec<_> = buckets
            .map(|((_, labels), count)| {
                let le = labels.iter().find(|(label, _)| label == "le").expect("an edge");
                (le.1.parse::<f64>().unwrap(), *count)
            })
            .collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        buckets
    }
}

/// `name{label="value",...} number`.
fn sample(line: &str) -> (String, Vec<(String, String)>, f64) {
    let (name, rest) = line.split_once('{').expect("labels");
    let word = |text: &str, more: &str| {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || more.contains(c);
        text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit())
    };
    assert!(word(name, ":"), "{line}");
    let (mut labels, mut rest) = (Vec::new(), rest);
    loop {
        let (label, after) = rest.split_once("=\"").expect("a label");
        assert!(word(label, ""), "{line}");
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next().expect("the end of a value") {
                (at, '"') => break at + 1,
                (_, '\\') => match chars.next().expect("what is escaped").1 {
                    'n' => value.push('\n'),
                    c @ ('"' | '\\') => value.push(c),
                    c => panic!("\\{c} is no escape: {line}"),
                },
                (_, c) => value.push(c),
            }
        };
        labels.push((label.to_owned(), value));
        match after[end..].strip_prefix(',') {
            Some(more) => rest = more,
            None => {
                let number = after[end..].strip_prefix("} ").expect("a number");
                return (name.to_owned(), labels, number.parse().unwrap());
            }
        }
    }
}

fn scrape(server: &fizeau_sim::http::ServerHandle) -> Scrape {
    let reply = get(server.addr(), "/metrics");
    assert!(reply.head.contains("content-type: text/plain; version=0.0.4"), "{}", reply.head);
    Scrape::of(&reply.body)
}

#[test]
fn a_fresh_server_has_all_families_and_counted_nothing() {
    let server = serve(ServerConfig::new(fixed()).with_model("a \"name\" with \\ and\nmore"));
    let scrape = scrape(&server);
    for ((name, labels), value) in &scrape.samples {
        assert_eq!(*value, 0.0, "{name}");
        assert!(labels.contains(&("engine".to_owned(), "0".to_owned())), "{name}");
        let model = labels.iter().find(|(label, _)| label == "model_name").unwrap();
        assert_eq!(model.1, "a \"name\" with \\ and\nmore");
    }
    for (name, kind) in [
        ("num_requests_running", "gauge"),
        ("num_requests_waiting", "gauge"),
        ("kv_cache_usage_perc", "gauge"),
        ("num_preemptions_total", "counter"),
        ("prompt_tokens_total", "counter"),
        ("generation_tokens_total", "counter"),
        ("request_success_total", "counter"),
        ("time_to_first_token_seconds", "histogram"),
        ("time_per_output_token_seconds", "histogram"),
        ("inter_token_latency_seconds", "histogram"),
        ("e2e_request_latency_seconds", "histogram"),
        ("request_queue_time_seconds", "histogram"),
        ("request_prefill_time_seconds", "histogram"),
        ("request_decode_time_seconds", "histogram"),
        ("request_prompt_tokens", "histogram"),
        ("request_generation_tokens", "histogram"),
        ("num_requests_waiting_by_reason", "gauge"),
        ("prompt_tokens_by_source_total", "counter"),
        ("prompt_tokens_cached_total", "counter"),
        ("iteration_tokens_total", "histogram"),
    ] {
        assert_eq!(scrape.kinds.get(&format!("vllm:{name}")).map(String::as_str), Some(kind));
    }
}

/// Each engine has a series of its own in every family.
#[test]
fn replicas_are_told_apart() {
    let one = || {
        Engine::new(EngineConfig::new(1, Tokens::new(1_600)), |_: &StepLoad| Nanos::from_secs(600))
    };
    let engines = vec![one().unwrap(), one().unwrap()];
    let two = Replicas::new(engines, ReplicaRouting::RoundRobin).unwrap();
    let server = serve(ServerConfig::new(two));
    let body = json!({"prompt": [1, 2, 3], "max_tokens": 5, "stream": true}).to_string();
    let held: Vec<_> = (0..3)
        .map(|_| {
            let mut client = super::send(server.addr(), "POST", "/v1/completions", &body);
            std::io::Read::read_exact(&mut client, &mut [0; 9]).unwrap();
            client
        })
        .collect();
    let scrape = scrape(&server);
    let engines = |name: &str| {
        let of =
            scrape.samples.iter().filter(|((of, _), _)| of.strip_prefix("vllm:") == Some(name));
        let engine = |labels: &[(String, String)]| {
            labels.iter().find(|(label, _)| label == "engine").unwrap().1.clone()
        };
        of.map(|((_, labels), value)| (engine(labels), *value)).collect::<BTreeMap<_, _>>()
    };
    let both =
        |zero: f64, one: f64| BTreeMap::from([("0".to_owned(), zero), ("1".to_owned(), one)]);
    assert_eq!(engines("num_requests_running"), both(1.0, 1.0));
    assert_eq!(engines("num_requests_waiting"), both(1.0, 0.0));
    let names = scrape.samples.keys().map(|(name, _)| name.strip_prefix("vllm:").unwrap());
    names.for_each(|name| assert_eq!(engines(name).len(), 2, "{name}"));
    drop(held);
}

/// Every instant is the engine's, so that the sums are known to the nanosecond: 2 ms to the first token, 1 ms between two.
#[test]
fn requests_are_counted_with_their_times() {
    let server = serve(ServerConfig::new(fixed()));
    for (path, stream) in [("/v1/completions", true), ("/v1/completions", false)] {
        let body = json!({"prompt": [1, 2, 3], "max_tokens": 5, "stream": stream});
        post(server.addr(), path, &body.to_string());
    }
    let scrape = scrape(&server);
    let value = |name: &str| scrape.value(&format!("vllm:{name}"));
    assert_eq!((value("prompt_tokens_total"), value("generation_tokens_total")), (6.0, 10.0));
    for (name, count, sum) in [
        ("time_to_first_token_seconds", 2.0, 0.004),
        ("inter_token_latency_seconds", 8.0, 0.008),
        ("request_time_per_output_token_seconds", 2.0, 0.002),
        ("e2e_request_latency_seconds", 2.0, 0.012),
        ("request_queue_time_seconds", 2.0, 0.0),
        ("request_prefill_time_seconds", 2.0, 0.004),
        ("request_decode_time_seconds", 2.0, 0.008),
        ("request_generation_tokens", 2.0, 10.0),
    ] {
        assert_eq!(value(&format!("{name}_count")), count, "{name}");
        assert!((value(&format!("{name}_sum")) - sum).abs() < 1e-12, "{name}");
        let buckets = scrape.buckets(&format!("vllm:{name}"));
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
        assert_eq!(buckets.last(), Some(&(f64::INFINITY, count)), "{name}");
    }
    let first = scrape.buckets("vllm:time_to_first_token_seconds");
    assert_eq!(first[..2], [(0.001, 0.0), (0.005, 2.0)]);
    let reasons = scrape.samples.iter().filter(|((name, _), _)| name.contains("request_success"));
    let counted: Vec<_> = reasons.filter(|(_, count)| **count > 0.0).collect();
    assert_eq!(counted.len(), 1);
    assert!(counted[0].0.1.contains(&("finished_reason".to_owned(), "length".to_owned())));
}

#[test]
fn the_engine_tells_how_full_it_is() {
    let config = EngineConfig {
        prefix_caching: PrefixCaching::On,
        ..EngineConfig::new(1, Tokens::new(16 * 100))
    };
    let step = |load: &StepLoad| match load.prefill_tokens {
        Tokens::ZERO => Nanos::from_secs(600),
        _ => Nanos::from_nanos(1),
    };
    let server = serve(ServerConfig::new(Engine::new(config, step).unwrap()));
    let body = |tokens: u32| json!({"prompt": vec![7; 40], "max_tokens": tokens, "stream": true});
    post(server.addr(), "/v1/completions", &body(1).to_string());
    // The first of these has the only slot, and its second token comes in ten minutes.
    let held: Vec<_> = (0..3)
        .map(|_| {
            let mut client =
                super::send(server.addr(), "POST", "/v1/completions", &body(9).to_string());
            std::io::Read::read_exact(&mut client, &mut [0; 9]).unwrap();
            client
        })
        .collect();
    let scrape = scrape(&server);
    let value = |name: &str| scrape.value(&format!("vllm:{name}"));
    assert_eq!((value("num_requests_running"), value("num_requests_waiting")), (1.0, 2.0));
    assert!((0.02..=0.04).contains(&value("kv_cache_usage_perc")));
    let by = |name: &str, label: (&str, &str)| {
        let label = (label.0.to_owned(), label.1.to_owned());
        let mut samples = scrape.samples.iter();
        let found = samples.find(|((of, labels), _)| {
            of.strip_prefix("vllm:") == Some(name) && labels.contains(&label)
        });
        *found.unwrap().1
    };
    assert_eq!(by("num_requests_waiting_by_reason", ("reason", "capacity")), 2.0);
    assert_eq!(by("num_requests_waiting_by_reason", ("reason", "deferred")), 0.0);
    assert_eq!(by("prompt_tokens_by_source_total", ("source", "local_cache_hit")), 32.0);
    assert_eq!(by("prompt_tokens_by_source_total", ("source", "local_compute")), 48.0);
    let size = [("block_size", "16"), ("num_gpu_blocks", "100"), ("kv_cache_size_tokens", "1600")];
    assert!(size.into_iter().all(|label| by("cache_config_info", label) == 1.0));
    let looked_up = (value("prefix_cache_queries_total"), value("prefix_cache_hits_total"));
    assert_eq!(looked_up, (80.0, 32.0));
    drop(held);
}
