//! Sorting many numbers by their digits.

/// As many digits are told apart at a time: 2^11.
const DIGIT_BITS: u32 = 11;

/// Fewer values are sorted as fast by comparing them.
const SMALL: usize = 1 << 12;

/// Sorts `values` by `key`, the equal ones in their order: in a few passes, where a sort that compares takes one for each doubling.
///
/// Least digits first: D. E. Knuth, "The Art of Computer Programming", volume 3 (1998), section 5.2.5. Only digits in which keys
/// differ are looked at.
pub(crate) fn ascending<T: Copy>(values: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    if values.len() < SMALL {
        return values.sort_by_key(key);
    }
    if values.is_sorted_by_key(&key) {
        return;
    }
    let ends = |(least, greatest): (u64, u64), key: u64| (least.min(key), greatest.max(key));
    let (least, greatest) = values.iter().map(&key).fold((u64::MAX, 0), ends);
    let bits = u64::BITS - (greatest - least).leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS);
    let mut sorted = values.clone();
    for pass in 0..passes {
        let shift = pass * DIGIT_BITS;
        by_digit(values, &mut sorted, |value| ((key(value) - least) >> shift) as usize);
        std::mem::swap(values, &mut sorted);
    }
}

/// Puts whole numbers into ascending order, many of them in a few passes over their digits.
pub fn sort_integers(values: &mut Vec<u32>) {
    ascending(values, |&value| value.into());
}

/// Puts finite or other numbers into the order of [`f64::total_cmp`], many of them in a few passes over their digits.
pub fn sort_numbers(values: &mut Vec<f64>) {
    ascending(values, |value| key(*value));
}

/// Puts numbers that each have a weight into the order of [`f64::total_cmp`]; the weights of equal numbers keep theirs.
pub fn sort_weighted_numbers(values: &mut Vec<(f64, u64)>) {
    ascending(values, |(value, _)| key(*value));
}

/// Puts `values` into `sorted`, which has as many places, by the lowest digit of `digits`.
fn by_digit<T: Copy>(values: &[T], sorted: &mut [T], digits: impl Fn(&T) -> usize) {
    const DIGITS: usize = 1 << DIGIT_BITS;
    let digit = |value: &T| digits(value) % DIGITS;
    let mut places = [0; DIGITS];
    for value in values {
        places[digit(value)] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for value in values {
        let place = &mut places[digit(value)];
        // As many are put as were counted.
        sorted[*place] = *value;
        *place += 1;
    }
}

/// A number as a key, in the order of `f64::total_cmp`: the bits as they are, negative ones turned round.
pub(crate) const fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    let sign = (bits as i64 >> 63) as u64;
    bits ^ (sign | 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(32))]
        #[test]
        fn the_order_is_that_of_a_stable_sort(
            mut values in prop::collection::vec(any::<u64>(), SMALL..SMALL + 100),
            keep in 0..64_u32,
        ) {
            let key = |value: &u64| value >> keep;
            let mut sorted = values.clone();
            sorted.sort_by_key(key);
            ascending(&mut values, key);
            prop_assert_eq!(values, sorted);
        }

        #[test]
        fn floats_are_in_their_total_order(mut values in prop::collection::vec(any::<f64>(), SMALL)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            ascending(&mut values, |value| key(*value));
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&values), bits(&sorted));
        }
    }
}
