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

/// The reasons for which trials were not measured, for whoever tells of each but once.
///
/// ```
/// use fizeau_probe::{Unavailable, UnavailableReasons};
///
/// let mut reasons = UnavailableReasons::default();
/// let new = ["8 GiB are too many", "16 GiB are too many", "no clock"].map(|reason| reasons.is_new(&Unavailable::because(reason)));
/// assert_eq!((new, reasons.repeated()), ([true, false, true], 1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct UnavailableReasons {
    /// Each without its figures.
    known: Vec<String>,
    repeated: usize,
}

impl UnavailableReasons {
    /// Takes note of a reason, and whether it is the first of its kind, figures apart.
    pub fn is_new(&mut self, reason: &Unavailable) -> bool {
        let kind = reason.0.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        let is_new = !self.known.contains(&kind);
        if is_new {
            self.known.push(kind);
        } else {
            self.repeated += 1;
        }
        is_new
    }

    /// How many trials had a reason that another one had before.
    #[must_use]
    pub const fn repeated(&self) -> usize {
        self.repeated
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
