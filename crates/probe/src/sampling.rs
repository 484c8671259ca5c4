//! How often something is carried out: warm-up, how many operations make a sample, when there are enough. The clock comes in.

use fizeau_core::Nanos;

use crate::measurement::Timing;

/// How much time and how many samples a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SamplingRule {
    /// A sample lasts as long at least, so that reading the clock and waking threads does not show.
    pub(crate) least_sample: Nanos,
    /// Samples are taken for as long, warm-up apart.
    pub(crate) time: Nanos,
    /// But no fewer than these.
    pub(crate) fewest: usize,
    /// And no more than these.
    pub(crate) most: usize,
}

impl SamplingRule {
    /// Samples for `time`, or as long as it takes to have enough of them.
    pub(crate) const fn lasting(time: Nanos) -> Self {
        Self { least_sample: Nanos::from_micros(400), time, fewest: 7, most: 400 }
    }
}

/// What sampling gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) timing: Timing,
    pub(crate) warm_up_operations: u64,
}

/// A doubling ends there at the latest.
const MOST_OPERATIONS: u64 = 1 << 40;

/// Times `operations`, which carries out as many operations as it is told. What finds out how many make a sample is the warm-up.
#[cfg(feature = "cpu")]
pub(crate) fn sample(
    clock: &impl fizeau_core::Clock,
    rule: SamplingRule,
    operations: &mut dyn FnMut(u64),
) -> Sampled {
    let mut timed = |count: u64| {
        let start = clock.now();
        operations(count);
        Ok::<Nanos, std::convert::Infallible>(clock.now().saturating_since(start))
    };
    match sample_timed(rule, &mut timed) {
        Ok(sampled) => sampled,
        Err(never) => match never {},
    }
}

/// Takes samples of `timed`, which carries out as many operations as it is told and says how long they took by whatever clock is right.
pub(crate) fn sample_timed<E>(
    rule: SamplingRule,
    timed: &mut dyn FnMut(u64) -> Result<Nanos, E>,
) -> Result<Sampled, E> {
    // Once in any case: the first operation pays for page tables and clocks that rise.
    let mut warm_up = 1;
    let mut count = 1;
    timed(1)?;
    loop {
        let took = timed(count)?;
        warm_up += count;
        if took >= rule.least_sample || count >= MOST_OPERATIONS {
            break;
        }
        let wanted = rule.least_sample.as_nanos() as f64 / took.as_nanos().max(1) as f64;
        count = (count as f64 * wanted.clamp(1.3, 10.0)).ceil() as u64;
    }
    let (mut samples, mut sampled) = (Vec::new(), 0);
    while samples.len() < rule.fewest
        || (samples.len() < rule.most && sampled < rule.time.as_nanos())
    {
        let took = timed(count)?;
        sampled += took.as_nanos();
        samples.push(took.to_millis());
    }
    Ok(Sampled { timing: Timing::of_samples(samples, count), warm_up_operations: warm_up })
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use std::cell::Cell;

    use fizeau_core::{Clock, Stamp};
    use proptest::prelude::*;

    use super::*;

    /// A clock that work moves.
    struct ByHand(Cell<u64>);

    impl Clock for ByHand {
        fn now(&self) -> Stamp {
            Stamp::from_nanos(self.0.get())
        }
    }

    proptest! {
        #[test]
        fn samples_are_long_enough_and_not_too_many(each in 1_u64..10_000_000, time in 0_u64..50_000_000) {
            let clock = ByHand(Cell::new(0));
            let rule = SamplingRule::lasting(Nanos::from_nanos(time));
            let mut done = 0;
            let sampled = sample(&clock, rule, &mut |count| {
                done += count;
                clock.0.set(clock.0.get() + count * each);
            });
            let timing = sampled.timing;
            let least = rule.least_sample.to_millis().get();
            prop_assert!(timing.samples.iter().all(|sample| sample.get() >= least));
            prop_assert!((rule.fewest..=rule.most).contains(&timing.samples.len()));
            let counted = timing.samples.len() as u64 * timing.operations_per_sample;
            prop_assert_eq!(done, counted + sampled.warm_up_operations);
            let per_operation = timing.samples[0].get() * 1e6 / timing.operations_per_sample as f64;
            prop_assert!((per_operation / each as f64 - 1.0).abs() < 1e-9);
        }
    }
}
