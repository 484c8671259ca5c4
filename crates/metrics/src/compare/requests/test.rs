//! One figure of two runs, tested.

use fizeau_core::{Confidence, Estimate};

use super::Missing;
use super::column::{Both, What};
use super::drawn::{Figured, StandardError, of_pairs, of_sides};
use crate::Autocorrelation;
use crate::compare::detectable::least_noncentrality;
use crate::compare::ranks::Ranks;
use crate::compare::student::{normal_above, normal_quantile, student_quantile, student_two_sided};
use crate::compare::table::share_of;
use crate::compare::{
    Alpha, ComparisonSettings, ComparisonTest, EffectKind, EffectSize, NamedTest, PValue, Sides,
    Tested, Untested,
};
use crate::stats::least_for_percentile;

/// A figure of both runs that can be tested.
#[derive(Debug)]
pub(super) struct Compared {
    what: What,
    a: Figured,
    b: Figured,
    is_paired: bool,
}

/// A mean or a rate takes so many independent values.
const LEAST: u64 = 30;
/// The spread of values that rounding alone explains, as a share of them.
const ROUNDING: f64 = 1e-12;

impl Compared {
    /// Refuses series that are too short for the figure, by how much they hang together.
    pub(super) fn new(both: Both) -> Result<Self, Missing> {
        let Both { what, baseline, candidate, is_paired } = both;
        let compared = Self {
            what,
            a: Figured::new(what, baseline),
            b: Figured::new(what, candidate),
            is_paired,
        };
        if !(compared.a.value.is_finite() && compared.b.value.is_finite()) {
            return Err(Missing { values: (None, None), why: Untested::NotANumber });
        }
        let sides = [&compared.a, &compared.b];
        let lacking = sides.into_iter().filter_map(|side| {
            let (needs, has) = (compared.needs(side), side.n() as u64);
            (has < needs).then_some((needs, has))
        });
        match lacking.max_by_key(|(needs, has)| needs - has) {
            Some((needs, has)) => Err(Missing {
                values: compared.supported(),
                why: Untested::TooFew { what: "requests", needs, has },
            }),
            None => Ok(compared),
        }
    }

    /// Both figures.
    pub(super) const fn values(&self) -> (Option<f64>, Option<f64>) {
        (Some(self.a.value), Some(self.b.value))
    }

    /// How many requests it takes.
    fn needs(&self, side: &Figured) -> u64 {
        let independent = match self.what {
            What::Mean | What::Rate => LEAST,
            // A median takes fewer by its rule than a mean does.
            What::Percentile(percent) => {
                least_for_percentile(percent, Confidence::P95).unwrap_or(u64::MAX).max(LEAST)
            }
        };
        let inflation =
            Autocorrelation::of(&side.influence()).map_or(1.0, Autocorrelation::inflation);
        (independent as f64 * inflation).ceil() as u64
    }

    /// Both figures, if the sample is so large that one value is expected beyond a percentile.
    fn supported(&self) -> (Option<f64>, Option<f64>) {
        let supports = |side: &Figured| match self.what {
            What::Mean | What::Rate => true,
            What::Percentile(percent) => side.n() as f64 * (100.0 - percent.get()) >= 100.0,
        };
        let value = |side: &Figured| supports(side).then_some(side.value);
        (value(&self.a), value(&self.b))
    }

    /// The tests; `within` is the level that a detectable effect must pass.
    pub(super) fn tested(&self, settings: &ComparisonSettings, within: Alpha) -> Tested {
        let estimate = self.b.value - self.a.value;
        let draw = if self.is_paired { of_pairs } else { of_sides };
        let standard = draw(&self.a, &self.b, settings.resamples, settings.seed);
        let scale = self.a.value.abs().max(self.b.value.abs());
        let moves = standard.error > ROUNDING * scale;
        let p = if moves { by_t(estimate, standard) } else { self.by_signs(estimate) };
        let decides = NamedTest { test: ComparisonTest::BlockBootstrap, p };
        let interval = moves.then(|| {
            let reach = student_quantile(settings.alpha.tail(), standard.df) * standard.error;
            settings.alpha.interval(estimate - reach, estimate + reach)
        });
        let difference = Estimate::widened(estimate, interval);
        let detectable = moves
            .then(|| least_noncentrality(within, standard.df, settings.power) * standard.error);
        let share = |least: f64| Some(least / self.a.value.abs()).filter(|share| share.is_finite());
        let ranks = self.ranks(settings.alpha);
        Tested {
            n: self.a.n().min(self.b.n()) as u64,
            difference,
            relative: share_of(difference, self.a.value),
            tests: std::iter::once(decides)
                .chain(ranks.as_ref().and_then(|ranks| ranks.test))
                .collect(),
            effect: ranks.map(|ranks| ranks.effect),
            detectable,
            relative_detectable: detectable.and_then(share),
            decision: None,
        }
    }

    /// Where no draw differs from another: as likely as that all of so many coins fall alike.
    fn by_signs(&self, estimate: f64) -> PValue {
        let n = self.a.n().min(self.b.n()) as f64;
        PValue::clipped(if estimate == 0.0 { 1.0 } else { 2.0 * (-n).exp2() })
    }

    /// What the ranks of all latencies say; nothing of rates and shares.
    fn ranks(&self, alpha: Alpha) -> Option<OfRanks> {
        let sides = match self.what {
            What::Rate => return None,
            What::Mean | What::Percentile(_) => {
                Sides::new(self.a.values(), self.b.values()).ok()?
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
        Some(OfRanks { effect, test })
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
struct OfRanks {
    effect: EffectSize,
    test: Option<NamedTest>,
}

fn by_t(estimate: f64, standard: StandardError) -> PValue {
    PValue::clipped(student_two_sided(estimate / standard.error, standard.df))
}
