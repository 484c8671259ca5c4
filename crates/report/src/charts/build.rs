//! From a report to what its charts show.

use fizeau_metrics::{Comparison, Goal};
use fizeau_roofline::BoundShare;

use super::{
    ChartCurvePoint, ChartDetail, ChartGoal, ChartLevel, ChartLevelPosition, ChartRun,
    ChartSpeedOfLight, ChartStep,
};
use crate::Shown;
use crate::TableRun;
use crate::columns::figures_of;
use fizeau_record::{
    FrontierPosition, LevelReport, SpeedOfLightCurve, SpeedOfLightFigures, SpeedOfLightPoint,
    SweepReport,
};

impl ChartRun {
    /// What the charts of `report` show; `name` tells it from others beside it.
    #[must_use]
    pub fn of(report: &SweepReport, name: &str) -> Self {
        let run = TableRun::of(report, name);
        let level =
            |(index, (level, position)): (usize, (&LevelReport, &FrontierPosition))| ChartLevel {
                load: level.load.to_string(),
                label: Shown(report).label_of(index),
                load_kind: level.load.kind().key(),
                load_value: level.load.value(),
                position: match position {
                    FrontierPosition::Frontier => ChartLevelPosition::Frontier,
                    FrontierPosition::Dominated { .. } => ChartLevelPosition::Dominated,
                    FrontierPosition::LeftOut { .. } => ChartLevelPosition::LeftOut,
                },
                left_out: match position {
                    FrontierPosition::LeftOut { reason } => Some(reason.clone()),
                    FrontierPosition::Frontier | FrontierPosition::Dominated { .. } => None,
                },
                verdict: level.validity.verdict.as_str(),
                saturated: level.is_saturated(),
                figures: figures_of(&run, level),
                light_share: level.speed_of_light.output_share().map(BoundShare::get),
                detail: ChartDetail::of(level),
                steps: ChartStep::all(level),
            };
        let levels: Vec<ChartLevel> = report.with_positions().enumerate().map(level).collect();
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
            light: report.curve().map(speed_of_light),
            goals: goals.unwrap_or_default(),
        }
    }
}

fn speed_of_light(curve: &SpeedOfLightCurve) -> ChartSpeedOfLight {
    let devices = curve.devices().max(1) as f64;
    let points = |of: fn(&SpeedOfLightPoint) -> Option<SpeedOfLightFigures>| {
        let point = |point: &SpeedOfLightPoint| {
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
    ChartSpeedOfLight {
        bound: points(|point| Some(point.bound)),
        expected: points(|point| point.expected),
        calibrated: points(|point| point.calibrated),
    }
}

/// A goal that is an upper limit of a latency: the others are no line of any chart.
fn goal(goal: &Goal) -> Option<ChartGoal> {
    let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
    let column = goal.metric.column(goal.statistic);
    Some(ChartGoal {
        figure: column.filter(|_| goal.metric.is_latency() && upper)?,
        metric: goal.metric.entry().key.to_owned(),
        limit: goal.limit,
        loosest: goal.loosest,
        text: goal.describe(),
    })
}
