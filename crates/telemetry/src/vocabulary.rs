//! What the names on pages mean, as one table.
//!
//! Names and meanings are facts, read in the sources and documents of the programs (2026-11): vLLM's `vllm/v1/metrics/loggers.py` and
//! `docs/design/metrics.md`, SGLang's `docs/references/production_metrics.md`, TensorRT-LLM's `tensorrt_llm/metrics/collector.py` (at
//! commit 050f80de), Dynamo's `docs/observability/metrics.md` (0.7 and 1.3), LMDeploy's `lmdeploy/metrics/loggers.py`, NIM's
//! <https://docs.nvidia.com/nim/large-language-models/latest/observability.html>, of Triton's backend of TensorRT-LLM its
//! `custom_metrics_reporter.cc`, and which series there is which the protocol of Kubernetes' gateway-api-inference-extension, llama.cpp's `tools/server/README.md`, TGI's `docs/source/reference/metrics.md`, NVIDIA's
//! `dcgm-exporter/etc/default-counters.csv`, AMD's `device-metrics-exporter` documents, Prometheus' `node_exporter`.

mod devices;
mod engines;
mod entry;
mod exporter;
mod meaning;
mod vllm;

pub use entry::{VocabularyEntry, entries, meaning_of};
pub use exporter::Exporter;
pub use meaning::{MetricMeaning, MetricShape};
