//! Fields of the request body that say how to sample.

use crate::args::SamplingArgs;
use crate::exit::Fail;

/// Sampling fields of the request body, as a JSON object; only those that were given.
pub(crate) fn sampling_body(args: &SamplingArgs) -> Result<String, Fail> {
    let mut body = match &args.extra_body {
        None => serde_json::Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Fail::usage(format!("--extra-body: {error}; it takes a JSON object"))
        })?,
    };
    let floats = [
        ("temperature", args.temperature),
        ("top_p", args.top_p),
        ("min_p", args.min_p),
        ("frequency_penalty", args.frequency_penalty),
        ("presence_penalty", args.presence_penalty),
        ("repetition_penalty", args.repetition_penalty),
    ];
    for (name, value) in floats {
        if let Some(value) = value {
            body.insert(name.to_owned(), value.into());
        }
    }
    if let Some(top_k) = args.top_k {
        body.insert("top_k".to_owned(), top_k.into());
    }
    Ok(serde_json::Value::Object(body).to_string())
}
