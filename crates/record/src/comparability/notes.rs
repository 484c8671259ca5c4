//! What is to be known of one level's comparison.

use fizeau_metrics::{Basis, ComparedRequests, ComparisonTable, Pace, Pairing};

/// Rates are not quite those of the runs' own summaries.
pub(super) fn of_rates(pace: Pace, table: &ComparisonTable) -> Option<String> {
    let mut rates = table.rows.iter().filter(|row| row.figure.unit().ends_with("/s"));
    let is_tested = rates.any(|row| row.tested.is_ok());
    let said = match pace {
        Pace::ClosedLoop => {
            "rates are those while all slots are busy: how long they idle at the end is chance"
        }
        Pace::OpenLoop => "rates are those from the first end to the last",
        Pace::AllAtOnce => return None,
    };
    is_tested.then(|| said.to_owned())
}

/// Requests that have no part in the comparison of latencies.
pub(super) fn unpaired(
    pairing: Pairing,
    baseline: &ComparedRequests,
    candidate: &ComparedRequests,
    table: &ComparisonTable,
) -> Vec<String> {
    let mut notes = Vec::new();
    if pairing == Pairing::None {
        notes.push("the runs sent different requests (plan or seed): nothing is paired".to_owned());
    } else if let Basis::PairedRequests(pairs) = table.basis
        && pairs < baseline.sent().max(candidate.sent())
    {
        let (a, b) = (baseline.sent(), candidate.sent());
        notes.push(format!("A sent {a} requests and B {b}; {pairs} of them are in pairs"));
    }
    let failed = |requests: &ComparedRequests| requests.sent() - requests.completed();
    let (a, b) = (failed(baseline), failed(candidate));
    if a + b > 0 {
        let pairs = match pairing {
            Pairing::ByNumber => "; those of their partners are left out too, on either side",
            Pairing::None => "",
        };
        notes.push(format!("failed requests have no latencies: A {a}, B {b}{pairs}"));
    }
    notes
}
