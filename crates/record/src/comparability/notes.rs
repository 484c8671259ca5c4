//! What is to be known of a comparison.

use fizeau_metrics::{
    ComparedRequests, ComparisonBasis, ComparisonTable, LoadPacing, RequestPairing,
};

use super::{CompareOptions, ONE_RUN_EACH, REPEATS, SIMULATIONS};
use crate::RunComparison;

/// What is to be known of all comparisons: what their intervals have in them.
pub(super) fn of_all(
    comparisons: &[RunComparison],
    all_simulated: bool,
    options: &CompareOptions,
) -> Vec<String> {
    if all_simulated {
        return vec![SIMULATIONS.to_owned()];
    }
    let levels = || comparisons.iter().flat_map(|comparison| &comparison.levels);
    let is_repeated = |table: &ComparisonTable| matches!(table.basis, ComparisonBasis::Runs { .. });
    let repeats = levels().any(|level| is_repeated(&level.table)).then_some(REPEATS);
    let has_single = options.run_to_run.is_none() && levels().any(|l| !is_repeated(&l.table));
    let single = has_single.then_some(ONE_RUN_EACH);
    repeats.into_iter().chain(single).map(str::to_owned).collect()
}

/// Rates are not quite those of the runs' own summaries.
pub(super) fn of_rates(pace: LoadPacing, table: &ComparisonTable) -> Option<String> {
    let mut rates = table.rows.iter().filter(|row| row.figure.unit().ends_with("/s"));
    let is_tested = rates.any(|row| row.tested.is_ok());
    let said = match pace {
        LoadPacing::ClosedLoop => {
            "rates cover the time when all slots were busy; how long slots idle at the end is \
             chance"
        }
        LoadPacing::OpenLoop => {
            "rates cover the time from the end of the first reply to the end of the last"
        }
        LoadPacing::AllAtOnce => return None,
    };
    is_tested.then(|| said.to_owned())
}

/// Requests that have no part in the comparison of latencies.
pub(super) fn unpaired(
    pairing: RequestPairing,
    baseline: &ComparedRequests,
    candidate: &ComparedRequests,
    table: &ComparisonTable,
) -> Vec<String> {
    let mut notes = Vec::new();
    if pairing == RequestPairing::None {
        notes.push(
            "the runs sent different requests (another plan or seed), so requests are not paired"
                .to_owned(),
        );
    } else if let ComparisonBasis::PairedRequests(pairs) = table.basis
        && pairs < baseline.sent().max(candidate.sent())
    {
        let (a, b) = (baseline.sent(), candidate.sent());
        notes.push(format!("A sent {a} requests and B {b}; {pairs} of them are paired"));
    }
    let failed = |requests: &ComparedRequests| requests.sent() - requests.completed();
    let (a, b) = (failed(baseline), failed(candidate));
    if a + b > 0 {
        let pairs = match pairing {
            RequestPairing::ByNumber => "; their partners on the other side are left out too",
            RequestPairing::None => "",
        };
        notes.push(format!("failed requests have no latencies: A {a}, B {b}{pairs}"));
    }
    notes
}
