//! A point on its way through the sieve, and how two compare.

use std::cmp::Ordering;

/// What it costs, and which point it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostRow<C> {
    /// Less is better in each; no NaN.
    pub(super) cost: C,
    pub(super) point: usize,
}

/// Whether `a` is at least as good as `b` in every figure. Without a branch for each figure: which one decides is hard to
/// foresee.
#[inline]
pub(crate) fn no_worse(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).fold(true, |so_far, (a, b)| so_far & (a <= b))
}

/// Whether `a` is at least as good as `b` in every figure, and better in one.
#[inline]
pub(crate) fn dominates(a: &[f64], b: &[f64]) -> bool {
    no_worse(a, b) && a != b
}

/// In this order a point comes after all that dominate it. `partial_cmp` and not `total_cmp`, which tells 0 from -0 and so
/// would part equals.
#[inline]
pub(crate) fn lexicographic(a: &[f64], b: &[f64]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}
