//! What is to be known of a comparison.

use fizeau_metrics::{
    ComparedRequests, ComparisonBasis, ComparisonTable, LevelFigure, LoadPacing, RequestPairing,
};

use super::CompareOptions;
use crate::{RunComparison, RunTime};

/// How measured runs are compared of which there is one a side.
const ONE_RUN_EACH: &str = "one run per side cannot show how much runs of one server differ, so \
    every interval is widened by an assumed spread (by the spread among quarters of the runs, if \
    that is larger); to measure the spread, compare four runs in all, or do an A/B run";

/// The same of runs in virtual time, each of a seed of its own.
const ONE_SEED_EACH: &str = "one run per side cannot show how much runs with other seeds differ, \
    so every interval is widened by an assumed spread (by the spread among quarters of the runs, \
    if that is larger); to measure the spread, compare four runs in all, each with its own seed";

/// How repeats are compared.
const REPEATS: &str = "intervals come from how much the runs of each side differ";

/// What runs in virtual time are.
const SIMULATED: &str = "all runs were simulated in virtual time, not measured";

/// The same of runs that were all drawn by one seed.
const SAME_DRAWS: &str = "all runs were simulated in virtual time with the same seed, not measured: differences follow from the \
    settings alone, and intervals cover requests, not further seeds";

/// What is to be known of all comparisons: what their intervals have in them.
pub(super) fn of_all(
    comparisons: &[RunComparison],
    time: Option<RunTime>,
    options: &CompareOptions,
) -> Vec<String> {
    let bases = || {
        let levels = comparisons.iter().flat_map(|comparison| &comparison.levels);
        levels.map(|level| level.table.basis)
    };
    let is_paired = |basis| matches!(basis, ComparisonBasis::PairedRequests(_));
    let is_repeated = |basis| matches!(basis, ComparisonBasis::Runs { .. });
    let is_virtual = time == Some(RunTime::Virtual);
    if is_virtual && bases().all(is_paired) {
        return vec![SAME_DRAWS.to_owned()];
    }
    let (simulated, single) = match is_virtual {
        true => (Some(SIMULATED), ONE_SEED_EACH),
        false => (None, ONE_RUN_EACH),
    };
    let repeats = bases().any(is_repeated).then_some(REPEATS);
    let is_widened = |basis| !(is_repeated(basis) || is_virtual && is_paired(basis));
    let has_single = options.run_to_run.is_none() && bases().any(is_widened);
    let notes = [simulated, repeats, has_single.then_some(single)];
    notes.into_iter().flatten().map(str::to_owned).collect()
}

/// Rates are not quite those of the runs' own summaries.
pub(super) fn of_rates(pace: LoadPacing, table: &ComparisonTable) -> Option<String> {
    let mut rates = table.rows.iter().filter(|row| row.figure.unit().ends_with("/s"));
    let is_tested = rates.any(|row| row.tested.is_ok());
    let said = match pace {
        LoadPacing::ClosedLoop => {
            "rates cover only the time in which all slots were busy, since the idle time at the \
             end is chance"
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
    let pairs = match pairing {
        RequestPairing::ByNumber => "; the requests paired with them are left out too",
        RequestPairing::None => "",
    };
    notes.extend(failed_have_no_latencies([baseline.failed(), candidate.failed()], pairs));
    let (a, b) = (baseline.cancelled(), candidate.cancelled());
    if a + b > 0 {
        notes.push(format!(
            "requests that the client itself cancelled count neither as failed nor as good or bad, and have no latencies: A {a}, B {b}{pairs}"
        ));
    }
    notes
}

/// Of how many requests of each side latencies tell nothing; `pairs` is what becomes of their partners.
pub(super) fn failed_have_no_latencies([a, b]: [u64; 2], pairs: &str) -> Option<String> {
    (a + b > 0).then(|| format!("failed requests have no latencies: A {a}, B {b}{pairs}"))
}

/// Requests of which there is no tape, which are bad ones in each run's own share of good requests.
pub(super) fn unsent([a, b]: [u64; 2], table: &ComparisonTable) -> Option<String> {
    let is_shown = table.rows.iter().any(|row| row.figure == LevelFigure::GOOD_SHARE);
    (is_shown && a + b > 0).then(|| {
        format!("the share of good requests is of those that were sent; due and never sent: A {a}, B {b}")
    })
}
