//! A comparison of figures of which no more is known than their intervals.

use fizeau_core::{Estimate, Interval};

use super::fisher::{CountOf, fisher_exact};
use super::standard_error::StandardError;
use super::student::{normal_above, normal_quantile};
use super::{
    ComparedFigure, ComparisonBasis, ComparisonSettings, ComparisonSide, ComparisonTable,
    ComparisonTest, LevelFigure, NamedTest, PValue, TestFindings, UntestedReason,
};

/// A figure of a level, as a file of its summary has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalFigure {
    /// Which.
    pub figure: LevelFigure,
    /// Its value, in its unit.
    pub value: f64,
    /// Its 95 % interval, around the value; absent where they are not known.
    pub interval: Option<Interval<f64>>,
    /// How many requests it is of.
    pub n: u64,
}

impl ComparisonTable {
    /// Figures against figures, by their 95 % intervals alone: for runs whose requests are not available.
    ///
    /// The interval of a difference is made from those of its two figures, which need not reach equally far to both sides (the
    /// method of G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27,
    /// 2008), and p is what the normal distribution gives for how far zero is outside. Both sides count as independent: what
    /// pairs of the same requests would show is lost, so that it finds less than [`ComparisonTable::of_requests`].
    ///
    /// A figure without an interval on either side is not tested, but for the share of failed requests: that is a count of so many
    /// requests, which Fisher's exact test takes.
    ///
    /// ```
    /// use fizeau_core::Interval;
    /// use fizeau_metrics::{ComparisonAnswer, ComparisonSettings, ComparisonTable, LevelFigure, IntervalFigure};
    /// let side = |value: f64| {
    ///     let interval = Some(Interval::p95(value - 20.0, value + 20.0));
    ///     [IntervalFigure { figure: LevelFigure::OUTPUT_TPS, value, interval, n: 400 }]
    /// };
    /// let compared = |candidate: f64| {
    ///     ComparisonTable::of_intervals(&side(1_000.0), &side(candidate), &ComparisonSettings::default())
    /// };
    /// let worse = |table: &ComparisonTable| table.answered(ComparisonAnswer::Worse).count();
    /// assert_eq!(worse(&compared(900.0)), 1);
    /// assert_eq!(worse(&compared(980.0)), 0);
    /// ```
    #[must_use]
    pub fn of_intervals(
        baseline: &[IntervalFigure],
        candidate: &[IntervalFigure],
        settings: &ComparisonSettings,
    ) -> Self {
        let row = |(figure, is_decided)| {
            BothFigures::of(figure, baseline, candidate).row(is_decided, settings)
        };
        Self::with_decisions(
            ComparisonBasis::Intervals,
            settings,
            settings.figures.all().map(row).collect(),
        )
    }
}

/// A figure of both sides, where they have it.
struct BothFigures {
    figure: LevelFigure,
    baseline: Option<IntervalFigure>,
    candidate: Option<IntervalFigure>,
}

/// How far an interval reaches below its figure, and above.
#[derive(Clone, Copy)]
struct Reach {
    below: f64,
    above: f64,
}

impl BothFigures {
    fn of(figure: LevelFigure, baseline: &[IntervalFigure], candidate: &[IntervalFigure]) -> Self {
        let find =
            |side: &[IntervalFigure]| side.iter().find(|known| known.figure == figure).copied();
        Self { figure, baseline: find(baseline), candidate: find(candidate) }
    }

    /// The figures with their intervals, or what stands against a test.
    fn intervals(&self) -> Result<[(f64, Reach); 2], UntestedReason> {
        let known = |of: Option<IntervalFigure>, side: ComparisonSide| {
            let of = of.ok_or(UntestedReason::Absent(side))?;
            let interval = of.interval.ok_or(UntestedReason::NoInterval(side))?;
            let reach = Reach {
                below: (of.value - interval.low).max(0.0),
                above: (interval.high - of.value).max(0.0),
            };
            let all = [of.value, reach.below, reach.above];
            if all.iter().all(|x| x.is_finite()) {
                Ok((of.value, reach))
            } else {
                Err(UntestedReason::NotANumber)
            }
        };
        Ok([
            known(self.baseline, ComparisonSide::Baseline)?,
            known(self.candidate, ComparisonSide::Candidate)?,
        ])
    }

    fn row(&self, is_decided: bool, settings: &ComparisonSettings) -> ComparedFigure {
        let value = |of: Option<IntervalFigure>| of.map(|of| of.value).filter(|x| x.is_finite());
        let n = |of: Option<IntervalFigure>| of.map_or(0, |of| of.n);
        let n = n(self.baseline).min(n(self.candidate));
        ComparedFigure {
            figure: self.figure,
            stands_for: None,
            is_decided,
            baseline: value(self.baseline),
            candidate: value(self.candidate),
            tested: self.failures().map_or_else(
                || self.intervals().map(|both| tested(self.figure, both, n, settings)),
                Ok,
            ),
        }
    }

    /// What both counts of failed requests tell, where they are known.
    fn failures(&self) -> Option<TestFindings> {
        let (a, b) = self.baseline.zip(self.candidate)?;
        let is_share = |side: IntervalFigure| (0.0..=1.0).contains(&side.value);
        if self.figure != LevelFigure::FAILED_SHARE || !(is_share(a) && is_share(b)) {
            return None;
        }
        let count = |side: IntervalFigure| CountOf {
            count: (side.value * side.n as f64).round() as u64,
            of: side.n,
        };
        let p = fisher_exact(count(a), count(b))?;
        let tests = vec![NamedTest { test: ComparisonTest::FisherExact, p }];
        let difference = Estimate::widened(b.value - a.value, None);
        Some(TestFindings::new(a.n.min(b.n), a.value, difference, None, tests))
    }
}

/// What a standard normal exceeds at either end of a 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

fn tested(
    figure: LevelFigure,
    [(baseline, before), (candidate, after)]: [(f64, Reach); 2],
    n: u64,
    settings: &ComparisonSettings,
) -> TestFindings {
    let estimate = candidate - baseline;
    let between = Z_95 * settings.run_to_run.between(figure, baseline, candidate);
    // How far the difference may be less, and more, than it seems, at 95 %.
    let less = after.below.hypot(before.above).hypot(between);
    let more = after.above.hypot(before.below).hypot(between);
    let scale = normal_quantile(settings.alpha.tail()) / Z_95;
    let interval = settings.alpha.interval(estimate - scale * less, estimate + scale * more);
    let difference = Estimate::widened(estimate, Some(interval));
    let to_zero = if estimate > 0.0 { less } else { more };
    let p = match (estimate == 0.0, to_zero == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => 2.0 * normal_above(Z_95 * estimate.abs() / to_zero),
    };
    let error = less.midpoint(more) / Z_95;
    let standard = (error > 0.0).then_some(StandardError { error, df: f64::INFINITY });
    let tests = vec![NamedTest { test: ComparisonTest::Intervals, p: PValue::clipped(p) }];
    TestFindings {
        run_to_run: settings.run_to_run.of(figure),
        ..TestFindings::new(n, baseline, difference, standard, tests)
    }
}
