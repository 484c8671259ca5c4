//! Figures over the load: made to go one way, and held against a limit.

use super::{FigureLimit, TestedLoad};
use crate::resample::NORMAL_975;
use crate::{FigureEstimate, LimitRelation, ResponseTrend, isotonic};

/// All levels of one load.
pub(super) struct LoadStep {
    /// The index of the first of them.
    pub(super) index: usize,
    pub(super) load: f64,
    pub(super) throughput: FigureEstimate,
    figures: Vec<FigureEstimate>,
    /// How many they are.
    count: usize,
}

/// The loads that have all figures, rising.
pub(super) fn steps(levels: &[TestedLoad]) -> Vec<LoadStep> {
    let whole = levels.iter().enumerate().filter_map(|(index, level)| {
        let figures: Option<Vec<FigureEstimate>> = level.figures.iter().copied().collect();
        let (load, throughput) = (level.load, level.throughput);
        Some(LoadStep { index, load, throughput, figures: figures?, count: 1 })
    });
    let mut whole: Vec<LoadStep> = whole.collect();
    // A stable sort: the first of a load stays the first.
    whole.sort_by(|a, b| a.load.total_cmp(&b.load));
    let same = |a: &LoadStep, b: &LoadStep| a.load == b.load;
    whole.chunk_by(same).filter_map(averaged).collect()
}

fn averaged(same: &[LoadStep]) -> Option<LoadStep> {
    let first = same.first()?;
    let mean = |of: &dyn Fn(&LoadStep) -> Option<FigureEstimate>| {
        mean_of_runs(&same.iter().filter_map(of).collect::<Vec<_>>())
    };
    let figures = (0..first.figures.len()).map(|i| mean(&|step| step.figures.get(i).copied()));
    Some(LoadStep {
        index: first.index,
        load: first.load,
        throughput: mean(&|step| Some(step.throughput)),
        figures: figures.collect(),
        count: same.len(),
    })
}

/// The mean over runs of one load. Its interval is the mean of theirs, no narrower, since what the runs have in common errs in all
/// alike; and wider where they scatter by more than their intervals explain, by that excess as a random effect (DerSimonian and
/// Laird, "Meta-analysis in clinical trials", 1986, with equal weights), both as standard deviations add up. An interval is taken
/// to be of 95 %, and normal.
fn mean_of_runs(runs: &[FigureEstimate]) -> FigureEstimate {
    let count = runs.len().max(1) as f64;
    let mean = |of: &dyn Fn(&FigureEstimate) -> f64| runs.iter().map(of).sum::<f64>() / count;
    let value = mean(&FigureEstimate::value);
    let squares = count * mean(&|run| (run.value() - value).powi(2));
    let own = mean(&|run| ((run.high() - run.low()) / 2.0 / NORMAL_975).powi(2));
    let excess = if runs.len() < 2 { 0.0 } else { (squares / (count - 1.0) - own).max(0.0) };
    let between = NORMAL_975 * (excess / count).sqrt();
    let low = value - (value - mean(&FigureEstimate::low)).hypot(between);
    let high = value + (mean(&FigureEstimate::high) - value).hypot(between);
    around(value, low, high)
}

/// How far up the load a limit is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LimitReach {
    /// It is broken at the lowest load.
    Nowhere,
    To(f64),
    Everywhere,
}

/// A figure over the load, turned so that the limit is an upper one.
pub(super) struct LimitCurve {
    loads: Vec<f64>,
    costs: Vec<f64>,
    /// The better ends of the intervals.
    better: Vec<f64>,
    /// The worse ends.
    worse: Vec<f64>,
    most: f64,
    sign: f64,
    worsens: bool,
}

impl LimitCurve {
    /// Figure `index` of all steps against its limit.
    pub(super) fn of(steps: &[LoadStep], index: usize, limit: &FigureLimit) -> Self {
        let sign = match limit.relation {
            LimitRelation::AtMost => 1.0,
            LimitRelation::AtLeast => -1.0,
        };
        let figures: Vec<(FigureEstimate, f64)> = steps
            .iter()
            .filter_map(|step| Some((*step.figures.get(index)?, step.count as f64)))
            .collect();
        let weights = weights(&figures);
        let fitted = |end: fn(&FigureEstimate) -> f64| {
            let values: Vec<f64> = figures.iter().map(|(figure, _)| end(figure)).collect();
            // Estimates hold no NaN, and the weights are made to weigh.
            let fitted = isotonic(&values, &weights, limit.trend).unwrap_or(values);
            fitted.into_iter().map(|value| sign * value).collect()
        };
        let (costs, low, high): (_, Vec<f64>, Vec<f64>) = (
            fitted(FigureEstimate::value),
            fitted(FigureEstimate::low),
            fitted(FigureEstimate::high),
        );
        let (better, worse) = if sign > 0.0 { (low, high) } else { (high, low) };
        let worsens = match limit.relation {
            LimitRelation::AtMost => limit.trend == ResponseTrend::Rising,
            LimitRelation::AtLeast => limit.trend == ResponseTrend::Falling,
        };
        let loads = steps.iter().map(|step| step.load).collect();
        Self { loads, costs, better, worse, most: sign * limit.limit, sign, worsens }
    }

    /// The figure at a step, in its own direction.
    pub(super) fn value(&self, at: usize) -> f64 {
        self.costs.get(at).map_or(f64::NAN, |cost| self.sign * cost)
    }

    pub(super) fn keeps(&self, at: usize) -> bool {
        self.costs.get(at).is_some_and(|cost| *cost <= self.most)
    }

    /// Whether the better end of the figure's interval keeps the limit.
    pub(super) fn may_keep(&self, at: usize) -> bool {
        self.better.get(at).is_some_and(|cost| *cost <= self.most)
    }

    pub(super) fn reach(&self) -> LimitReach {
        self.reach_along(&self.costs)
    }

    pub(super) fn reach_of_better(&self) -> LimitReach {
        self.reach_along(&self.better)
    }

    pub(super) fn reach_of_worse(&self) -> LimitReach {
        self.reach_along(&self.worse)
    }

    /// Whether the worse end of a figure that more load helps keeps the limit at `load`. True of any other, which
    /// [`LimitCurve::reach_of_worse`] tells of.
    pub(super) fn surely_helped(&self, load: f64) -> bool {
        self.worsens || on_line(&self.loads, &self.worse, load) <= self.most
    }

    /// Where `costs`, which rise, cross the limit. One that falls bounds no load from above.
    fn reach_along(&self, costs: &[f64]) -> LimitReach {
        if !self.worsens {
            return LimitReach::Everywhere;
        }
        let kept = costs.partition_point(|cost| *cost <= self.most);
        let Some(last) = kept.checked_sub(1) else { return LimitReach::Nowhere };
        let at = |i: usize| Some((*self.loads.get(i)?, *costs.get(i)?));
        let (Some((from, low)), Some((to, high))) = (at(last), at(kept)) else {
            return LimitReach::Everywhere;
        };
        // From an end that lies infinitely low, the crossing may be anywhere up to the next load.
        let share = (self.most - low) / (high - low);
        let share = if share.is_nan() { 1.0 } else { share };
        LimitReach::To((to - from).mul_add(share, from).clamp(from, to))
    }
}

/// By precision where every figure has an interval of its own; else all alike.
fn weights(figures: &[(FigureEstimate, f64)]) -> Vec<f64> {
    let precision = |(figure, count): &(FigureEstimate, f64)| {
        let weight = count / (figure.high() - figure.low()).powi(2);
        (weight > 0.0 && weight.is_finite()).then_some(weight)
    };
    let precise: Option<Vec<f64>> = figures.iter().map(precision).collect();
    precise.unwrap_or_else(|| figures.iter().map(|(_, count)| *count).collect())
}

/// What is served over the loads of an interval.
pub(super) fn throughput(steps: &[LoadStep], load: FigureEstimate) -> FigureEstimate {
    let at = |load: f64, end: fn(&FigureEstimate) -> f64| {
        along(steps, load, |step| end(&step.throughput))
    };
    let inside = steps.iter().filter(|step| load.low() <= step.load && step.load <= load.high());
    let ends = [load.low(), load.value(), load.high()];
    let low = ends.map(|load| at(load, FigureEstimate::low)).into_iter();
    let low = low.chain(inside.clone().map(|step| step.throughput.low())).fold(f64::MAX, f64::min);
    let high = ends.map(|load| at(load, FigureEstimate::high)).into_iter();
    let high = high.chain(inside.map(|step| step.throughput.high())).fold(f64::MIN, f64::max);
    around(at(load.value(), FigureEstimate::value), low, high)
}

/// On the straight line between the neighbours of a load within the steps.
fn along(steps: &[LoadStep], load: f64, figure: impl Fn(&LoadStep) -> f64) -> f64 {
    let loads: Vec<f64> = steps.iter().map(|step| step.load).collect();
    on_line(&loads, &steps.iter().map(figure).collect::<Vec<_>>(), load)
}

/// On the straight line between the neighbours of a load, of rising `loads` and the figure at each.
fn on_line(loads: &[f64], figures: &[f64], load: f64) -> f64 {
    let above = loads.partition_point(|own| *own <= load);
    let at = |i: usize| Some((*loads.get(i)?, *figures.get(i)?));
    match (above.checked_sub(1).and_then(at), at(above)) {
        (Some((low, from)), Some((high, to))) => {
            let share = (load - low) / (high - low);
            // Rounding must not lead beyond the better neighbour; an infinite end stays one.
            let between = (to - from).mul_add(share, from);
            if between.is_nan() { from } else { between.clamp(from.min(to), from.max(to)) }
        }
        (Some((_, one)), None) | (None, Some((_, one))) => one,
        (None, None) => f64::NAN,
    }
}

/// `value` within its ends, which rounding may have put a little too near.
pub(super) fn around(value: f64, low: f64, high: f64) -> FigureEstimate {
    let (low, high) = (low.min(value), high.max(value));
    FigureEstimate::new(value, low, high).unwrap_or(FigureEstimate::ZERO)
}
