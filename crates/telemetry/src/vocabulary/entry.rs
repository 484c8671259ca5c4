//! The table, and how a name is looked up in it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::devices::DEVICES;
use super::engines::ENGINES;
use super::exporter::Exporter;
use super::meaning::{MetricMeaning, MetricShape};
use crate::exposition::Labels;

/// One name with its meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VocabularyEntry {
    /// The name, without `_total` or the suffixes of a histogram.
    pub name: &'static str,
    /// What it means.
    pub meaning: MetricMeaning,
    /// Who uses it.
    pub exporter: Exporter,
    /// What its values are multiplied with, to be in the unit of the meaning.
    pub scale: f64,
}

impl VocabularyEntry {
    /// Whether a page says what came since the page before it, so that pages are to be added: TensorRT-LLM's array of iterations.
    pub(crate) fn is_since_last_page(&self) -> bool {
        self.name == "trtllm.iterations"
    }

    /// Whether that series is of it: of requests only those that ended well are, and vLLM, TensorRT-LLM and Dynamo count the others
    /// under the same name; SGLang has all stages of a request under one.
    pub(crate) fn has(&self, labels: &Labels) -> bool {
        let is_bad = |label| matches!(labels.get(label), Some("abort" | "error"));
        match self.meaning {
            MetricMeaning::Requests => !["finished_reason", "status"].into_iter().any(is_bad),
            MetricMeaning::PrefillTime => {
                labels.get("stage").is_none_or(|stage| stage == "prefill_forward")
            }
            _ => true,
        }
    }
}

/// All names, in order of preference within a meaning: today's names first.
pub fn entries() -> impl Iterator<Item = &'static VocabularyEntry> {
    ENGINES.iter().chain(DEVICES)
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static VocabularyEntry>> =
    LazyLock::new(|| entries().map(|entry| (entry.name, entry)).collect());

/// What a metric means, by its name as it stands on a page: with or without `_total`, and with the suffixes of a histogram where
/// the meaning is one.
///
/// ```
/// use fizeau_telemetry::{MetricMeaning, meaning_of};
/// let meaning = |name| meaning_of(name).map(|entry| entry.meaning);
/// assert_eq!(meaning("vllm:prompt_tokens_total"), Some(MetricMeaning::PromptTokens));
/// assert_eq!(meaning("vllm:prompt_tokens"), Some(MetricMeaning::PromptTokens));
/// assert_eq!(meaning("vllm:time_to_first_token_seconds_bucket"), Some(MetricMeaning::Ttft));
/// assert_eq!(meaning("process_cpu_seconds_total"), None);
/// ```
#[must_use]
pub fn meaning_of(metric: &str) -> Option<&'static VocabularyEntry> {
    let found = |name: &str| BY_NAME.get(name).copied();
    if let Some(entry) = found(metric).or_else(|| found(metric.strip_suffix("_total")?)) {
        return Some(entry);
    }
    let suffix =
        ["_bucket", "_count", "_sum"].into_iter().find_map(|end| metric.strip_suffix(end))?;
    found(suffix).filter(|entry| entry.meaning.shape() == MetricShape::Histogram)
}
