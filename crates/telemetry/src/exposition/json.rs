//! The array of TensorRT-LLM: what it tells of each iteration since it was last asked.

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
    keep(page, "trtllm.iterations", all.len() as f64);
    if let Some(last) = all.last() {
        flatten(page, "trtllm", last, most);
    }
    Ok(())
}

fn flatten(page: &mut Page, path: &str, value: &Value, most: usize) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(page, &format!("{path}.{name}"), value, most);
            }
        }
        Value::Number(number) if page.samples.len() < most => {
            keep(page, path, number.as_f64().unwrap_or(f64::NAN));
        }
        Value::Number(_) => page.notes.beyond_limit += 1,
        _ => {}
    }
}

fn keep(page: &mut Page, path: &str, value: f64) {
    let name = SeriesName::new(path, Labels::default());
    page.kinds.insert(name.metric.clone(), MetricKind::Gauge);
    page.samples.insert(name, Sample { value, told_at_unix_ms: None });
}

/// How `bytes` begin: one line of at most 80 characters.
pub(super) fn start_of(bytes: &[u8]) -> String {
    let start = bytes.get(..bytes.len().min(400)).unwrap_or_default();
    let text = String::from_utf8_lossy(start);
    let text = text.trim();
    text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
