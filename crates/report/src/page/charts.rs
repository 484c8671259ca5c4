//! The page's charts: which figures go where, and in which words.

use fizeau_core::Millis;
use fizeau_metrics::{Comparison, Metric, Statistic};

use super::sections::put;
use crate::chart::escape;
use crate::chart::{FrontierChart, FrontierPoint, LoadChart, LoadPanel, Series, Size, Standing};
use crate::number::{duration_ms, number};
use crate::words::listed;
use crate::{LatencyBasis, LevelReport, LoadPoint, Place, SpeedOfLight, SweepReport, Tail};

impl SweepReport {
    pub(super) fn frontier_figure(&self, out: &mut String) {
        let points = self.frontier_points();
        out.push_str("<section>\n<h2>Throughput against latency</h2>\n");
        if points.is_empty() {
            out.push_str("<p>No level can be compared with another.</p>\n</section>\n");
            return;
        }
        let best = self.placed().filter(|(_, place)| **place == Place::Frontier);
        let best: Vec<String> = best.map(|(level, _)| self.label(level.load)).collect();
        let description = format!(
            "Each level is a dot, labelled with its load. On the frontier: {}.",
            listed(&best)
        );
        let light = self.light_lines();
        let chart = FrontierChart {
            points: &points,
            light: &light,
            latency: if self.compares_stand_ins() { "p99 E2EL (* greatest)" } else { "p99 E2EL" },
            goal: self.latency_goal(),
            description: &description,
        };
        let key = |class: &str, text: &str| {
            format!("<span class=\"keyed\"><span class=\"key {class}\"></span>{text}</span> ")
        };
        let keys =
            [key("line", "frontier"), key("grey", "dominated"), key("ring", "operating point")];
        let (wide, narrow) = (chart.draw(Size::Wide), chart.draw(Size::Narrow));
        let (mut keys, labels) = (keys.concat(), self.load_kind().1);
        if !light.is_empty() {
            keys.push_str(&key("light bound", "speed of light: the bound, which nothing beats"));
            keys.push_str(&key("light expected", "expected of physics"));
            if light.iter().any(|line| line.class == "calibrated" && !line.points.is_empty()) {
                keys.push_str(&key("light calibrated", "calibrated"));
            }
            keys.push_str(
                "The curves are of mean E2EL, at the same numbers of requests in flight.",
            );
        }
        let knee = self.knee().map(|knee| format!("<p>Knee at {}.</p>\n", escape(&knee)));
        let knee = knee.unwrap_or_default();
        put(
            out,
            format_args!(
                "<figure>\n{wide}{narrow}<figcaption>Right and down is better; the labels are the {labels}. {keys}\
                 </figcaption>\n</figure>\n{knee}</section>\n"
            ),
        );
    }

    fn frontier_points(&self) -> Vec<FrontierPoint> {
        let point = |(i, (level, place)): (usize, (&LevelReport, &Place))| {
            let standing = match place {
                Place::LeftOut { .. } => return None,
                Place::Dominated { .. } => Standing::Dominated,
                Place::Frontier if self.operating_point().level() == Some(i) => {
                    Standing::OperatingPoint
                }
                Place::Frontier => Standing::Frontier,
            };
            let tail = tail_of(level)?;
            let throughput = level.summary.throughput.requests_per_s.get();
            let (mark, basis) = match tail.basis {
                LatencyBasis::P99 => ("", "p99"),
                LatencyBasis::Max => ("*", "greatest"),
            };
            Some(FrontierPoint {
                throughput,
                latency_ms: tail.ms(),
                label: format!("{}{mark}", self.label(level.load)),
                tip: format!(
                    "{}: {} requests/s, {basis} E2EL {}",
                    level.load.words(),
                    number(throughput),
                    duration_ms(tail.ms())
                ),
                standing,
            })
        };
        self.placed().enumerate().filter_map(point).collect()
    }

    /// The limit on the latency that the frontier is drawn over, if a goal sets one.
    fn latency_goal(&self) -> Option<(f64, String)> {
        let mut goals = self.slo()?.goals().iter();
        let goal = goals.find(|goal| {
            let tail = matches!(goal.statistic, Statistic::P99 | Statistic::Max);
            let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
            goal.metric == Metric::E2el && tail && upper
        })?;
        Some((goal.limit, format!("goal: {}", goal.describe())))
    }

    pub(super) fn load_figure(&self, out: &mut String) {
        for kind in self.kinds() {
            self.load_figure_of(&kind, out);
        }
    }

    /// What more load does, over the levels with these indices, which are of one kind of load.
    fn load_figure_of(&self, kind: &[usize], out: &mut String) {
        let kind = kind.first().and_then(|&i| self.levels().get(i)).map(|level| level.load);
        let drawn = |level: &&LevelReport| {
            kind.is_some_and(|kind| level.load.same_kind(kind))
                && level.load.value() > 0.0
                && level.load.value().is_finite()
        };
        let mut levels: Vec<&LevelReport> = self.compared().filter(drawn).collect();
        levels.sort_by(|a, b| a.load.value().total_cmp(&b.load.value()));
        if levels.len() < 2 {
            return;
        }
        let panels = panels(&levels);
        let marks = levels.iter().map(|level| (level.load.value(), level.load.to_string()));
        let load = match kind {
            Some(LoadPoint::Rate(_)) => "Requests sent per second",
            _ => "Concurrency (requests in flight)",
        };
        let chart = LoadChart {
            load,
            marks: marks.collect(),
            panels: &panels,
            description: "Where throughput stops growing, requests wait, and the time to first token grows with the load.",
        };
        let bound = panels.iter().flat_map(|panel| &panel.series).any(|s| s.name == "bound");
        let bound = if bound { " Bound: what the hardware allows at that load." } else { "" };
        let (wide, narrow) = (chart.draw(Size::Wide), chart.draw(Size::Narrow));
        put(
            out,
            format_args!(
                "<section>\n<h2>What more load does</h2>\n<figure>\n{wide}{narrow}<figcaption>Where throughput goes \
                 flat, further requests only wait: the time to first token grows instead.{bound}</figcaption>\n\
                 </figure>\n</section>\n"
            ),
        );
    }

    /// What the load is, as an axis' title and as words in a sentence.
    fn load_kind(&self) -> (&'static str, &'static str) {
        if self.is_mixed() {
            return ("Load", "concurrency, and of open loops the requests sent per second (/s)");
        }
        match self.levels().first().map(|level| level.load) {
            Some(LoadPoint::Rate(_)) => ("Requests sent per second", "requests sent per second"),
            _ => ("Concurrency (requests in flight)", "concurrency"),
        }
    }
}

fn tail_of(level: &LevelReport) -> Option<Tail> {
    Tail::of(&level.summary.metrics.e2el)
}

/// Throughput above, time to first token below.
fn panels(levels: &[&LevelReport]) -> Vec<LoadPanel> {
    let series = |name, class, value: fn(&LevelReport) -> Option<f64>| {
        let point = |level: &&LevelReport| Some((level.load.value(), value(level)?));
        Series { name, class, points: levels.iter().filter_map(point).collect() }
    };
    let measured = series("measured", "first", |level| {
        Some(level.summary.throughput.output_tokens_per_s.get())
    });
    let bound = series("bound", "third", |level| match &level.speed_of_light {
        SpeedOfLight::Known(light) => Some(light.bound.output_tokens_per_s.get()),
        SpeedOfLight::Absent { .. } => None,
    });
    let median =
        series("p50", "first", |level| level.summary.metrics.ttft.p50.value().map(Millis::get));
    let is_stand_in = |level: &&LevelReport| {
        let tail = Tail::of(&level.summary.metrics.ttft);
        tail.is_some_and(|tail| tail.basis == LatencyBasis::Max)
    };
    let name = if levels.iter().any(is_stand_in) { "p99*" } else { "p99" };
    let tail = series(name, "second", |level| Some(Tail::of(&level.summary.metrics.ttft)?.ms()));
    let greatest = |series: &Series| series.points.iter().map(|point| point.1).fold(0.0, f64::max);
    // A bound far above would press what was measured flat; the table has the share of it.
    let beside = greatest(&bound) <= 5.0 * greatest(&measured);
    let throughput = if beside { vec![measured, bound] } else { vec![measured] };
    vec![
        LoadPanel { title: "Output tokens per second", series: throughput },
        LoadPanel {
            title: "Time to first token, ms",
            // The median on top: where both are the same, it is the one that is meant.
            series: vec![tail, median],
        },
    ]
}
