//! How often something is carried out: warm-up, how many operations make a sample, when there are enough. The clock comes in.

use fizeau_core::Nanos;

use crate::measurement::Timing;

/// How much time and how many samples a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SamplingRule {
    /// The median sample lasts as long at least, so that reading the clock and waking threads does not show.
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

impl SamplingRule {
    /// Whether a sample of `count` operations that takes so long is long enough.
    const fn suffices(self, took: Nanos, count: u64) -> bool {
        took.as_nanos() >= self.least_sample.as_nanos() || count >= MOST_OPERATIONS
    }

    /// How many operations to take in place of `count`, which took so long.
    fn longer(self, took: Nanos, count: u64) -> u64 {
        let wanted = ROOM * self.least_sample.as_nanos() as f64 / took.as_nanos().max(1) as f64;
        (count as f64 * wanted.clamp(1.3, 10.0)).ceil() as u64
    }
}

/// Samples are to last so many times the least, so that those of a clock that rises a little still do.
const ROOM: f64 = 1.25;

/// Takes samples of `timed`, which carries out as many operations as it is told and says how long they took by whatever clock is right.
/// What finds out how many make a sample is the warm-up.
pub(crate) fn sample_timed<E>(
    rule: SamplingRule,
    timed: &mut dyn FnMut(u64) -> Result<Nanos, E>,
) -> Result<Sampled, E> {
    let (mut warm_up, mut count) = (0, 1);
    loop {
        // Of two: one that something interrupted would pass for a sample that is long enough, and of one operation the first pays for page
        // tables and clocks that rise.
        let mut took = timed(count)?.min(timed(count)?);
        warm_up += 2 * count;
        if rule.suffices(took, count) {
            let samples = samples(rule, count, timed)?;
            took = median(&samples);
            if rule.suffices(took, count) {
                let samples = samples.into_iter().map(Nanos::to_millis).collect();
                let timing = Timing::of_samples(samples, count);
                return Ok(Sampled { timing, warm_up_operations: warm_up });
            }
            // Both were interrupted, or what comes after them takes less: then all of it was warm-up.
            warm_up += count * samples.len() as u64;
        }
        count = rule.longer(took, count);
    }
}

/// Samples of `count` operations each; they end early where half of the first few are too short.
fn samples<E>(
    rule: SamplingRule,
    count: u64,
    timed: &mut dyn FnMut(u64) -> Result<Nanos, E>,
) -> Result<Vec<Nanos>, E> {
    let (mut samples, mut sampled) = (Vec::new(), 0);
    let mut looked_at = rule.fewest;
    while samples.len() < rule.fewest
        || (samples.len() < rule.most && sampled < rule.time.as_nanos())
    {
        let took = timed(count)?;
        sampled += took.as_nanos();
        samples.push(took);
        if samples.len() == looked_at {
            if !rule.suffices(median(&samples), count) {
                break;
            }
            looked_at *= 2;
        }
    }
    Ok(samples)
}

/// Of an even number the lower of the two in the middle; zero of none.
fn median(samples: &[Nanos]) -> Nanos {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// What operations of `each` nanoseconds give, of which the calls that `disturbed` names take so much longer; and how many they were.
    fn sampled(
        each: u64,
        time: u64,
        disturbed: impl Fn(usize) -> u64,
    ) -> (SamplingRule, Sampled, u64) {
        let rule = SamplingRule::lasting(Nanos::from_nanos(time));
        let (mut done, mut calls) = (0, 0);
        let sampled = sample_timed(rule, &mut |count| {
            done += count;
            calls += 1;
            Ok::<_, Infallible>(Nanos::from_nanos(count * each + disturbed(calls)))
        });
        (rule, sampled.unwrap(), done)
    }

    proptest! {
        #[test]
        fn samples_are_long_enough_and_not_too_many(each in 1_u64..10_000_000, time in 0_u64..50_000_000) {
            let (rule, sampled, done) = sampled(each, time, |_| 0);
            let timing = sampled.timing;
            let least = rule.least_sample.to_millis().get();
            prop_assert!(timing.samples.iter().all(|sample| sample.get() >= least));
            prop_assert!((rule.fewest..=rule.most).contains(&timing.samples.len()));
            let counted = timing.samples.len() as u64 * timing.operations_per_sample;
            prop_assert_eq!(done, counted + sampled.warm_up_operations);
            let per_operation = timing.samples[0].get() * 1e6 / timing.operations_per_sample as f64;
            prop_assert!((per_operation / each as f64 - 1.0).abs() < 1e-9);
        }

        /// One that something interrupts, as hypervisors do, or all of the first few.
        #[test]
        fn what_interrupts_a_warm_up_makes_no_samples_short(
            each in 1_u64..100_000, time in 0_u64..50_000_000, from in 1_usize..12, length in 1_usize..12, by in 400_000_u64..20_000_000,
        ) {
            let (rule, sampled, done) = sampled(each, time, |call| {
                if (from..from + length).contains(&call) { by } else { 0 }
            });
            let timing = sampled.timing;
            let mut samples: Vec<f64> = timing.samples.iter().map(|sample| sample.get()).collect();
            samples.sort_by(f64::total_cmp);
            prop_assert!(samples[(samples.len() - 1) / 2] >= rule.least_sample.to_millis().get());
            let counted = timing.samples.len() as u64 * timing.operations_per_sample;
            prop_assert_eq!(done, counted + sampled.warm_up_operations);
        }
    }

    /// Of idle ranks each sample is one operation, however short it is.
    #[test]
    fn a_sample_of_no_least_length_is_one_operation() {
        let rule = SamplingRule { least_sample: Nanos::ZERO, ..SamplingRule::lasting(Nanos::ZERO) };
        let sampled = sample_timed(rule, &mut |_| Ok::<_, Infallible>(Nanos::from_nanos(3)));
        assert_eq!(sampled.unwrap().timing.operations_per_sample, 1);
    }
}
