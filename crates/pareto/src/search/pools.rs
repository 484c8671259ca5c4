//! All evaluations, made monotone.

use super::Bearing;
use super::reading::Seen;

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
    let mut loads: Vec<Block> = Vec::new();
    let mut rising: Vec<&Seen> = seen.iter().collect();
    rising.sort_by(|a, b| a.load.total_cmp(&b.load));
    for seen in rising {
        let block = Block::of(seen);
        match loads.last_mut() {
            Some(last) if last.load == block.load => *last = last.with(&block),
            _ => loads.push(block),
        }
    }
    let fitted = falling(&loads);
    let of = |(load, fit): (&Block, &Block)| {
        let error = fit.weight.recip().sqrt();
        let is_sure =
            fit.margin.abs() > deviations * error || (fit.margin < 0.0 && load.is_saturated);
        let Block { load, evaluations, .. } = *load;
        Pool { load, at: load.ln(), margin: fit.margin, error, evaluations, is_sure }
    };
    loads.iter().zip(&fitted).map(of).collect()
}

/// One load, or neighbours that share a margin.
#[derive(Debug, Clone, Copy)]
struct Block {
    load: f64,
    margin: f64,
    weight: f64,
    evaluations: usize,
    loads: usize,
    is_saturated: bool,
}

impl Block {
    fn of(seen: &Seen) -> Self {
        let worst = seen.worst();
        Self {
            load: seen.load,
            margin: worst.value,
            weight: worst.error().powi(-2),
            evaluations: 1,
            loads: 1,
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
            loads: self.loads + next.loads,
            is_saturated: self.is_saturated || next.is_saturated,
        }
    }
}

/// Margins that never rise, by pooling adjacent violators.
fn falling(loads: &[Block]) -> Vec<Block> {
    let mut pools: Vec<Block> = Vec::new();
    for load in loads {
        let mut pool = Block { loads: 1, ..*load };
        while let Some(before) = pools.pop_if(|before| before.margin < pool.margin) {
            pool = before.with(&pool);
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|pool| std::iter::repeat_n(*pool, pool.loads)).collect()
}
