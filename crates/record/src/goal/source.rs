//! Whose goals they are.

use fizeau_metrics::Slo;

use crate::text::slo_words;

/// Whose the goals are that levels are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GoalSource {
    /// Whoever asked for the run.
    #[default]
    Given,
    /// Nobody's: no goals were given, and these were assumed.
    Assumed,
}

impl GoalSource {
    /// That nobody gave the goals `slo`; nothing where somebody did.
    pub(crate) fn assumed(self, slo: &Slo) -> Option<String> {
        match self {
            Self::Given => None,
            Self::Assumed => {
                Some(format!("No goals were given; these were assumed: {}", slo_words(slo)))
            }
        }
    }
}
