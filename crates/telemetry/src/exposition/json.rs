//! The array of TensorRT-LLM: what it tells of each iteration since it was last asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::labels::{Labels, SeriesName};
use super::page::{MetricKind, Page, PageError, Sample};

/// Every number of the last iteration of `bytes` as a gauge: `trtllm.` and the way to it, `trtllm.kvCacheStats.usedNumBlocks`. How
/// many iterations there were is `trtllm.iterations`; an array without any has that alone.
pub(super) fn iterations(bytes: &[u8], page: &mut Page, most: usize) -> Result<(), PageError> {
    let foreign = || PageError::Json { start: start_of(bytes) };
    let Ok(Value::Array(all)) = serde_json::from_slice(bytes) else { return Err(foreign()) };
    if !all.iter().all(Value::is_object) {
        return Err(foreign());
    }
    let mut found = Numbers::from([("trtllm.iterations".into(), all.len() as f64)]);
    if let Some(last) = all.last() {
        page.notes.beyond_limit += flatten(&mut found, "trtllm", last, most);
    }
    let named = |(path, value): (Arc<str>, f64)| {
        (SeriesName::new(path, Labels::default()), Sample { value, told_at_unix_ms: None })
    };
    page.kinds.extend(found.keys().map(|path| (Arc::clone(path), MetricKind::Gauge)));
    page.samples = found.into_iter().map(named).collect();
    Ok(())
}

/// Numbers by the way to them.
type Numbers = BTreeMap<Arc<str>, f64>;

/// Takes at most so many numbers; how many there are beyond.
fn flatten(found: &mut Numbers, path: &str, value: &Value, most: usize) -> u64 {
    match value {
        Value::Object(fields) => {
            let below = |(name, value): (&String, &Value)| {
                flatten(found, &format!("{path}.{name}"), value, most)
            };
            fields.iter().map(below).sum()
        }
        Value::Number(number) if found.len() < most => {
            found.insert(path.into(), number.as_f64().unwrap_or(f64::NAN));
            0
        }
        Value::Number(_) => 1,
        _ => 0,
    }
}

/// How `bytes` begin: one line of at most 80 characters.
pub(super) fn start_of(bytes: &[u8]) -> String {
    let start = bytes.get(..bytes.len().min(400)).unwrap_or_default();
    let text = String::from_utf8_lossy(start);
    let text = text.trim();
    text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
