//! Changes of a value in few bytes, to the bit.
//!
//! A change is how many pages it came after the one before, doubled, plus one where the new value is written as it is in eight bytes;
//! else what was added follows, which counters and most gauges have as a whole number. Both numbers are written seven bits a byte, the
//! lowest first, and what was added with its sign in the lowest bit.

/// Appends the change from `before` to `after`, so many `pages` later.
pub(super) fn push(bytes: &mut Vec<u8>, pages: u64, before: f64, after: f64) {
    let added = whole(before).zip(whole(after)).map(|(before, after)| after - before);
    let mut written = [0; 20];
    let mut length = 0;
    let mut write = |byte: u8| {
        if let Some(place) = written.get_mut(length) {
            *place = byte;
            length += 1;
        }
    };
    match added {
        Some(added) => {
            number(pages << 1, &mut write);
            number(((added << 1) ^ (added >> 63)).cast_unsigned(), &mut write);
        }
        None => {
            number(pages << 1 | 1, &mut write);
            after.to_le_bytes().into_iter().for_each(&mut write);
        }
    }
    if bytes.capacity() - bytes.len() < length {
        // Twice as much, as a vector would take, stands half empty in thousands of series.
        bytes.reserve_exact(length + bytes.len() / 4);
    }
    bytes.extend(written.iter().take(length));
}

/// The first change of `bytes`, behind the value `before`: how many pages later, the value, and the bytes of those that follow.
pub(super) fn first(bytes: &[u8], before: f64) -> Option<(u64, f64, &[u8])> {
    let (head, rest) = read_number(bytes)?;
    let pages = head >> 1;
    if head & 1 == 1 {
        let (value, rest) = rest.split_first_chunk()?;
        return Some((pages, f64::from_le_bytes(*value), rest));
    }
    let (signed, rest) = read_number(rest)?;
    let added = (signed >> 1).cast_signed() ^ -(signed & 1).cast_signed();
    Some((pages, (before as i64 + added) as f64, rest))
}

/// `value` as a whole number, where it is one to the bit and so small that all differences are exact.
fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = (1_u64 << 53) as f64;
    let whole = value as i64;
    let is_it = value.abs() < LIMIT && (whole as f64).to_bits() == value.to_bits();
    is_it.then_some(whole)
}

fn number(mut number: u64, write: &mut impl FnMut(u8)) {
    while number >= 0x80 {
        write((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    write(number as u8);
}

fn read_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut rest) = (0, bytes);
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((number, rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            (-1_000_i64..1_000).prop_map(|whole| whole as f64),
            any::<i64>().prop_map(|whole| whole as f64),
            prop::sample::select(vec![
                0.0,
                -0.0,
                9_007_199_254_740_991.0,
                9_007_199_254_740_992.0,
                0.1
            ]),
            prop::sample::select(vec![
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE
            ]),
        ]
    }

    proptest! {
        #[test]
        fn changes_come_back_to_the_bit(
            start in value(), changes in prop::collection::vec((0..u64::MAX >> 1, value()), 0..40)
        ) {
            let (mut bytes, mut before) = (Vec::new(), start);
            for (pages, after) in &changes {
                push(&mut bytes, *pages, before, *after);
                before = *after;
            }
            let (mut rest, mut before) = (bytes.as_slice(), start);
            for (pages, after) in changes {
                let (later, value, behind) = first(rest, before).unwrap();
                prop_assert_eq!((later, value.to_bits()), (pages, after.to_bits()));
                (rest, before) = (behind, value);
            }
            prop_assert!(first(rest, before).is_none());
        }
    }

    #[test]
    fn a_counters_step_takes_three_bytes() {
        let mut bytes = Vec::new();
        push(&mut bytes, 1, 1e9, 1e9 + 1_000.0);
        assert_eq!(bytes.len(), 3);
    }
}
