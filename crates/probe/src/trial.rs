//! What is to be measured, and who can measure it.

use fizeau_core::Nanos;

use crate::device::DeviceFacts;
use crate::host::ProbeHost;
use crate::measurement::{Component, Dtype, Measurement, Operation, PageAdvice};

/// One thing to be measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProbeTrial {
    /// What, with its shape.
    pub operation: Operation,
    /// On operands of which type.
    pub dtype: Dtype,
    /// By how many threads; a device that has none takes no notice.
    pub threads: u32,
    /// In what pages.
    pub pages: PageAdvice,
    /// By which instructions, or `OpenBLAS` for a product by the library of this machine; none: the best that the program has.
    pub instructions: Option<String>,
    /// How much of the time it should have beside the others: 1 is usual.
    pub weight: f64,
    /// On which device, by the name that facts call it; none: the first that can.
    pub device: Option<String>,
}

impl ProbeTrial {
    /// `operation` on operands of `dtype` by as many threads, in huge pages where they are to be had.
    #[must_use]
    pub const fn new(operation: Operation, dtype: Dtype, threads: u32) -> Self {
        let (pages, instructions) = (PageAdvice::Huge, None);
        Self { operation, dtype, threads, pages, instructions, weight: 1.0, device: None }
    }
}

/// Why something cannot be measured here: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub(crate) String);

impl Unavailable {
    /// For that reason.
    #[must_use]
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// What can measure: the processor, or a GPU.
pub trait ProbeBackend {
    /// The machine.
    fn host(&self) -> ProbeHost;

    /// What is known of its devices before they are measured.
    fn devices(&self) -> Vec<DeviceFacts>;

    /// What is usually measured of that component, the most important first.
    fn trials(&self, component: Component) -> Vec<ProbeTrial>;

    /// Measures `trial` for about `time`.
    ///
    /// # Errors
    /// If it cannot be measured here.
    fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable>;
}

/// What is usually measured of `components`, in turns: the most important of each before the second of any, so that a short time
/// has something of all.
pub fn usual_trials(
    backend: &impl ProbeBackend,
    components: impl IntoIterator<Item = Component>,
) -> Vec<ProbeTrial> {
    in_turns(components.into_iter().map(|component| backend.trials(component)))
}

/// Several lists of trials as one, the most important of each first.
pub(crate) fn in_turns(lists: impl IntoIterator<Item = Vec<ProbeTrial>>) -> Vec<ProbeTrial> {
    let mut turns: Vec<(f64, ProbeTrial)> = Vec::new();
    for trials in lists {
        let count = trials.len() as f64;
        let placed = trials.into_iter().enumerate();
        turns.extend(placed.map(|(place, trial)| (place as f64 / count, trial)));
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    turns.into_iter().map(|(_, trial)| trial).collect()
}
