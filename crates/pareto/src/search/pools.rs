//! All evaluations, made monotone.

use super::Bearing;
use super::reading::Seen;
use crate::{Trend, isotonic};

/// A load that was evaluated, with the margin of all that monotone regression pools it with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
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
}

impl Pool {
    /// How many standard errors it is off the edge.
    pub(super) fn sureness(&self) -> f64 {
        self.margin.abs() / self.error
    }
}

/// The loads that were evaluated, rising, with margins that never rise.
pub(super) fn pools(seen: &[Seen], deviations: f64) -> Vec<Pool> {
    let mut loads: Vec<Tried> = Vec::new();
    let mut rising: Vec<&Seen> = seen.iter().collect();
    rising.sort_by(|a, b| a.load.total_cmp(&b.load));
    for seen in rising {
        let tried = Tried::of(seen);
        match loads.last_mut() {
            Some(last) if last.load == tried.load => *last = last.with(&tried),
            _ => loads.push(tried),
        }
    }
    let (margins, weights): (Vec<f64>, Vec<f64>) =
        loads.iter().map(|tried| (tried.margin, tried.weight)).unzip();
    // Margins are numbers, and an error is never 0 nor infinite: there always is a fit.
    let fitted = isotonic(&margins, &weights, Trend::Falling).unwrap_or_default();
    let of = |(tried, &margin): (&Tried, &f64)| {
        // What shares a margin was pooled.
        let pooled = loads.iter().zip(&fitted).filter(|(_, other)| **other == margin);
        let weight: f64 = pooled.map(|(other, _)| other.weight).sum();
        let error = weight.recip().sqrt();
        let is_beyond = margin < 0.0 && tried.is_saturated;
        Pool {
            load: tried.load,
            at: tried.load.ln(),
            margin,
            error,
            evaluations: tried.evaluations,
            is_sure: margin.abs() > deviations * error || is_beyond,
        }
    };
    loads.iter().zip(&fitted).map(of).collect()
}

/// One load, with all evaluations of it.
#[derive(Debug, Clone, Copy)]
struct Tried {
    load: f64,
    margin: f64,
    weight: f64,
    evaluations: usize,
    is_saturated: bool,
}

impl Tried {
    fn of(seen: &Seen) -> Self {
        let worst = seen.worst();
        Self {
            load: seen.load,
            margin: worst.value,
            weight: worst.error().powi(-2),
            evaluations: 1,
            is_saturated: matches!(seen.bearing, Bearing::Saturated { .. }),
        }
    }

    fn with(&self, next: &Self) -> Self {
        let weight = self.weight + next.weight;
        Self {
            load: self.load,
            margin: (self.margin * self.weight + next.margin * next.weight) / weight,
            weight,
            evaluations: self.evaluations + next.evaluations,
            is_saturated: self.is_saturated || next.is_saturated,
        }
    }
}
