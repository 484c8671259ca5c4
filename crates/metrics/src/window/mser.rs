//! Where a sequence becomes stationary: MSER-5, from both ends.

use super::choice::MovableEnds;

/// How many values make a batch: the five of MSER-5.
pub(super) const BATCH: usize = 5;

/// The most points of a curve that are kept as evidence.
const CURVE_POINTS: usize = 20;

/// A part whose mean is off by no more than this share of that of the rest is no transient ...
const TRIFLE: f64 = 0.01;

/// ... nor one that is off by no more than this many standard errors. MSER alone cuts down to some quiet stretch of any signal,
/// above all of a short one with rare great values.
const CHANCE: f64 = 3.0;

/// How many times front and back are searched in turn. Each search can only lower the statistic; two rounds suffice as a rule.
const ROUNDS: usize = 8;

/// The statistic at one cut.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MserPoint {
    /// How many values of the signal are cut.
    pub cut: u64,
    /// The squared standard error of the mean of what is left, in the signal's unit squared: the least one wins.
    pub statistic: f64,
}

/// How many batches to cut at each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cuts {
    pub(super) front: usize,
    pub(super) back: usize,
}

/// Batch means with running sums, so that each cut costs a few operations.
pub(super) struct Mser {
    /// Sums of the first so many batches and of their squares, less the mean of all so that nothing cancels.
    sums: Vec<(f64, f64)>,
    /// The mean of all values.
    mean: f64,
}

impl Mser {
    /// Of `values` in order. The up to four last that fill no batch are left out.
    pub(super) fn of(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let batches = values.chunks_exact(BATCH);
        let means = batches.map(|batch| batch.iter().map(|v| v - mean).sum::<f64>() / BATCH as f64);
        let mut sums = vec![(0.0, 0.0)];
        let mut sum = (0.0, 0.0);
        for mean in means {
            sum = (sum.0 + mean, sum.1 + mean * mean);
            sums.push(sum);
        }
        Self { sums, mean }
    }

    /// How many batches there are.
    pub(super) fn batches(&self) -> usize {
        self.sums.len() - 1
    }

    /// The cuts with the least statistic, in turn for one end and the other until neither moves, no end beyond half; none at an end
    /// where the part to be cut is no transient, or which may not be moved. The rule for
    /// one end is that of K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
    /// Simulation 69 (1997), 323-334; in batches, K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five
    /// steady-state truncation heuristics for simulation", Winter Simulation Conference (2000), 755-760.
    pub(super) fn cuts(&self, moving: MovableEnds) -> Cuts {
        let half = self.batches() / 2;
        let mut cuts = Cuts::default();
        for _ in 0..ROUNDS {
            let before = cuts;
            if moving != MovableEnds::Back {
                cuts.front = self.least(half, |front| Cuts { front, ..cuts });
            }
            if moving != MovableEnds::Front {
                cuts.back = self.least(half, |back| Cuts { back, ..cuts });
            }
            if cuts == before {
                break;
            }
        }
        let end = self.batches() - cuts.back;
        let all = self.batches();
        let (is_off, front) = (|cut, rest| self.is_off(cut, rest), cuts.front);
        Cuts {
            front: if is_off((0, front), (front, all)) { front } else { 0 },
            back: if is_off((end, all), (0, end)) { cuts.back } else { 0 },
        }
    }

    /// Whether the batches `cut` have another mean than the `rest`, by more than a trifle and by more than chance.
    fn is_off(&self, cut: (usize, usize), rest: (usize, usize)) -> bool {
        let n = |part: (usize, usize)| (part.1 - part.0) as f64;
        if cut.0 == cut.1 || rest.0 == rest.1 {
            return false;
        }
        let mean = |part: (usize, usize)| {
            let sum = |until: usize| self.sums.get(until).map_or(0.0, |(sum, _)| *sum);
            self.mean + (sum(part.1) - sum(part.0)) / n(part)
        };
        let off = (mean(cut) - mean(rest)).abs();
        // The variance of all batches: those of a transient are too few to have one of their own.
        let all = self.batches() as f64;
        let (sum, squares) = self.sums.last().copied().unwrap_or_default();
        let variance = (squares / all - (sum / all).powi(2)).max(0.0);
        let chance = CHANCE * (variance * (1.0 / n(cut) + 1.0 / n(rest))).sqrt();
        off > TRIFLE * mean(rest).abs() && off > chance
    }

    /// The statistic by cut at the front, the back cut as it is in `cuts`.
    pub(super) fn front_curve(&self, cuts: Cuts) -> Vec<MserPoint> {
        self.curve(|front| Cuts { front, ..cuts })
    }

    /// The statistic by cut at the back, the front cut as it is in `cuts`.
    pub(super) fn back_curve(&self, cuts: Cuts) -> Vec<MserPoint> {
        self.curve(|back| Cuts { back, ..cuts })
    }

    fn curve(&self, at: impl Fn(usize) -> Cuts) -> Vec<MserPoint> {
        let half = self.batches() / 2;
        let step = half.div_ceil(CURVE_POINTS).max(1);
        let point = |cut: usize| {
            let statistic = self.statistic(at(cut))?;
            Some(MserPoint { cut: (cut * BATCH) as u64, statistic })
        };
        (0..=half).step_by(step).filter_map(point).collect()
    }

    /// The least cut with the least statistic.
    fn least(&self, half: usize, at: impl Fn(usize) -> Cuts) -> usize {
        let mut best = (f64::INFINITY, 0);
        for cut in 0..=half {
            if let Some(statistic) = self.statistic(at(cut)).filter(|found| *found < best.0) {
                best = (statistic, cut);
            }
        }
        best.1
    }

    /// Sum of squared deviations over squared number of what is left; none of fewer than two batches.
    fn statistic(&self, cuts: Cuts) -> Option<f64> {
        let end = self.batches().checked_sub(cuts.back)?;
        let left = end.checked_sub(cuts.front).filter(|left| *left >= 2)? as f64;
        let ((sum, squares), (sum_before, squares_before)) =
            (self.sums.get(end)?, self.sums.get(cuts.front)?);
        let (sum, squares) = (sum - sum_before, squares - squares_before);
        // Rounding must not make one flat stretch look better than another.
        let off = squares - sum * sum / left;
        let noise = 1e-12 * (squares.abs() + squares_before.abs());
        Some(if off <= noise { 0.0 } else { off / (left * left) })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cuts, MovableEnds, Mser};

    /// By hand: batch means 10, 1, 2, 1, 2, 1. With none cut: mean 17/6, squares 111 - 289/6 = 62.83, over 36. With one cut:
    /// mean 7/5, squares 11 - 49/5 = 1.2, over 25 = 0.048. With two: 10 - 36/4 = 1, over 16.
    #[test]
    fn the_statistic_is_that_of_a_hand_made_example() {
        let values: Vec<f64> =
            [10.0, 1.0, 2.0, 1.0, 2.0, 1.0].iter().flat_map(|&v| [v; 5]).collect();
        let mser = Mser::of(&values);
        let close = |cut: usize, right: f64| {
            let found = mser.statistic(Cuts { front: cut, back: 0 }).unwrap();
            assert!((found - right).abs() < 1e-12, "{cut}: {found} against {right}");
        };
        close(0, (111.0 - 289.0 / 6.0) / 36.0);
        close(1, 0.048);
        close(2, 0.0625);
        assert_eq!(mser.least(3, |front| Cuts { front, back: 0 }), 1);
    }

    #[test]
    fn the_back_is_the_front_of_the_reversed() {
        let ramp = (0..20).map(f64::from);
        let values: Vec<f64> = ramp.chain((0..100).map(|n| 30.0 + f64::from(n % 5))).collect();
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let (there, back) = (
            Mser::of(&values).cuts(MovableEnds::Both),
            Mser::of(&reversed).cuts(MovableEnds::Both),
        );
        assert_eq!((there.front, there.back), (back.back, back.front));
        assert_eq!(there.front, 4);
    }

    /// Half a percent of a quiet stretch in front of the rest: MSER would cut the rest, or the front.
    #[test]
    fn what_is_within_a_percent_stays() {
        let step =
            |low: f64| (0..200).map(move |n| if n < 50 { low } else { 100.0 + f64::from(n % 2) });
        let cut = |low: f64| Mser::of(&step(low).collect::<Vec<_>>()).cuts(MovableEnds::Both);
        assert_eq!((cut(99.9), cut(90.0).front), (Cuts::default(), 10));
    }

    #[test]
    fn a_constant_loses_nothing() {
        assert_eq!(Mser::of(&[0.1; 500]).cuts(MovableEnds::Both), Cuts::default());
        assert_eq!(Mser::of(&[]).cuts(MovableEnds::Both), Cuts::default());
    }
}
