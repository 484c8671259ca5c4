//! One figure of two runs, tested.

use fizeau_core::{Confidence, Estimate};

use super::UntestedFigure;
use super::column::{BothSeries, SeriesFigure};
use super::drawn::{
    DRIFT_FREEDOM, Drawing, FEWEST_BLOCKS, SeriesWithFigure, drift, log_drift, of_pairs, of_sides,
};
use crate::compare::fisher::{CountOf, fisher_exact};
use crate::compare::ranks::Ranks;
use crate::compare::rounds::ROUNDING;
use crate::compare::standard_error::StandardError;
use crate::compare::student::{normal_above, normal_quantile};
use crate::compare::{
    ComparisonSettings, ComparisonTest, EffectKind, EffectSize, LevelFigure, NamedTest, PValue,
    SignificanceLevel, TestFindings, UnpairedValues, UntestedReason,
};
use crate::stats::least_for_percentile;
use crate::{Autocorrelation, Percent};

/// A figure of both runs that can be tested.
#[derive(Debug)]
pub(super) struct TestableFigure {
    what: SeriesFigure,
    a: SeriesWithFigure,
    b: SeriesWithFigure,
    is_paired: bool,
    in_flight: f64,
    /// How far the logarithms of both medians may be off by the quarters of the runs, where requests hang together so much that
    /// they are worth too few.
    by_quarters: Option<f64>,
}

/// A mean or a rate takes so many independent values.
const LEAST: u64 = 30;

impl TestableFigure {
    /// Refuses series that are too short for the figure, by how much they are correlated.
    pub(super) fn new(both: BothSeries) -> Result<Self, UntestedFigure> {
        let BothSeries { what, baseline, candidate, is_paired, in_flight } = both;
        let mut compared = Self {
            what,
            a: SeriesWithFigure::new(what, baseline),
            b: SeriesWithFigure::new(what, candidate),
            is_paired,
            in_flight,
            by_quarters: None,
        };
        if !(compared.a.value.is_finite() && compared.b.value.is_finite()) {
            return Err(UntestedFigure { values: (None, None), why: UntestedReason::NotANumber });
        }
        let sides = [&compared.a, &compared.b];
        let too_few = sides.into_iter().filter_map(|side| {
            let (needs, has) = (compared.needs(side), side.n() as u64);
            (has < needs).then_some((needs, has))
        });
        match too_few.max_by_key(|(needs, has)| needs - has) {
            Some((needs, has)) => {
                compared.by_quarters = compared.quarters();
                match compared.by_quarters {
                    Some(_) => Ok(compared),
                    None => Err(UntestedFigure {
                        values: compared.supported(),
                        why: UntestedReason::TooFew { what: "requests", needs, has },
                    }),
                }
            }
            None => Ok(compared),
        }
    }

    /// What the quarters of both runs know of a median; none where there are too few requests even if each stood for itself.
    fn quarters(&self) -> Option<f64> {
        let least = (LEAST as f64).max(FEWEST_BLOCKS * self.in_flight);
        let has_enough = [&self.a, &self.b].iter().all(|side| side.n() as f64 >= least);
        let is_median = self.what == SeriesFigure::Percentile(Percent::P50);
        let error = log_drift(&self.a).hypot(log_drift(&self.b));
        Some(error).filter(|error| is_median && has_enough && error.is_finite() && *error > 0.0)
    }

    /// Both figures.
    pub(super) const fn values(&self) -> (Option<f64>, Option<f64>) {
        (Some(self.a.value), Some(self.b.value))
    }

    /// How many requests it takes.
    fn needs(&self, side: &SeriesWithFigure) -> u64 {
        let independent = match self.what {
            SeriesFigure::Mean | SeriesFigure::Rate => LEAST,
            // A median takes fewer by its rule than a mean does.
            SeriesFigure::Percentile(percent) => {
                least_for_percentile(percent, Confidence::P95).unwrap_or(u64::MAX).max(LEAST)
            }
        };
        let inflation =
            Autocorrelation::of(&side.influence()).map_or(1.0, Autocorrelation::inflation);
        (independent as f64 * inflation).max(FEWEST_BLOCKS * self.in_flight).ceil() as u64
    }

    /// Both figures, if the sample is so large that one value is expected beyond a percentile.
    fn supported(&self) -> (Option<f64>, Option<f64>) {
        let supports = |side: &SeriesWithFigure| match self.what {
            SeriesFigure::Mean | SeriesFigure::Rate => true,
            SeriesFigure::Percentile(percent) => side.n() as f64 * (100.0 - percent.get()) >= 100.0,
        };
        let value = |side: &SeriesWithFigure| supports(side).then_some(side.value);
        (value(&self.a), value(&self.b))
    }

    /// The tests.
    pub(super) fn tested(
        &self,
        figure: LevelFigure,
        settings: &ComparisonSettings,
    ) -> TestFindings {
        if let Some(error) = self.by_quarters {
            return self.tested_by_quarters(error, figure, settings);
        }
        let estimate = self.b.value - self.a.value;
        let draw = if self.is_paired { of_pairs } else { of_sides };
        let ComparisonSettings { resamples, seed, .. } = *settings;
        let drawing = Drawing { in_flight: self.in_flight, resamples, seed };
        let within = draw(&self.a, &self.b, drawing);
        let (standard, run_to_run) = self.between(within, figure, settings);
        let scale = self.a.value.abs().max(self.b.value.abs());
        let moving = Some(standard).filter(|standard| standard.error > ROUNDING * scale);
        let p = moving.map_or_else(|| self.by_signs(estimate), |standard| standard.p(estimate));
        let difference = match moving {
            Some(standard) => standard.around(estimate, settings.alpha),
            None => Estimate::widened(estimate, None),
        };
        let ranks = self.ranks(settings.alpha);
        // Of a handful of failures no bootstrap knows how uncertain their share is.
        let exact = (figure == LevelFigure::FAILED_SHARE).then(|| self.by_counts()).flatten();
        let decides = match exact {
            Some(p) => NamedTest { test: ComparisonTest::FisherExact, p },
            None => NamedTest { test: ComparisonTest::BlockBootstrap, p },
        };
        let tests = std::iter::once(decides).chain(ranks.as_ref().and_then(|ranks| ranks.test));
        let n = self.a.n().min(self.b.n()) as u64;
        TestFindings {
            effect: ranks.map(|ranks| ranks.effect),
            run_to_run,
            ..TestFindings::new(n, self.a.value, difference, moving, tests.collect())
        }
    }

    /// Whether the medians are farther apart, as a factor, than the quarters of each run are; or than runs are taken to be, where that
    /// is more.
    fn tested_by_quarters(
        &self,
        error: f64,
        figure: LevelFigure,
        settings: &ComparisonSettings,
    ) -> TestFindings {
        let error = error.max(settings.run_to_run.of(figure) * std::f64::consts::SQRT_2);
        let factor = (self.b.value / self.a.value).ln();
        let standard = StandardError { error, df: DRIFT_FREEDOM };
        let difference =
            standard.around(factor, settings.alpha).map(|end| self.a.value * end.exp_m1());
        let test = NamedTest { test: ComparisonTest::Quarters, p: standard.p(factor) };
        let n = self.a.n().min(self.b.n()) as u64;
        TestFindings {
            effect: self.ranks(settings.alpha).map(|ranks| ranks.effect),
            run_to_run: error / std::f64::consts::SQRT_2,
            ..TestFindings::new(n, self.a.value, difference, None, vec![test])
        }
    }

    /// What requests know, widened by how much runs differ among themselves, and that as a share of the figure: what is assumed, or
    /// what the runs show within themselves if that is more. What somebody states is taken as it is.
    fn between(
        &self,
        within: StandardError,
        figure: LevelFigure,
        settings: &ComparisonSettings,
    ) -> (StandardError, f64) {
        let stated = settings.run_to_run.of(figure);
        let scale = self.a.value.hypot(self.b.value);
        let drift = match settings.run_to_run.is_assumed() {
            true => drift(&self.a).hypot(drift(&self.b)) / std::f64::consts::SQRT_2,
            false => 0.0,
        };
        // What chance within a run does to its quarters is in what requests know already.
        let seen = ((drift * scale).powi(2) - within.error.powi(2)).max(0.0).sqrt();
        if seen > stated * scale {
            return (within.with_estimated(seen, DRIFT_FREEDOM), seen / scale);
        }
        (within.with(stated * scale), stated)
    }

    /// Where no draw differs from another: as likely as that all of so many coins fall alike.
    fn by_signs(&self, estimate: f64) -> PValue {
        let n = self.a.n().min(self.b.n()) as f64;
        PValue::clipped(if estimate == 0.0 { 1.0 } else { 2.0 * (-n).exp2() })
    }

    /// How uneven the counts of a share are; what comes in a row counts as often as it knows.
    fn by_counts(&self) -> Option<PValue> {
        /// Of more failures than this draws know as much.
        const MOST_EVENTS: u64 = 2_000;
        let count = |side: &SeriesWithFigure| {
            let values = side.values();
            let once = 1.0 / Autocorrelation::of(values).map_or(1.0, Autocorrelation::inflation);
            let count = (values.iter().sum::<f64>() * once).round() as u64;
            CountOf { count, of: (values.len() as f64 * once).round() as u64 }
        };
        let (a, b) = (count(&self.a), count(&self.b));
        (a.count + b.count <= MOST_EVENTS).then(|| fisher_exact(a, b)).flatten()
    }

    /// What the ranks of all latencies say; nothing of rates and shares.
    fn ranks(&self, alpha: SignificanceLevel) -> Option<RankFindings> {
        let sides = match self.what {
            SeriesFigure::Rate => return None,
            SeriesFigure::Mean | SeriesFigure::Percentile(_) => {
                UnpairedValues::new(self.a.values(), self.b.values()).ok()?
            }
        };
        let inflation = self.rank_inflation();
        let plain = sides.cliffs_delta(alpha);
        let stretch =
            |end: f64| (plain.value() + (end - plain.value()) * inflation.sqrt()).clamp(-1.0, 1.0);
        let interval = plain.interval().map(|interval| interval.map(stretch));
        let effect = Estimate::widened(plain.value(), interval);
        let effect = EffectSize { kind: EffectKind::CliffsDelta, effect };
        let test = (!self.is_paired).then(|| {
            let deviation = normal_quantile(sides.mann_whitney().p.get() / 2.0) / inflation.sqrt();
            let p = PValue::clipped(2.0 * normal_above(deviation));
            NamedTest { test: ComparisonTest::MannWhitney, p }
        });
        Some(RankFindings { effect, test })
    }

    /// By how much the autocorrelation of the ranks makes the variance of Mann and Whitney's statistic greater, which is that
    /// of the difference of both sides' mean ranks.
    fn rank_inflation(&self) -> f64 {
        let all: Vec<f64> = self.a.values().iter().chain(self.b.values()).copied().collect();
        let ranks: Vec<f64> = Ranks::of(&all).doubled.iter().map(|&rank| rank as f64).collect();
        let (of_a, of_b) = ranks.split_at(self.a.n());
        let share = |ranks: &[f64]| {
            let time = Autocorrelation::of(ranks).map_or(1.0, Autocorrelation::inflation);
            (time / ranks.len() as f64, 1.0 / ranks.len() as f64)
        };
        let (a, b) = (share(of_a), share(of_b));
        (a.0 + b.0) / (a.1 + b.1)
    }
}

/// What ranks have to say.
struct RankFindings {
    effect: EffectSize,
    test: Option<NamedTest>,
}
