//! A comparison of figures of which no more is known than their intervals.

use fizeau_core::{Estimate, Interval};

use super::student::{normal_above, normal_quantile};
use super::table::{share_of, strictest};
use super::{
    Alpha, Basis, ComparedFigure, ComparisonSettings, ComparisonTable, ComparisonTest, Figure,
    NamedTest, PValue, Side, Tested, Untested,
};

/// A figure of a level, as a file of its summary has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalFigure {
    /// Which.
    pub figure: Figure,
    /// Its value, in its unit.
    pub value: f64,
    /// Its 95 % interval, around the value; absent where they are not known.
    pub interval: Option<Interval<f64>>,
    /// How many requests it is of.
    pub n: u64,
}

impl ComparisonTable {
    /// Figures against figures, by their 95 % intervals alone: for runs whose requests are not at hand.
    ///
    /// The interval of a difference is made from those of its two figures, which need not reach equally far to both sides (the
    /// method of G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27,
    /// 2008), and p is what the normal distribution gives for how far zero is outside. Both sides count as independent: what
    /// pairs of the same requests would show is lost, so that it finds less than [`ComparisonTable::of_requests`].
    ///
    /// A figure without an interval on either side is not tested.
    ///
    /// ```
    /// use fizeau_core::Interval;
    /// use fizeau_metrics::{Answer, ComparisonSettings, ComparisonTable, Figure, IntervalFigure};
    /// let side = |value: f64| {
    ///     let interval = Some(Interval::p95(value - 20.0, value + 20.0));
    ///     [IntervalFigure { figure: Figure::OUTPUT_TPS, value, interval, n: 400 }]
    /// };
    /// let compared = |candidate: f64| {
    ///     ComparisonTable::of_intervals(&side(1_000.0), &side(candidate), &ComparisonSettings::default())
    /// };
    /// let worse = |table: &ComparisonTable| table.answered(Answer::Worse).count();
    /// assert_eq!(worse(&compared(900.0)), 1);
    /// assert_eq!(worse(&compared(980.0)), 0);
    /// ```
    #[must_use]
    pub fn of_intervals(
        baseline: &[IntervalFigure],
        candidate: &[IntervalFigure],
        settings: &ComparisonSettings,
    ) -> Self {
        let both = |&figure: &Figure| Both::of(figure, baseline, candidate);
        let decided: Vec<Both> = settings.figures.decided.iter().map(both).collect();
        let family = decided.iter().filter(|both| both.intervals().is_ok()).count();
        let within = strictest(settings.alpha, family);
        let decided = decided.iter().map(|both| both.row(true, settings, within));
        let beside = settings.figures.beside.iter().map(both);
        let beside = beside.map(|both| both.row(false, settings, settings.alpha));
        Self::decided(Basis::Intervals, settings, decided.chain(beside).collect())
    }
}

/// A figure of both sides, where they have it.
struct Both {
    figure: Figure,
    baseline: Option<IntervalFigure>,
    candidate: Option<IntervalFigure>,
}

/// How far an interval reaches below its figure, and above.
#[derive(Clone, Copy)]
struct Reach {
    below: f64,
    above: f64,
}

impl Both {
    fn of(figure: Figure, baseline: &[IntervalFigure], candidate: &[IntervalFigure]) -> Self {
        let find =
            |side: &[IntervalFigure]| side.iter().find(|known| known.figure == figure).copied();
        Self { figure, baseline: find(baseline), candidate: find(candidate) }
    }

    /// The figures with their intervals, or what stands against a test.
    fn intervals(&self) -> Result<[(f64, Reach); 2], Untested> {
        let known = |of: Option<IntervalFigure>, side: Side| {
            let of = of.ok_or(Untested::Absent(side))?;
            let interval = of.interval.ok_or(Untested::NoInterval(side))?;
            let reach = Reach {
                below: (of.value - interval.low).max(0.0),
                above: (interval.high - of.value).max(0.0),
            };
            let all = [of.value, reach.below, reach.above];
            if all.iter().all(|x| x.is_finite()) {
                Ok((of.value, reach))
            } else {
                Err(Untested::NotANumber)
            }
        };
        Ok([known(self.baseline, Side::Baseline)?, known(self.candidate, Side::Candidate)?])
    }

    /// `within` is the level that a detectable effect must pass.
    fn row(
        &self,
        is_decided: bool,
        settings: &ComparisonSettings,
        within: Alpha,
    ) -> ComparedFigure {
        let value = |of: Option<IntervalFigure>| of.map(|of| of.value).filter(|x| x.is_finite());
        let n = |of: Option<IntervalFigure>| of.map_or(0, |of| of.n);
        let n = n(self.baseline).min(n(self.candidate));
        ComparedFigure {
            figure: self.figure,
            is_decided,
            baseline: value(self.baseline),
            candidate: value(self.candidate),
            tested: self.intervals().map(|both| tested(both, n, settings, within)),
        }
    }
}

/// What a standard normal exceeds at either end of a 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

fn tested(
    [(baseline, before), (candidate, after)]: [(f64, Reach); 2],
    n: u64,
    settings: &ComparisonSettings,
    within: Alpha,
) -> Tested {
    let estimate = candidate - baseline;
    // How far the difference may be less, and more, than it seems, at 95 %.
    let (less, more) = (after.below.hypot(before.above), after.above.hypot(before.below));
    let scale = normal_quantile(settings.alpha.tail()) / Z_95;
    let interval = settings.alpha.interval(estimate - scale * less, estimate + scale * more);
    let difference = Estimate::widened(estimate, Some(interval));
    let to_zero = if estimate > 0.0 { less } else { more };
    let p = match (estimate == 0.0, to_zero == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => 2.0 * normal_above(Z_95 * estimate.abs() / to_zero),
    };
    let deviation = less.midpoint(more) / Z_95;
    let needed = normal_quantile(within.tail()) + quantile_of_power(settings);
    let detectable = Some(needed * deviation).filter(|least| *least > 0.0);
    Tested {
        n,
        difference,
        relative: share_of(difference, baseline),
        tests: vec![NamedTest { test: ComparisonTest::Intervals, p: PValue::clipped(p) }],
        effect: None,
        detectable,
        relative_detectable: detectable
            .map(|least| least / baseline.abs())
            .filter(|x| x.is_finite()),
        decision: None,
    }
}

/// The value that a standard normal stays below as often as a difference is to be found.
fn quantile_of_power(settings: &ComparisonSettings) -> f64 {
    let power = settings.power.get();
    if power < 0.5 { -normal_quantile(power) } else { normal_quantile(1.0 - power) }
}
