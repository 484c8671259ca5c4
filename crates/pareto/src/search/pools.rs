//! All evaluations, made monotone.

use super::LoadOutcome;
use super::reading::SeenEvaluation;
use crate::{ResponseTrend, isotonic};

/// A load that was evaluated, with the margin of all that monotone regression pools it with.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadPool {
    pub(super) load: f64,
    /// Its logarithm.
    pub(super) at: f64,
    /// The margin of the goal that is worst off, after regression.
    pub(super) margin: f64,
    error: f64,
    /// Of this load alone.
    pub(super) evaluations: usize,
    /// Whether it is surely on the side of the edge where it lies.
    pub(super) is_sure: bool,
    /// Whether most of its evaluations were saturated.
    pub(super) is_saturated: bool,
}

impl LoadPool {
    /// How many standard errors it is off the edge.
    pub(super) fn sureness(&self) -> f64 {
        self.margin.abs() / self.error
    }
}

/// The loads that were evaluated, rising, with margins that never rise.
pub(super) fn pools(seen: &[SeenEvaluation], deviations: f64) -> Vec<LoadPool> {
    let mut loads: Vec<EvaluatedLoad> = Vec::new();
    let mut rising: Vec<&SeenEvaluation> = seen.iter().collect();
    rising.sort_by(|a, b| a.load.total_cmp(&b.load));
    for seen in rising {
        let tried = EvaluatedLoad::of(seen);
        match loads.last_mut() {
            Some(last) if last.load == tried.load => *last = last.with(&tried),
            _ => loads.push(tried),
        }
    }
    let (margins, weights): (Vec<f64>, Vec<f64>) =
        loads.iter().map(|tried| (tried.margin, tried.weight)).unzip();
    // Margins are numbers, and an error is never 0 nor infinite: there always is a fit.
    let fitted = isotonic(&margins, &weights, ResponseTrend::Falling).unwrap_or_default();
    let of = |(tried, &margin): (&EvaluatedLoad, &f64)| {
        // What shares a margin was pooled.
        let pooled = loads.iter().zip(&fitted).filter(|(_, other)| **other == margin);
        let weight: f64 = pooled.map(|(other, _)| other.weight).sum();
        let error = weight.recip().sqrt();
        let is_saturated = 2 * tried.saturated > tried.evaluations;
        LoadPool {
            load: tried.load,
            at: tried.load.ln(),
            margin,
            error,
            evaluations: tried.evaluations,
            is_sure: margin.abs() > deviations * error || (margin < 0.0 && is_saturated),
            is_saturated,
        }
    };
    loads.iter().zip(&fitted).map(of).collect()
}

/// One load, with all evaluations of it.
#[derive(Debug, Clone, Copy)]
struct EvaluatedLoad {
    load: f64,
    margin: f64,
    weight: f64,
    evaluations: usize,
    saturated: usize,
}

impl EvaluatedLoad {
    fn of(seen: &SeenEvaluation) -> Self {
        let worst = seen.worst();
        Self {
            load: seen.load,
            margin: worst.value,
            weight: worst.error().powi(-2),
            evaluations: 1,
            saturated: usize::from(matches!(seen.bearing, LoadOutcome::Saturated { .. })),
        }
    }

    fn with(&self, next: &Self) -> Self {
        let weight = self.weight + next.weight;
        Self {
            load: self.load,
            margin: (self.margin * self.weight + next.margin * next.weight) / weight,
            weight,
            evaluations: self.evaluations + next.evaluations,
            saturated: self.saturated + next.saturated,
        }
    }
}
