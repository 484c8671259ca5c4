//! From a report to what its charts show.

use fizeau_metrics::{Comparison, Goal};
use fizeau_roofline::Share;

use super::{
    ChartCurvePoint, ChartDetail, ChartGoal, ChartLevel, ChartLight, ChartPlace, ChartRun,
};
use crate::Shown;
use crate::TableRun;
use crate::columns::figures_of;
use fizeau_core::LoadKind;
use fizeau_record::{LevelReport, LightCurve, LightFigures, LightPoint, Place, SweepReport};

impl ChartRun {
    /// What the charts of `report` show; `name` tells it from others beside it.
    #[must_use]
    pub fn of(report: &SweepReport, name: &str) -> Self {
        let run = TableRun::of(report, name);
        let level = |(index, (level, place)): (usize, (&LevelReport, &Place))| ChartLevel {
            load: level.load.words(),
            label: Shown(report).label_of(index),
            load_kind: match level.load.kind() {
                LoadKind::Rate => "requests_per_s",
                LoadKind::Concurrency => "concurrency",
            },
            load_value: level.load.value(),
            place: match place {
                Place::Frontier => ChartPlace::Frontier,
                Place::Dominated { .. } => ChartPlace::Dominated,
                Place::LeftOut { .. } => ChartPlace::LeftOut,
            },
            left_out: match place {
                Place::LeftOut { reason } => Some(reason.clone()),
                Place::Frontier | Place::Dominated { .. } => None,
            },
            verdict: level.validity.verdict.as_str(),
            saturated: level.is_saturated(),
            figures: figures_of(&run, level),
            light_share: level.speed_of_light.output_share().map(Share::get),
            detail: ChartDetail::of(level),
        };
        let levels: Vec<ChartLevel> = report.placed().enumerate().map(level).collect();
        let mut frontier = report.frontier();
        let rate = |index: &usize| {
            report.levels().get(*index).map(|l| l.summary.throughput.requests_per_s.get())
        };
        frontier.sort_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)));
        let goals = report.slo().map(|slo| slo.goals.iter().filter_map(goal).collect());
        Self {
            name: name.to_owned(),
            title: report.title(),
            devices: report.devices(),
            levels,
            frontier,
            operating: report.operating_point().level(),
            light: report.curve().map(light),
            goals: goals.unwrap_or_default(),
        }
    }
}

fn light(curve: &LightCurve) -> ChartLight {
    let devices = curve.devices().max(1) as f64;
    let points = |of: fn(&LightPoint) -> Option<LightFigures>| {
        let point = |point: &LightPoint| {
            let figures = of(point)?;
            let tps = figures.output_tokens_per_s.get();
            Some(ChartCurvePoint {
                concurrency: point.concurrency.get(),
                ttft_ms: figures.ttft.to_millis().get(),
                tpot_ms: figures.tpot.to_millis().get(),
                e2el_ms: figures.e2el.to_millis().get(),
                requests_per_s: figures.requests_per_s.get(),
                output_tps: tps,
                output_tps_per_device: tps / devices,
                user_tps: 1.0 / figures.tpot.get(),
            })
        };
        curve.points().iter().filter_map(point).collect()
    };
    ChartLight {
        bound: points(|point| Some(point.bound)),
        expected: points(|point| point.expected),
        calibrated: points(|point| point.calibrated),
    }
}

/// A goal that is an upper limit of a latency: the others are no line of any chart.
fn goal(goal: &Goal) -> Option<ChartGoal> {
    let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
    let column = goal.metric.entry().column.filter(|_| goal.metric.is_latency() && upper)?;
    Some(ChartGoal {
        figure: format!("{}_{column}", goal.statistic.as_str()),
        metric: goal.metric.entry().key.to_owned(),
        limit: goal.limit,
        loosest: goal.loosest,
        text: goal.describe(),
    })
}
