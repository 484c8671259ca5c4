//! Round values: 1, 2 and 5 times a power of ten.

/// The least round value that is at least `value`, which is above zero.
pub(crate) fn round_above(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::round_above;

    #[test]
    fn it_is_the_next_and_not_below() {
        let values = [0.003, 1.0, 1.1, 2.0, 4.9, 5.1, 730.0, 10_000.0];
        assert_eq!(values.map(round_above), [0.005, 1.0, 2.0, 2.0, 5.0, 10.0, 1000.0, 10_000.0]);
    }
}
