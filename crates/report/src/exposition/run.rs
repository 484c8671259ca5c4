//! Metrics of the whole run.

use fizeau_metrics::Verdict;

use super::{MetricFamily, MetricKind, MetricValue};
use fizeau_record::{EngineRecord, SweepReport};

/// Their names.
pub(super) const NAMES: [&str; 2] = ["fizeau_run_info", "fizeau_run_verdict"];

/// The verdicts that there are: of each metric of verdicts one series is 1 and the others are 0.
pub(super) const VERDICTS: [Verdict; 3] = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];

pub(super) fn families(report: &SweepReport, run: &str) -> Vec<MetricFamily> {
    let setup = report.setup();
    let [info, verdict] = NAMES;
    let mut info = MetricFamily::new(info, "What was run, as labels; always 1.", MetricKind::Gauge);
    let engine = match &setup.engine {
        EngineRecord::Simulated { .. } => "simulated",
        EngineRecord::Remote { .. } => "remote",
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let labels = vec![
        ("run", run.to_owned()),
        ("model", setup.endpoint.model.clone()),
        ("backend", setup.endpoint.backend.clone()),
        ("engine", engine.to_owned()),
        ("hardware", known(&setup.hardware)),
        ("deployment", known(&setup.deployment)),
        ("precision", known(&setup.precision)),
        ("started", setup.started.clone()),
        ("version", setup.tool.version.clone()),
    ];
    info.add(labels, MetricValue::Number(1.0));

    let about = "1 for the worst verdict of any level, 0 for the others.";
    let mut verdicts = MetricFamily::new(verdict, about, MetricKind::Gauge);
    for verdict in VERDICTS {
        let labels = vec![
            ("run", run.to_owned()),
            ("model", setup.endpoint.model.clone()),
            ("verdict", verdict.as_str().to_owned()),
        ];
        verdicts.add(labels, MetricValue::Number(is(verdict == report.verdict())));
    }
    vec![info, verdicts]
}

/// Yes and no as numbers.
pub(super) fn is(yes: bool) -> f64 {
    if yes { 1.0 } else { 0.0 }
}
