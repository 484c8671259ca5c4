//! Several tests at once.

use super::PValue;

/// The p-values of several tests, corrected so that the chance of even one false alarm among them stays at
/// the level; in the order given.
///
/// The least of m is multiplied by m, the next by m - 1, and so on; none is below one before it (S. Holm
/// 1979, "A simple sequentially rejective multiple test procedure"). The tests need not be independent.
///
/// ```
/// use fizeau_metrics::{PValue, holm};
/// let raw = [PValue::new(0.01)?, PValue::new(0.04)?, PValue::new(0.03)?];
/// let corrected: Vec<f64> = holm(&raw).into_iter().map(PValue::get).collect();
/// assert_eq!(corrected, [0.03, 0.06, 0.06]);
/// # Ok::<(), fizeau_metrics::ShareError>(())
/// ```
#[must_use]
pub fn holm(raw: &[PValue]) -> Vec<PValue> {
    let mut order: Vec<(usize, f64)> = raw.iter().map(|p| p.get()).enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = raw.to_vec();
    let mut greatest = 0.0f64;
    for (before, &(index, p)) in order.iter().enumerate() {
        greatest = greatest.max(p * (raw.len() - before) as f64);
        if let Some(slot) = corrected.get_mut(index) {
            *slot = PValue::clipped(greatest);
        }
    }
    corrected
}
