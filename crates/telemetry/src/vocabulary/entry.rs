//! The table, and how a name is looked up in it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::devices::DEVICES;
use super::engines::{ENGINES, TRITON_BLOCKS, TRITON_REQUESTS};
use super::exporter::Exporter;
use super::meaning::{MetricMeaning, MetricShape};
use super::vllm::{IN_OLD_RAY, IN_RAY, VLLM};
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

    /// Whether that series is of it: of requests only those that ended well are, and vLLM, TensorRT-LLM, LMDeploy and Dynamo count the
    /// others under the same name; SGLang has all stages of a request under one, and Triton all figures.
    pub(crate) fn has(&self, labels: &Labels) -> bool {
        let is_bad = |label| {
            let how = labels.get(label).map(str::to_ascii_lowercase).unwrap_or_default();
            ["abort", "error", "cancel"].into_iter().any(|bad| how.contains(bad))
        };
        match self.meaning {
            MetricMeaning::Running if self.name == TRITON_REQUESTS => {
                labels.get("request_type") == Some("scheduled")
            }
            MetricMeaning::Waiting if self.name == TRITON_REQUESTS => {
                labels.get("request_type") == Some("waiting")
            }
            meaning if self.name == TRITON_BLOCKS => {
                let kind = match meaning {
                    MetricMeaning::KvUse => "fraction",
                    MetricMeaning::KvBlocks => "max",
                    MetricMeaning::KvBlocksUsed => "used",
                    _ => "tokens_per",
                };
                labels.get("kv_cache_block_type") == Some(kind)
            }
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
    [VLLM, IN_RAY, IN_OLD_RAY, ENGINES, DEVICES].into_iter().flatten()
}

/// Of a name whose labels say what a series is about the first meaning.
static BY_NAME: LazyLock<HashMap<&'static str, &'static VocabularyEntry>> = LazyLock::new(|| {
    let mut by_name = HashMap::new();
    entries().for_each(|entry| {
        by_name.entry(entry.name).or_insert(entry);
    });
    by_name
});

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
