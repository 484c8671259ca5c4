//! Log-linear buckets: any number of values in a fixed space, each known to within 2^-11 of itself.

/// Buckets within each doubling of a value: 2^10, so that half a bucket is at most 2^-11 of the value.
const SLOT_BITS: u32 = 10;
const SLOTS: usize = 1 << SLOT_BITS;

/// Counts of values by bucket.
///
/// The bucket is read off the value's own bits: a float's exponent names the octave, and the upper ten bits of its
/// fraction divide the octave evenly. Octaves that no value falls into take no space.
#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    zeros: u64,
    octaves: Vec<Option<Box<[u64; SLOTS]>>>,
}

impl Buckets {
    /// Counts `value`, finite and not negative, `weight` times.
    pub(super) fn add(&mut self, value: f64, weight: u64) {
        if value <= 0.0 {
            self.zeros += weight;
            return;
        }
        let bucket = (value.to_bits() >> (f64::MANTISSA_DIGITS - 1 - SLOT_BITS)) as usize;
        let (octave, slot) = (bucket >> SLOT_BITS, bucket % SLOTS);
        if let Some(Some(slots)) = self.octaves.get_mut(octave) {
            slots[slot] += weight;
        } else {
            self.open(octave)[slot] += weight;
        }
    }

    /// The counts of an octave that has had none so far.
    #[cold]
    fn open(&mut self, octave: usize) -> &mut [u64; SLOTS] {
        if self.octaves.len() <= octave {
            self.octaves.resize(octave + 1, None);
        }
        self.octaves[octave].get_or_insert_with(|| Box::new([0; SLOTS]))
    }

    /// How many bytes they hold.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.octaves
            .iter()
            .map(|slots| 8 + slots.as_ref().map_or(0, |slots| size_of_val(&**slots)))
            .sum()
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        for (octave, theirs) in other.octaves.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            let ours = self.open(octave);
            ours.iter_mut().zip(theirs.iter()).for_each(|(our, their)| *our += their);
        }
    }

    /// The middle of each bucket that has values, ascending, with their number.
    pub(super) fn counts(&self) -> impl Iterator<Item = (f64, u64)> {
        let zeros = std::iter::once((0.0, self.zeros));
        let octaves = self.octaves.iter().enumerate();
        let octaves = octaves.filter_map(|(i, slots)| Some((i, slots.as_ref()?)));
        let slots = octaves.flat_map(|(octave, slots)| {
            slots.iter().enumerate().map(move |(slot, &count)| (middle(octave, slot), count))
        });
        zeros.chain(slots).filter(|&(_, count)| count > 0)
    }
}

/// The middle of a bucket: its first bits, then a one.
fn middle(octave: usize, slot: usize) -> f64 {
    let bucket = (octave << SLOT_BITS | slot) as u64;
    f64::from_bits((bucket << 1 | 1) << (f64::MANTISSA_DIGITS - 2 - SLOT_BITS))
}

#[cfg(test)]
mod tests {
    use super::Buckets;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(256))]
        #[test]
        fn a_value_is_known_to_within_a_2048th(value in 1e-9..1e12f64, weight in 1..9u64) {
            let mut buckets = Buckets::default();
            buckets.add(value, weight);
            let all: Vec<_> = buckets.counts().collect();
            prop_assert_eq!(all.len(), 1);
            prop_assert_eq!(all[0].1, weight);
            prop_assert!((all[0].0 / value - 1.0).abs() <= 1.0 / 2048.0);
        }
    }

    #[test]
    fn zero_is_exact_and_buckets_ascend() {
        let mut buckets = Buckets::default();
        for value in [5.0, 0.0, 1e-6, 4.999, 3e9, 0.0] {
            buckets.add(value, 1);
        }
        let all: Vec<_> = buckets.counts().collect();
        assert_eq!(all[0], (0.0, 2));
        assert!(all.is_sorted_by(|a, b| a.0 < b.0), "{all:?}");
        assert_eq!(all.iter().map(|bucket| bucket.1).sum::<u64>(), 6);
    }
}
