//! Points from a generator of our own, the same in every run.

/// Figures in `[0, 1)`, independent of each other.
pub(crate) fn random(points: usize, axes: usize) -> Vec<f64> {
    let mut state = 1_u64;
    (0..points * axes).map(|_| next(&mut state)).collect()
}

/// Points that all lie on the frontier, in all directions at distance 1 from the worst corner: less is better, so the figures
/// are from -1 to 0.
pub(crate) fn sphere(points: usize, axes: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut figures = Vec::with_capacity(points * axes);
    for _ in 0..points {
        let ray: Vec<f64> = (0..axes).map(|_| normal(&mut state).abs()).collect();
        let length = ray.iter().map(|part| part * part).sum::<f64>().sqrt();
        figures.extend(ray.iter().map(|part| -part / length));
    }
    figures
}

/// SplitMix64 (Steele, Lea, Flood 2014), its upper 53 bits.
fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Box and Muller (1958).
fn normal(state: &mut u64) -> f64 {
    let radius = (-2.0 * (1.0 - next(state)).ln()).sqrt();
    radius * (std::f64::consts::TAU * next(state)).cos()
}
