//! What fields of `run.json` are called in a sentence.

/// Fields and what they are called; a field of a list stands here without its place in it.
const NAMES: [(&str, &str); 51] = [
    ("goodput", "goal of single requests"),
    ("lengths.input.law", "input length"),
    ("lengths.output.law", "output length"),
    ("levels[].arrivals.cv_squared", "squared coefficient of variation of the arrivals"),
    ("levels[].arrivals.rate_per_s", "arrival rate, requests/s"),
    ("levels[].load.concurrency", "concurrency"),
    ("levels[].load.requests_per_s", "rate, requests/s"),
    ("levels[].max_in_flight", "most requests in flight"),
    ("levels[].release_for_ms", "time"),
    ("levels[].requests", "requests"),
    ("levels[].seed", "seed"),
    ("levels[].slots_of_all", "slots of all shards"),
    ("levels[].until", "precision asked for"),
    ("levels[].warmup_requests", "warm-up requests"),
    ("levels[].window.cooldown", "cool-down left out"),
    ("levels[].window.warmup", "warm-up left out"),
    ("plan.arrivals", "arrivals"),
    ("plan.arrivals.gamma.burstiness", "burstiness"),
    ("plan.arrivals.gamma.rate_per_s", "arrival rate, requests/s"),
    ("plan.arrivals.gamma.rescale", "rescaling of the arrivals"),
    ("plan.dataset.path", "file of the data set"),
    ("plan.eos", "end-of-sequence token"),
    ("plan.prefix", "shared prefix"),
    ("plan.salt", "salt"),
    ("plan.seed", "seed"),
    ("plan.sessions", "conversations"),
    ("sampling.temperature", "temperature"),
    ("setup.deployment", "deployment"),
    ("setup.endpoint.backend", "kind of server"),
    ("setup.endpoint.base_url", "address"),
    ("setup.endpoint.connections.http_version", "HTTP version"),
    ("setup.endpoint.connections.lifetime", "lifetime of connections"),
    ("setup.endpoint.connections.stamps", "source of time stamps"),
    ("setup.endpoint.model", "model"),
    ("setup.endpoint.path", "route"),
    ("setup.engine.description", "engine"),
    ("setup.hardware", "hardware"),
    ("setup.host.cores", "cores of the client's host"),
    ("setup.host.cpu", "CPU of the client's host"),
    ("setup.host.os", "system of the client's host"),
    ("setup.model_config", "model's config"),
    ("setup.precision", "precision of weights and cache"),
    ("setup.tool.name", "tool"),
    ("setup.workload.arrivals", "arrivals"),
    ("setup.workload.dataset", "data set"),
    ("setup.workload.input_tokens", "input length"),
    ("setup.workload.output_tokens", "output length"),
    ("shard", "shard"),
    ("slo", "goal of levels"),
    ("timeouts.connect_ms", "time limit of a connection"),
    ("timeouts.total_ms", "time limit of a request"),
];

/// What `field` is called; its path where nobody gave it a name.
pub(super) fn label(field: &str) -> String {
    let (path, places) = without_places(field);
    let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == path || plain(&path) == *known)
    else {
        return of_path(field);
    };
    let place = places.first().map(|place| place + 1);
    match place {
        // A list of levels without a place means all of them.
        None if path.starts_with("levels[]") => format!("{name} of each level"),
        Some(level) if path.starts_with("levels[]") => format!("{name} of level {level}"),
        Some(place) if place > 1 => format!("{name} ({place})"),
        _ => (*name).to_owned(),
    }
}

/// A path without the brackets at its end.
fn plain(path: &str) -> &str {
    path.strip_suffix("[]").unwrap_or(path)
}

/// `levels[2].requests` as `levels[].requests`, and 2.
fn without_places(field: &str) -> (String, Vec<usize>) {
    let mut places = Vec::new();
    let mut parts = field.split('[');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_once(']').unwrap_or((part, ""));
        places.extend(place.parse::<usize>());
        path.push_str("[]");
        path.push_str(rest);
    }
    (path, places)
}

/// A path with spaces, without what all of them begin with.
fn of_path(field: &str) -> String {
    let path = field.strip_prefix("plan.").or_else(|| field.strip_prefix("setup."));
    let path = path.unwrap_or(field);
    // The first of a list is mostly the only one.
    let path = path.strip_suffix("[0]").unwrap_or(path);
    path.replace("_per_s", ", 1/s").replace(['.', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::{NAMES, label};

    #[test]
    fn fields_have_names_and_others_their_path() {
        let cases = [
            ("lengths.output.law", "output length"),
            ("goodput[0]", "goal of single requests"),
            ("goodput[1]", "goal of single requests (2)"),
            ("goodput", "goal of single requests"),
            ("levels[2].release_for_ms", "time of level 3"),
            ("levels[].release_for_ms", "time of each level"),
            ("plan.content.chat", "content chat"),
            (
                "setup.workload.requested.arrivals.rate_per_s",
                "workload requested arrivals rate, 1/s",
            ),
        ];
        for (field, name) in cases {
            assert_eq!(label(field), name, "{field}");
        }
    }

    #[test]
    fn each_field_stands_in_the_table_once() {
        assert!(NAMES.is_sorted_by(|one, other| one.0 < other.0));
    }
}
