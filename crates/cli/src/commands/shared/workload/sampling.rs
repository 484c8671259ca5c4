//! Fields of the request body that say how to sample.

use crate::args::SamplingArgs;
use crate::exit::Fail;

/// Sampling fields of the request body, as a JSON object; only those that were given.
pub(crate) fn sampling_body(args: &SamplingArgs) -> Result<String, Fail> {
    let mut body: serde_json::Map<String, serde_json::Value> = match &args.extra_body {
        None => serde_json::Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            usage!("--extra-body {text}: give a JSON object, such as {{\"top_k\": 20}} ({error})")
        })?,
    };
    let given = serde_json::to_value(args).map_err(Fail::broken)?;
    let given = given.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    body.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    Ok(serde_json::Value::Object(body).to_string())
}
