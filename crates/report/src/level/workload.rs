//! What was asked for beside what was sent, as lines of the block.

use fizeau_core::{PerSec, TokenSource};
use fizeau_metrics::{
    ArrivalSummary, CacheExpectation, LengthCheck, ModelName, ModelSummary, TokenDistribution,
};

use super::block::sentence;
use super::proof::tail;
use crate::Shown;
use crate::block::line;
use fizeau_record::LevelReport;
use fizeau_record::text::percent;

impl Shown<'_, LevelReport> {
    /// The arrivals of an open loop; those of a closed one are the endpoint's doing.
    pub(super) fn arrivals(&self) -> Option<&ArrivalSummary> {
        match self.requested.arrivals {
            Some(_) => self.summary.arrivals.as_ref(),
            None => None,
        }
    }

    /// Arrivals, lengths, cache and probe: asked for, and sent or seen.
    pub(super) fn workload_lines(&self) -> Vec<String> {
        let mut lines = self.arrival_lines();
        let lengths = &self.summary.lengths;
        lines.extend(length_lines("Prompt", &lengths.prompt));
        if self.summary.tokens.source != Some(TokenSource::Tokenless) {
            lines.extend(length_lines("Output", &lengths.output));
        }
        lines.extend(self.cache_line());
        if let Some(models) = &self.summary.models {
            lines.push(line("Models requested:", models.len()));
            lines.extend(models.iter().map(model_line));
        }
        lines.extend(self.probe_lines());
        lines
    }

    fn arrival_lines(&self) -> Vec<String> {
        let Some((requested, came)) = self.requested.arrivals.zip(self.arrivals()) else {
            return Vec::new();
        };
        let (planned, sent) = (&came.intended, &came.sent);
        let rates = [requested.rate, planned.rate, sent.rate].map(|rate| rate.map(PerSec::get));
        let spreads = [requested.cv_squared, planned.cv_squared, sent.cv_squared];
        let arrivals = match self.sessions_per_s() {
            Some(_) => "Session starts/s requested/planned/sent:",
            None => "Arrivals/s requested/planned/sent:",
        };
        vec![
            line(arrivals, side_by_side(rates)),
            line("Gaps' CV squared requested/planned/sent:", side_by_side(spreads)),
        ]
    }

    fn cache_line(&self) -> Option<String> {
        let measured = self.summary.tokens.cached_share;
        let requested = match self.requested.cache {
            CacheExpectation::None if measured.is_none() => return None,
            CacheExpectation::None => "none".to_owned(),
            CacheExpectation::Share(share) => percent(share),
            CacheExpectation::Reuse => "any".to_owned(),
        };
        let measured = measured.map_or_else(|| "not reported".to_owned(), percent);
        Some(line(
            "Cached prompt tokens requested/measured:",
            format_args!("{requested} / {measured}"),
        ))
    }

    fn probe_lines(&self) -> Vec<String> {
        let Some(probe) = &self.summary.probe else {
            return Vec::new();
        };
        let (sent, failed) = (probe.requests.sent, probe.requests.failed);
        let mut lines =
            vec![line("Probe requests sent/failed:", format_args!("{sent} / {failed}"))];
        if probe.ttft.n > 0 {
            lines.push(line("Probe TTFT p50/p99/max (ms):", tail(&probe.ttft)));
        }
        lines
    }
}

/// `sql: 150 sent, 1 failed, TTFT p50 / p99 / max`.
fn model_line(of: &ModelSummary) -> String {
    let name = match &of.model {
        ModelName::Own => "the model itself",
        ModelName::Named(name) => name,
        ModelName::Others => "all others",
    };
    let counts = format!("{} sent, {} failed", of.sent, of.failed);
    sentence(&format!("{name}: {counts}, TTFT p50/p99/max {} ms", tail(&of.ttft)))
}

fn length_lines(what: &str, check: &LengthCheck) -> Vec<String> {
    let mut lines = Vec::new();
    if check.requested.n == 0 && check.seen.n == 0 {
        return lines;
    }
    let both = [("requested", &check.requested, "unknown"), ("seen", &check.seen, "not reported")];
    for (how, lengths, none) in both {
        lines.push(match (lengths.n, lengths.always()) {
            (0, _) => line(&format!("{what} tokens {how}:"), none),
            (_, Some(length)) => {
                line(&format!("{what} tokens {how}:"), format_args!("{length} each"))
            }
            (_, None) => {
                line(&format!("{what} tokens {how} p10/50/90, mean:"), length_text(lengths))
            }
        });
    }
    let difference = check.difference.filter(|difference| difference.absolute_mean > 0.0);
    lines.extend(difference.map(|difference| {
        let value = match difference.constant() {
            Some(constant) => format!("{constant:+} each"),
            None => {
                let (n, past) = (difference.n, difference.past_one_percent);
                format!("{:+} to {:+} ({past} of {n} by over 1 %)", difference.min, difference.max)
            }
        };
        line(&format!("{what} tokens seen less requested:"), value)
    }));
    lines
}

/// `201 / 250 / 299 (250.3)`
fn length_text(lengths: &TokenDistribution) -> String {
    let dash = || "-".to_owned();
    let whole = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    let [p10, p50, p90] = [lengths.p10, lengths.p50, lengths.p90].map(whole);
    let mean = lengths.mean.map_or_else(dash, |mean| format!("{mean:.1}"));
    format!("{p10} / {p50} / {p90} ({mean})")
}

/// Figures that are close to each other, so that a difference of a thousandth shows.
fn side_by_side(figures: [Option<f64>; 3]) -> String {
    let four_digits = |value: Option<f64>| match value {
        None => "-".to_owned(),
        Some(value) if value >= 999.95 => format!("{value:.0}"),
        Some(value) if value >= 99.995 => format!("{value:.1}"),
        Some(value) if value >= 9.9995 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    };
    figures.map(four_digits).join(" / ")
}
