//! What was run, read back from `run.json`.

use fizeau::core::PerSec;
use fizeau::metrics::CacheExpectation;
use fizeau::record::{
    Asked, AskedArrivals, Connections, Endpoint, Engine, Host, Setup, ToolVersion, Workload,
};
use fizeau::record::{RunRecord, StoredLevel};

/// What a list of texts holds.
pub(super) fn list(record: &RunRecord, path: &str) -> Vec<String> {
    let item = |i| record.text(&format!("{path}[{i}]"));
    (0_u32..).map_while(item).collect()
}

/// The prompt's nominal length; zero where it was not known before the run.
pub(super) fn typical_prompt(record: &RunRecord) -> u64 {
    record.get("lengths.input.p50").and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// The arrivals and cache hits that were asked for, which `run.json` and a summary have under different paths.
pub(super) fn asked(record: &RunRecord, path: &str) -> Asked {
    let name = |name: &str| format!("{path}.{name}");
    let number = |field: &str| record.number(&name(field));
    // An object of unknown numbers is one all the same: the loop was open.
    let is_open = ["rate_per_s", "cv_squared"]
        .iter()
        .any(|field| record.get(&name(&format!("arrivals.{field}"))).is_some());
    Asked {
        arrivals: is_open.then(|| AskedArrivals {
            rate: number("arrivals.rate_per_s").map(PerSec::new),
            cv_squared: number("arrivals.cv_squared"),
        }),
        cache: match (record.text(&name("cache")).as_deref(), number("cached_share")) {
            (Some("share"), Some(share)) => CacheExpectation::Share(share),
            (Some("reuse"), _) => CacheExpectation::Reuse,
            _ => CacheExpectation::None,
        },
    }
}

/// That of a level: in an A/B run the turns of B have an endpoint of their own.
pub(super) fn of_level(record: &RunRecord, level: &StoredLevel) -> Setup {
    if record.get("ab.rounds").is_some() && level.name().starts_with("b-") {
        return setup(&record.moved("ab.b_endpoint", "setup.endpoint"));
    }
    setup(record)
}

/// All of it; a text that is missing is empty.
pub(crate) fn setup(record: &RunRecord) -> Setup {
    let maybe = |path: &str| record.text(&format!("setup.{path}"));
    let text = |path: &str| maybe(path).unwrap_or_default();
    let number = |path: &str| record.get(&format!("setup.{path}"))?.parse::<u64>().ok();
    let small = |n: u64| u32::try_from(n).ok();
    Setup {
        tool: ToolVersion {
            name: text("tool.name"),
            version: text("tool.version"),
            commit: maybe("tool.commit"),
        },
        started: text("started"),
        command_line: list(record, "setup.command_line"),
        endpoint: Endpoint {
            base_url: text("endpoint.base_url"),
            path: text("endpoint.path"),
            backend: text("endpoint.backend"),
            model: text("endpoint.model"),
            connections: connections(record),
        },
        engine: match maybe("engine.kind").as_deref() {
            Some("simulated") => Engine::Simulated { description: text("engine.description") },
            _ => Engine::Remote { description: maybe("engine.description") },
        },
        workload: Workload {
            dataset: text("workload.dataset"),
            input_tokens: text("workload.input_tokens"),
            output_tokens: text("workload.output_tokens"),
            seed: number("workload.seed"),
            arrivals: text("workload.arrivals"),
            asked: asked(record, "setup.workload.asked"),
        },
        host: Host {
            os: text("host.os"),
            cpu: maybe("host.cpu"),
            cores: number("host.cores").and_then(small),
        },
        model_config: maybe("model_config"),
        hardware: maybe("hardware"),
        deployment: maybe("deployment"),
        precision: maybe("precision"),
    }
}

fn connections(record: &RunRecord) -> Connections {
    let path = |name: &str| format!("setup.endpoint.connections.{name}");
    let maybe = |name: &str| record.text(&path(name));
    Connections {
        also_at: list(record, &path("also_at")),
        balance: maybe("balance"),
        http_version: maybe("http_version").unwrap_or_default(),
        http2_streams: record.get(&path("http2_streams")).and_then(|n| n.parse().ok()),
        lifetime: maybe("lifetime").unwrap_or_default(),
        certificates: maybe("certificates"),
        proxies: list(record, &path("proxies")),
        stamps: maybe("stamps").unwrap_or_default(),
    }
}
