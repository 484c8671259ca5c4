//! The head of a page: what was measured, and whether to believe it.

use serde::Serialize;

use crate::Shown;
use crate::text::requested_lengths;
use fizeau_record::{CheckOutcome, Checklist, EngineRecord, RunSetup, SweepReport};

/// What was measured, and whether to believe it.
#[derive(Debug, Serialize)]
pub(super) struct Top {
    pub(super) model: String,
    /// Hardware, engine, precision, workload, date.
    pub(super) facts: Vec<RunFact>,
    pub(super) banner: Option<PageBanner>,
    pub(super) verdict: VerdictHeadline,
}

/// One thing about the run; none where it was not given.
#[derive(Debug, Serialize)]
pub(super) struct RunFact {
    pub(super) name: &'static str,
    pub(super) value: Option<String>,
}

/// What must not be overlooked.
#[derive(Debug, Serialize)]
pub(super) struct PageBanner {
    pub(super) warning: &'static str,
    pub(super) text: String,
}

/// A verdict with the worst reason for it.
#[derive(Debug, Serialize)]
pub(super) struct VerdictHeadline {
    pub(super) word: &'static str,
    pub(super) why: String,
    /// What else there is against it, in words; empty where there is nothing.
    pub(super) more: String,
    /// That of the operating point, where it is another: of what is suspect elsewhere, nothing may be there.
    pub(super) at_point: String,
    /// How the checklist came out.
    pub(super) checks: String,
}

impl Top {
    pub(super) fn of(report: &SweepReport) -> Self {
        let setup = report.setup();
        Self {
            model: setup.endpoint.model.clone(),
            facts: facts(report),
            banner: banner(report),
            verdict: VerdictHeadline::of(report),
        }
    }
}

impl VerdictHeadline {
    pub(super) fn of(report: &SweepReport) -> Self {
        let reasons = Shown(report).reasons();
        let why = match reasons.first() {
            _ if report.levels().is_empty() => "No level was measured.".to_owned(),
            None => "No problem found at any level.".to_owned(),
            Some(reason) => format!("{} (at {})", reason.text, reason.at()),
        };
        let more = match reasons.len().saturating_sub(1) {
            0 => String::new(),
            1 => "and 1 more reason".to_owned(),
            n => format!("and {n} more reasons"),
        };
        let point = report.operating_point().level().and_then(|level| report.levels().get(level));
        let own = point.map(|level| level.validity.verdict);
        let own = own.filter(|own| *own != report.verdict());
        let at_point = own.map(|own| format!("The operating point itself is {}.", own.as_str()));
        let checks = checks(&report.checklist());
        let word = report.verdict().as_str();
        Self { word, why, more, at_point: at_point.unwrap_or_default(), checks }
    }
}

/// `8 of 14 checks pass, 2 fail (open_loop, duration), 1 unknown, 3 simulated`.
fn checks(checklist: &Checklist) -> String {
    let pass = checklist.count(CheckOutcome::Pass);
    let mut words = format!("{pass} of {} checks pass", checklist.rows().len());
    let failed = checklist.rows().iter().filter(|row| row.outcome == CheckOutcome::Fail);
    let failed: Vec<String> = failed.map(|row| row.check.to_string()).collect();
    if !failed.is_empty() {
        words.push_str(&format!(", {} fail ({})", failed.len(), failed.join(", ")));
    }
    for outcome in [CheckOutcome::Unknown, CheckOutcome::Simulated] {
        match checklist.count(outcome) {
            0 => {}
            n => words.push_str(&format!(", {n} {}", outcome.as_str())),
        }
    }
    words
}

fn facts(report: &SweepReport) -> Vec<RunFact> {
    let setup = report.setup();
    let workload = &setup.workload;
    let lengths = requested_lengths(workload);
    let requested = format!("{}: {lengths}; {}", workload.dataset, workload.arrivals_words());
    let engine = match &setup.engine {
        EngineRecord::Simulated { .. } => Some("simulated".to_owned()),
        EngineRecord::Remote { description } => description.clone(),
    };
    let endpoint = &setup.endpoint;
    let called = format!("{}{} ({})", endpoint.base_url, endpoint.path, endpoint.backend);
    let fact = |name, value| RunFact { name, value };
    vec![
        fact("Hardware", hardware(setup, report.devices())),
        fact("Engine", engine),
        fact("Precision", setup.precision.clone()),
        fact("Workload", Some(requested)),
        fact("Endpoint", Some(called)),
        fact("When", Some(when(&setup.started))),
    ]
}

/// `h100-sxm, 8 devices, TP8`.
fn hardware(setup: &RunSetup, devices: Option<u64>) -> Option<String> {
    let device = setup.hardware.as_ref()?;
    let counted =
        devices.map(|n| if n == 1 { "1 device".to_owned() } else { format!("{n} devices") });
    let how = setup.deployment.clone().or(counted);
    Some(how.map_or_else(|| device.clone(), |how| format!("{device}, {how}")))
}

/// An instant of RFC 3339 for people: `2026-08-01 12:00 UTC`; anything else as it is.
fn when(started: &str) -> String {
    let parts = started.strip_suffix('Z').and_then(|text| text.split_once('T'));
    match parts.and_then(|(day, time)| Some((day, time.get(..5)?))) {
        Some((day, time)) => format!("{day} {time} UTC"),
        None => started.to_owned(),
    }
}

fn banner(report: &SweepReport) -> Option<PageBanner> {
    let EngineRecord::Simulated { description } = &report.setup().engine else { return None };
    let warning = match report.is_simulated() {
        true => "Simulated in virtual time, not measured.",
        false => "The engine was simulated, not run on hardware.",
    };
    Some(PageBanner { warning, text: description.clone() })
}

#[cfg(test)]
mod tests {
    use super::when;

    #[test]
    fn an_instant_is_for_people_and_anything_else_stays() {
        assert_eq!(when("2026-08-01T12:34:56.789Z"), "2026-08-01 12:34 UTC");
        for odd in ["", "Z", "TZ", "T12Z", "yesterday", "2026-08-01T\u{e9}\u{e9}\u{e9}Z"] {
            assert!(!when(odd).contains("UTC") || odd.contains('\u{e9}'), "{odd}");
        }
    }
}
