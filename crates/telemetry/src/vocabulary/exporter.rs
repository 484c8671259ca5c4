//! Which program a page is from.

use crate::samples::History;

/// A program that gives pages of metrics.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Exporter {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// TensorRT-LLM, either of its pages, or behind Triton.
    TensorrtLlm,
    /// Text Generation Inference.
    Tgi,
    /// llama.cpp's server.
    LlamaCpp,
    /// LMDeploy.
    Lmdeploy,
    /// NVIDIA's NIM for language models.
    Nim,
    /// Dynamo, frontend or worker.
    Dynamo,
    /// NVIDIA's dcgm-exporter.
    Dcgm,
    /// NVIDIA's management library on this machine.
    Nvml,
    /// AMD's device metrics exporter.
    Amd,
    /// Prometheus' node_exporter.
    Node,
}

// Engines first, as a page that Dynamo's worker passes on has the engine's metrics among its own.
fizeau_core::words! {
    /// Its name as people write it.
    pub Exporter::name, all {
        Vllm = "vLLM", Sglang = "SGLang", TensorrtLlm = "TensorRT-LLM", Tgi = "TGI",
        LlamaCpp = "llama.cpp", Lmdeploy = "LMDeploy", Nim = "NIM", Dynamo = "Dynamo", Dcgm = "dcgm-exporter", Nvml = "NVML",
        Amd = "AMD's device metrics exporter", Node = "node_exporter",
    }
}

impl Exporter {
    /// Whether it serves models; the others tell of devices and hosts.
    #[must_use]
    pub const fn is_engine(self) -> bool {
        !matches!(self, Self::Dcgm | Self::Nvml | Self::Amd | Self::Node)
    }

    /// With what its metrics begin.
    const fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Vllm => &["vllm:", "ray_vllm_", "ray_vllm:"],
            Self::Sglang => &["sglang:", "sglang_"],
            Self::TensorrtLlm => &["trtllm_", "trtllm:", "trtllm.", "nv_trt_llm_"],
            Self::Tgi => &["tgi_"],
            Self::LlamaCpp => &["llamacpp:"],
            Self::Lmdeploy => &["lmdeploy:"],
            // Its names have no prefix.
            Self::Nim => &["num_requests_running", "num_requests_waiting", "gpu_cache_usage_perc"],
            Self::Dynamo => &["dynamo_"],
            Self::Dcgm => &["DCGM_FI_"],
            Self::Nvml => &["nvml_"],
            Self::Amd => &["gpu_package_power", "gpu_gfx_activity", "gpu_energy_consumed"],
            Self::Node => &["node_"],
        }
    }

    /// Whose metric that is, by its name.
    #[must_use]
    pub fn of_metric(metric: &str) -> Option<Self> {
        let begins =
            |exporter: &Self| exporter.prefixes().iter().any(|start| metric.starts_with(start));
        Self::ALL.into_iter().find(begins)
    }

    /// Whose pages those are: the first of [`Exporter::ALL`] that any metric belongs to.
    #[must_use]
    pub fn of_history(history: &History) -> Option<Self> {
        Self::of_metrics(&history.metrics())
    }

    /// The same of the names of metrics.
    pub(crate) fn of_metrics(metrics: &[&str]) -> Option<Self> {
        metrics.iter().filter_map(|metric| Self::of_metric(metric)).min()
    }

    /// Whether those pages are of a front end, which sees the requests of engines that have pages of their own: to be added to them would
    /// count each request twice.
    #[must_use]
    pub fn is_front_end(history: &History) -> bool {
        let metrics = history.metrics();
        // Dynamo's workers have other metrics than its front end.
        Self::of_metrics(&metrics) == Some(Self::Dynamo)
            && metrics.iter().any(|metric| metric.starts_with("dynamo_frontend_"))
    }
}
