//! A level over time and its steady part, as lines of the block.

use fizeau_core::{Millis, PerSec};
use fizeau_metrics::{
    CutReason, Distribution, Interval, MeasuredWindow, Metric, NoWindowReason, SampleSupport,
    Statistic, WindowChoice, WindowFigures,
};

use super::block::{ends_of, sentence};
use crate::Shown;
use crate::block::line;
use crate::text::capital;
use fizeau_record::LevelReport;
use fizeau_record::text::{decimals, number, supported};

impl Shown<'_, LevelReport> {
    /// How much was going on at a time.
    pub(super) fn over_time_lines(&self) -> Vec<String> {
        let Some(over_time) = &self.summary.over_time else {
            return Vec::new();
        };
        let flight = &over_time.in_flight;
        let mut lines = vec![line(
            "In flight mean/p50/p90/peak:",
            format_args!("{:.1} / {} / {} / {}", flight.mean, flight.p50, flight.p90, flight.peak),
        )];
        let peak = &over_time.peak_output_tokens;
        if peak.rate.get() > 0.0 {
            let over = number(peak.over.as_secs_f64());
            let rate = number(peak.rate.get());
            lines.push(line("Peak output tok/s:", format_args!("{rate} (over {over} s)")));
        }
        if self.is_saturated() {
            lines.push(line("Saturated:", "yes, the queue grew to the end"));
        }
        lines
    }

    /// The part that was measured beside the whole run: what was cut, and its figures; or why there is none.
    pub(super) fn window_lines(&self) -> Vec<String> {
        let windowed = &self.summary.windowed;
        let figures = match &windowed.part {
            Ok(figures) => figures,
            Err(none) => {
                return match none.why {
                    NoWindowReason::TooFew { has: 0, .. } => Vec::new(),
                    NoWindowReason::TooFew { has, needs, .. } => {
                        let few = format!("- (needs {needs} requests, has {has})");
                        vec![line("Steady part:", few)]
                    }
                    why => vec![line("Steady part:", "none"), sentence(&not_steady(why))],
                };
            }
        };
        let mut lines = Vec::from(cuts(&figures.window));
        lines.extend(figures.window.not_steady.map(|why| {
            sentence(&format!("all slots in use, but not known to be steady: {}", not_steady(why)))
        }));
        lines.extend(self.part_lines(figures));
        lines
    }

    /// The same where somebody asked for that part: who leaves requests out is shown what is left.
    pub(super) fn requested_window_lines(&self) -> Vec<String> {
        if self.summary.windowed.choice == WindowChoice::AUTO {
            return Vec::new();
        }
        self.window_lines()
    }

    /// The figures of a part, each beside that of the whole run.
    fn part_lines(&self, part: &WindowFigures) -> Vec<String> {
        let mut lines = Vec::new();
        for metric in Metric::tabled() {
            let both = part.metrics.get(metric).zip(metric.distribution(&self.summary));
            if let Some((inside, all)) = both.filter(|(_, all)| all.n > 0) {
                let name = format!("  {} p50/p99 (ms):", metric.entry().label);
                let (inside, all) = (two(inside), two(all));
                lines.push(line(&name, format_args!("{inside} (whole {all})")));
            }
        }
        if let Some(inside) = &part.throughput {
            let all = &self.summary.throughput;
            let rates = [
                (
                    "Requests/s",
                    (inside.requests_per_s, inside.requests_interval),
                    all.requests_per_s,
                ),
                (
                    "Output tok/s",
                    (inside.output_tokens_per_s, inside.output_tokens_interval),
                    all.output_tokens_per_s,
                ),
            ];
            for (what, (inside, interval), all) in rates {
                if all.get() > 0.0 {
                    // Beside the whole there is no room for why there is none.
                    let known = interval.filter(|of| of.known().is_some());
                    let interval = ends_of("requests", known, |end| number(end.get()));
                    let (inside, all) = (number(inside.get()), number(all.get()));
                    let both = format!("{inside}{interval} (whole {all})");
                    lines.push(line(&format!("  {what}:"), both));
                }
            }
        }
        lines
    }
}

/// A part in a line of a table: how many were sent in it, how many are excluded before and after, requests and output tokens per second,
/// and p50 and p99 of TTFT and E2EL.
pub(crate) fn part_cells(part: &WindowFigures) -> [String; 6] {
    let window = &part.window;
    let rate = |of: Option<(PerSec, Option<SampleSupport<Interval<PerSec>>>)>| {
        let Some((rate, interval)) = of else { return "-".to_owned() };
        let ends =
            interval.and_then(SampleSupport::known).map(|ends| (ends.low.get(), ends.high.get()));
        supported(rate.get(), ends)
    };
    let rates = part.throughput.as_ref();
    [
        window.kept.to_string(),
        format!("{}/{}", window.cut_front, window.cut_back),
        rate(rates.map(|rates| (rates.requests_per_s, rates.requests_interval))),
        rate(rates.map(|rates| (rates.output_tokens_per_s, rates.output_tokens_interval))),
        both(&part.metrics.ttft),
        both(&part.metrics.e2el),
    ]
}

/// `12.3 / 15.9`; `-` for what the sample does not support.
fn both(sample: &Distribution) -> String {
    let known = |statistic| match sample.statistic(statistic) {
        Some(ms) => {
            let ends = sample.interval(statistic).map(|ends| (ends.low.get(), ends.high.get()));
            supported(ms.get(), ends)
        }
        None => "-".to_owned(),
    };
    format!("{} / {}", known(Statistic::P50), known(Statistic::P99))
}

/// What kind of part it is. A plateau is not known to be steady.
pub(crate) const fn part_name(window: &MeasuredWindow) -> &'static str {
    match window.reason {
        CutReason::Requested => "part requested",
        CutReason::Stationary => "steady part",
        CutReason::Plateau { .. } => "plateau of the concurrency",
    }
}

/// What is to be known of a plateau that stands in for a steady state.
pub(crate) const PLATEAU_NOTE: &str =
    "the plateau of the concurrency: all slots in use, but not known to be steady";

/// `880 of 1000 in 48.2 s`, and below it how many are excluded before and after.
fn cuts(window: &MeasuredWindow) -> [String; 2] {
    let MeasuredWindow { span, cut_front, kept, cut_back, .. } = window;
    let all = cut_front + kept + cut_back;
    let seconds = number(span.length().as_secs_f64());
    [
        line(
            &format!("{}:", capital(part_name(window))),
            format_args!("{kept} of {all} in {seconds} s"),
        ),
        line("  Excluded first/last:", format_args!("{cut_front} / {cut_back}")),
    ]
}

/// Why no part of a level is known to be steady, and what to do about it.
pub(crate) fn not_steady(why: NoWindowReason) -> String {
    match why {
        NoWindowReason::Unsettled { signal } => {
            format!(
                "no steady state: the {signal} changes over half of the level or more; run longer"
            )
        }
        why => why.to_string(),
    }
}

/// One decimal, and more of a time that would read as none.
fn few_decimals(ms: Millis) -> usize {
    if ms.get() < 0.1 { decimals(ms.get()) } else { 1 }
}

/// `12.3 / 15.9`, a tail that the sample does not support left out.
fn two(sample: &Distribution) -> String {
    let known = |value: Option<Millis>| {
        value.map_or_else(|| "-".to_owned(), |ms| format!("{:.1$}", ms.get(), few_decimals(ms)))
    };
    format!("{} / {}", known(sample.p50.value()), known(sample.p99.value()))
}
