//! Runs to draw: the sample sweep with tapes' details that a formula makes.

use fizeau_core::{Millis, Nanos, PerSec, Stamp, Tokens};
use fizeau_metrics::{
    LevelShape, LevelTimeSeries, Metric, PromptTtft, QuantileCurves, QuantilePoint, TimeSeriesBin,
};
use fizeau_record::{LevelDetail, SweepReport};
use fizeau_report::{
    ChartFigure, ChartFigures, ChartGoal, ChartLevelPosition, ChartRun, ChartStep,
};

use crate::sample::{curve, level, setup};

/// The sample sweep, by itself.
pub(super) fn run() -> ChartRun {
    run_with("", 1.0)
}

/// Another that is faster, with a name that is none for a page.
pub(super) fn beside() -> ChartRun {
    run_with("fp8 <candidate>", 0.7)
}

/// The sample sweep under a name; all that takes time takes `times` as long.
pub(super) fn run_with(name: &str, times: f64) -> ChartRun {
    let with_detail = |concurrency: u32| {
        let detail = LevelDetail { shape: shape(concurrency), peers: Vec::new() };
        let mut level = level(concurrency);
        level.detail = Some(Box::new(detail));
        level
    };
    let levels = [1, 2, 4, 8, 16, 32, 64, 128].map(with_detail).into();
    let report = SweepReport::new(setup(), levels, "p99 ttft<150ms, p99 e2el<600ms".parse().ok());
    let mut run = ChartRun::of(&report.with_curve(Some(curve())), name);
    for level in &mut run.levels {
        for (figure, value) in &mut level.figures.0 {
            let by = if figure.ends_with("_ms") { times } else { 1.0 / times };
            *value = scaled(*value, by);
        }
        level.steps = steps(times);
    }
    run
}

/// Steps that only decode, and some with more and more of a prompt.
fn steps(times: f64) -> Vec<ChartStep> {
    let step = |index: u32| {
        let prefill_share = f64::from(index % 8) / 7.0;
        let bound_ms = 5.0 + 40.0 * prefill_share + f64::from(index) / 100.0;
        let wall_ms = times * (bound_ms * 1.3 + 0.5 + f64::from(index % 5) / 5.0);
        ChartStep { bound_ms, wall_ms, prefill_share }
    };
    (0..160).map(step).collect()
}

fn scaled(of: ChartFigure, by: f64) -> ChartFigure {
    let scale = |end: Option<f64>| end.map(|end| end * by);
    ChartFigure { value: of.value * by, low: scale(of.low), high: scale(of.high), ..of }
}

/// Distributions with a tail, a timeline that rises, holds and falls, and prompts of all lengths.
fn shape(concurrency: u32) -> LevelShape {
    let load = f64::from(concurrency);
    let curve = |median: f64| {
        let shares = (1..=40).map(|i| 1.0 - 0.8_f64.powi(i));
        let point = |share: f64| {
            let value = Millis::new(median * (1.0 - 0.3 * (1.0 - share).ln()));
            QuantilePoint { share, value }
        };
        shares.map(point).collect::<Vec<_>>()
    };
    let bin = |index: u32| {
        let phase = f64::from(index) / 120.0;
        let busy = (phase * 8.0).min((1.0 - phase) * 8.0).clamp(0.0, 1.0);
        let prefilling = busy * load * (0.1 + 0.1 * (phase * 40.0).sin().abs());
        let gap = (index % 17 != 3).then_some(8.0 + 0.1 * load * busy + 0.4 * prefilling);
        TimeSeriesBin {
            in_flight: busy * load,
            prefilling,
            output_tokens_per_s: PerSec::new(busy * 60.0 * load.min(32.0)),
            ttft_p50: None,
            ttft_max: None,
            itl_p50: gap.map(Millis::new),
            itl_p99: gap.map(|gap| Millis::new(gap * 2.5)),
            itl_max: gap.map(|gap| Millis::new(gap * 6.0)),
        }
    };
    let pair = |index: u64| {
        let input = 32 + (index * 137) % 4000;
        let ttft = 20.0 + 0.05 * input as f64 + load * (index % 7) as f64;
        PromptTtft { input: Tokens::new(input), ttft: Millis::new(ttft) }
    };
    LevelShape {
        quantiles: QuantileCurves(vec![
            (Metric::Ttft, curve(30.0 + load)),
            (Metric::Tpot, curve(8.0 + load / 20.0)),
            (Metric::Itl, curve(8.0 + load / 16.0)),
            (Metric::E2el, curve(400.0 + 8.0 * load)),
        ]),
        timeline: LevelTimeSeries {
            start: Stamp::EPOCH,
            bin: Nanos::from_millis(250),
            bins: (0..120).map(bin).collect(),
        },
        ttft_by_input: (0..200).map(pair).collect(),
    }
}

/// A level's rate, latency and tokens of a user, and how wide its intervals are.
pub(super) type Figures = (Option<f64>, Option<f64>, Option<f64>, f64);

/// Two runs with levels of these figures, one level each where there are few.
pub(super) fn many(figures: &[Figures], goal: Option<f64>) -> Vec<ChartRun> {
    let sample = run();
    let goals = goal.map(|limit| ChartGoal {
        figure: "p99_e2el_ms".to_owned(),
        metric: "e2el".to_owned(),
        limit,
        loosest: None,
        text: format!("p99 E2EL < {limit} ms"),
    });
    let level = |(index, (rate, latency, user, wide)): (usize, &Figures)| {
        let figure = |value: Option<f64>| {
            let value = value?;
            let (low, high) = (Some(value / (1.0 + wide)), Some(value * (1.0 + wide)));
            Some(ChartFigure { value, low, high, stand_in: index % 2 == 0 })
        };
        let all = [
            ("requests_per_s", figure(*rate)),
            ("output_tps_per_device", figure(*rate)),
            ("user_tps", figure(*user)),
            ("p50_ttft_ms", figure(*latency)),
            ("p99_ttft_ms", figure(*latency)),
            ("p99_tpot_ms", figure(*user)),
            ("p99_e2el_ms", figure(*latency)),
        ];
        let known = all.into_iter().filter_map(|(name, of)| Some((name.to_owned(), of?)));
        let place = match index % 3 {
            0 => ChartLevelPosition::Frontier,
            1 => ChartLevelPosition::Dominated,
            _ => ChartLevelPosition::LeftOut,
        };
        let mut level = sample.levels[index % sample.levels.len()].clone();
        (level.figures, level.position) = (ChartFigures(known.collect()), place);
        if let Some(detail) = &mut level.detail {
            let times = rate.unwrap_or(1.0);
            let stretch = |curve: &mut Vec<(f64, f64)>| {
                curve.iter_mut().for_each(|point| point.1 *= times);
            };
            detail.quantiles.values_mut().for_each(stretch);
            detail.timeline.in_flight.iter_mut().for_each(|value| *value *= times);
            detail.ttft_by_input.iter_mut().for_each(|pair| pair.1 *= times);
        }
        level
    };
    let levels: Vec<_> = figures.iter().enumerate().map(level).collect();
    let operating = (levels.len() > 3).then_some(3);
    let mut one = sample;
    (one.levels, one.operating, one.goals) = (levels, operating, goals.into_iter().collect());
    let mut other = one.clone();
    other.name = "other".to_owned();
    other.levels.truncate(1);
    other.operating = None;
    vec![one, other]
}
