//! The machine that measures.

use serde::{Deserialize, Serialize};

/// The machine that measures.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeHost {
    /// What it is called among others: the node.
    pub node: String,
    /// Operating system and architecture: `linux x86_64`.
    pub system: String,
    /// The kernel's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processors that this program may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Whose virtual machine it is, where it is one: `kvm`. Figures across nodes are lower ends then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// What decides on clocks and pages: governor, transparent huge pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

impl ProbeHost {
    /// A machine of that name. The rest is not known.
    #[must_use]
    pub fn named(node: impl Into<String>) -> Self {
        Self { node: node.into(), ..Self::default() }
    }
}
