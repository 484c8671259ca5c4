//! `vllm-rs bench serve`: the Python client's figures, and a steady window.
//!
//! Where the server reports no usage it counts events as tokens. Its steady window counts events as tokens always.

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::vllm::{self, Reading};
use super::{PeerUnit, steady};

const READING: Reading = Reading { tokens: PeerRequest::reported_or_events, ..vllm::READING };

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    vllm::totals(&mut sheet, run, &READING);
    let input = run.sum(|request| request.input) as f64 / run.issuing();
    sheet.put("input_throughput", PeerUnit::PerSecond, input);
    READING.peaks(run, &mut sheet);
    let [ttft, tpot, e2el] = READING.samples(run);
    vllm::stats(&mut sheet, "ttft", &ttft, &[90, 99], "ttft");
    vllm::stats(&mut sheet, "tpot", &tpot, &[90, 99], "tpot");
    vllm::stats(&mut sheet, "itl", (READING.gaps)(run), &[90, 99], "icl");
    vllm::stats(&mut sheet, "e2el", &e2el, &[90, 99], "e2el");
    steady_state(&mut sheet, run);
    sheet
}

/// From the first instant with 0.95 of the cap in flight to the last. An event at either end of the window is
/// taken in: whether the tool does so is not known, and it can move the rate by the few events that come right
/// then. Which requests its latencies are of is not known either, so they are absent.
fn steady_state(sheet: &mut Sheet, run: &Run) {
    let unknown = "which requests it takes in at the edges of the window is not known";
    let key = |name: &str| format!("steady_state.{name}");
    let flights = READING.flights(run);
    let Some(target) = run.settings.max_concurrency else {
        let reason = "it needs a cap on requests in flight";
        sheet.absent(key("output_throughput"), PeerUnit::PerSecond, reason);
        return;
    };
    let Some(window) = steady::window(&flights, target) else {
        let reason = "0.95 of the cap was never in flight";
        sheet.absent(key("output_throughput"), PeerUnit::PerSecond, reason);
        return;
    };
    let duration = run::secs(window.end.saturating_since(window.start));
    let events = steady::events_within(READING.instants(run), &window) as f64;
    // Of the run's start, as its `start_times` are: the first release.
    let first = run.requests.iter().map(|request| request.released).min().unwrap_or_default();
    let since = |at: fizeau_core::Stamp| run::secs(at.saturating_since(first));
    sheet.put(key("window.start_s"), PeerUnit::Seconds, since(window.start));
    sheet.put(key("window.end_s"), PeerUnit::Seconds, since(window.end));
    sheet.put(key("window.duration_s"), PeerUnit::Seconds, duration);
    sheet.put(key("window.observed_peak"), PeerUnit::Count, window.peak);
    sheet.put(key("output_throughput"), PeerUnit::PerSecond, events / duration);
    sheet.absent(key("request_throughput"), PeerUnit::PerSecond, unknown);
    sheet.absent(key("mean_ttft_ms"), PeerUnit::Millis, unknown);
    sheet.absent(key("mean_tpot_ms"), PeerUnit::Millis, unknown);
}
