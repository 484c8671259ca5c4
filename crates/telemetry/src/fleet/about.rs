//! Findings about one page.

use fizeau_core::Stamp;

use super::FleetFinding;
use crate::assessment::ServingAssessment;
use crate::scraper::ScrapeReport;
use crate::server::ServerWindow;
use crate::witness::PageTrouble;

/// What is worth a sentence about the pages of a replica that tells.
pub(super) fn about_pages(address: &str, report: &ScrapeReport, findings: &mut Vec<FleetFinding>) {
    let owned = || address.to_owned();
    let history = &report.history;
    if let Some(last) = history.failures().last() {
        let missing = u32::try_from(history.failures().len()).unwrap_or(u32::MAX);
        let why = last.why.to_string();
        findings.push(FleetFinding::Gap { address: owned(), missing, why });
    }
    if history.cut_short() > 0 {
        findings.push(FleetFinding::CutShort { address: owned(), pages: history.cut_short() });
    }
    if history.left_out() > 0 {
        findings.push(FleetFinding::SeriesLeftOut { address: owned(), values: history.left_out() });
    }
    let lines = PageTrouble::of_lines(history);
    findings.extend(lines.map(|what| FleetFinding::Pages { address: owned(), what }));
}

/// What is worth a sentence about a replica that tells.
pub(super) fn about(
    address: &str,
    server: &ServerWindow,
    assessment: &ServingAssessment,
    findings: &mut Vec<FleetFinding>,
) {
    let owned = || address.to_owned();
    if assessment.is_impossible() {
        findings.push(above(Some(owned()), assessment));
    }
    if assessment.share.is_some() && assessment.context.is_none() {
        findings.push(FleetFinding::NoContext { address: owned() });
    }
    if server.resets() > 0 {
        findings.push(FleetFinding::Restarted { address: owned(), times: server.resets() });
    }
}

pub(super) fn above(address: Option<String>, assessment: &ServingAssessment) -> FleetFinding {
    let decode = assessment.decode.as_ref().map_or(0.0, |decode| decode.share);
    FleetFinding::AboveBound { address, share: assessment.share.unwrap_or(0.0).max(decode) }
}

pub(super) fn silent(address: &str, report: &ScrapeReport, now: Stamp) -> FleetFinding {
    let mut fetches = report.history.fetches();
    let pages = fetches.len();
    let last = fetches.next_back().map(|last| last.answered);
    let failure = report.history.failures().last();
    let failure = failure.filter(|failure| last.is_none_or(|last| last < failure.fetch.answered));
    let why = match (failure, pages) {
        (Some(failure), _) => failure.why.to_string(),
        (None, 0) => "it was not answered yet".to_owned(),
        (None, _) => "figures take three pages, and the next one has not come yet".to_owned(),
    };
    let since = last.map(|last| now.saturating_since(last).to_millis());
    FleetFinding::Silent { address: address.to_owned(), since, why }
}
