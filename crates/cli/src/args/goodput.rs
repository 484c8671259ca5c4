//! Goals on good requests, where nothing says which are.

use fizeau::metrics::{Metric, Slo};

use crate::args::ChoosingArgs;
use crate::exit::Fail;

/// Why good requests cannot be counted, as a report says it too.
pub(crate) const NEEDS_GOALS: &str =
    "goodput needs goals for single requests (--goodput), such as --goodput ttft:500 tpot:50";

/// Refuses, before anything is sent, what could not be judged afterwards: goals on good requests, and the profile that
/// puts them first, where no `--goodput` says which requests are good.
pub(crate) fn check(slo: &Slo, choosing: &ChoosingArgs, goodput: &[String]) -> Result<(), Fail> {
    if !goodput.is_empty() {
        return Ok(());
    }
    let is_about = |metric| matches!(metric, Metric::GoodShare | Metric::GoodputPerSec);
    if let Some(goal) = slo.goals().iter().find(|goal| is_about(goal.metric)) {
        return Err(Fail::usage(format!("--slo {goal}: {NEEDS_GOALS}")));
    }
    match puts_goodput_first(choosing) {
        true => Err(Fail::usage(format!("--profile agent: {NEEDS_GOALS}"))),
        false => Ok(()),
    }
}

/// Whether the use that is named puts good requests first.
pub(crate) fn puts_goodput_first(choosing: &ChoosingArgs) -> bool {
    choosing.profile.as_deref() == Some("agent")
}
