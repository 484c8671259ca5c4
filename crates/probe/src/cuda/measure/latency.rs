//! Following pointers through a random cycle of lines.

use fizeau_core::{Bytes, split_mix};

use super::{Failure, Measuring, clock, sampled, small};
use crate::cuda::driver::{Address, Argument, Driver, Launch, with_arrays};
use crate::cuda::ptx;
use crate::measurement::{
    CacheState, DataPattern, Dtype, LaunchCost, Measurement, OperationWork, Verification,
};

/// Bytes from one pointer to the next place for one: a line of the cache.
const LINE: u64 = 128;
/// Turns before anything is timed, at most: what is larger than that is in no cache anyway.
const MOST_WARM_TURNS: u64 = 1 << 17;

/// Which line follows each, in one cycle (Sattolo's shuffle; S. Sattolo, Inf. Proc. Letters 22, 1986).
fn cycle(lines: usize, seed: u64) -> Vec<u32> {
    let mut next: Vec<u32> = (0..lines as u32).collect();
    let mut state = seed;
    for last in (1..lines).rev() {
        let other = (split_mix::next(&mut state) % last as u64) as usize;
        next.swap(last, other);
    }
    next
}

/// The lines as they lie in memory from `start`.
fn lines(next: &[u32], start: Address) -> Vec<u8> {
    let mut bytes = vec![0; next.len() * LINE as usize];
    for (line, next) in bytes.chunks_exact_mut(LINE as usize).zip(next) {
        line[..8].copy_from_slice(&(start + u64::from(*next) * LINE).to_le_bytes());
    }
    bytes
}

impl Measuring<'_> {
    pub(in crate::cuda) fn latency(&mut self, working_set: Bytes) -> Result<Measurement, Failure> {
        let count = (working_set.get() as u64 / LINE).clamp(2, u32::MAX.into());
        self.fits(count * LINE)?;
        let (time, trial, device) = (self.time, self.trial, self.device);
        let l2 = self.driver.properties().l2_bytes;
        let next = cycle(count as usize, count);
        let mut seen = with_arrays(self.driver, [count * LINE, 8], |driver, [start, place]| {
            driver.upload(start, &lines(&next, start))?;
            driver.upload(place, &start.to_le_bytes())?;

            let kernel = small(driver, "chase")?;
            // Each goes on where the one before arrived: from one start all samples would be of the same lines, which are in a cache by then.
            let mut followed = 0;
            let mut follow = |driver: &mut dyn Driver, turns: u64| {
                followed += turns;
                let arguments = [place, turns].map(Argument::Long).into();
                driver.launch(&Launch { kernel, blocks: (1, 1), threads: 1, arguments })
            };
            follow(driver, count.div_ceil(ptx::CHASE_HOPS).min(MOST_WARM_TURNS))?;
            let before = clock(driver)?;
            let mut sampled = sampled(driver, time, follow)?;
            let clocks = [before, clock(driver)?];
            sampled.timing.operations_per_sample *= ptx::CHASE_HOPS;
            sampled.warm_up_operations *= ptx::CHASE_HOPS;
            let mut arrived = [0; 8];
            driver.download(place, &mut arrived)?;
            let on = Measuring { driver, device, time, trial };
            let mut seen = on.measurement(sampled, clocks, OperationWork::default());
            // Once around changes nothing.
            let hops = 0..followed * ptx::CHASE_HOPS % count;
            let line = hops.fold(0_u32, |line, _| next[line as usize]);
            let expected = start + u64::from(line) * LINE;
            seen.verification = match u64::from_le_bytes(arrived) == expected {
                true => Verification::within(0.0, 0.0),
                false => Verification::Wrong {
                    error: None,
                    what: "following the pointers led elsewhere than on the host".to_owned(),
                },
            };
            Ok(seen)
        })?;
        seen.dtype = Some(Dtype::Int64);
        seen.method.data = Some(DataPattern::Pointers);
        seen.method.load_width_bytes = Some(8);
        seen.method.launch = Some(LaunchCost::Outside);
        let is_cold = working_set.get() >= 4.0 * l2 as f64;
        seen.method.cache = Some(if is_cold { CacheState::ColdBySize } else { CacheState::Warm });
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_the_cycle_once() {
        for count in [2, 3, 64, 1000] {
            let next = cycle(count, 7);
            let (mut line, mut seen) = (0, vec![false; count]);
            for _ in 0..count {
                assert!(!seen[line]);
                seen[line] = true;
                line = next[line] as usize;
            }
            assert_eq!(line, 0);
        }
    }
}
