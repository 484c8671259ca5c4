//! Which setting of a kernel is the fastest. Pure: how long one takes comes in.

use fizeau_core::Nanos;

use super::error::CudaError;
use super::ptx::LoadSetting;

/// Threads of a block of a streaming kernel.
pub(super) const THREADS: u32 = 256;
/// Blocks on each multiprocessor: eight of 256 threads fill one of those that hold 2,048; more are waves.
const BLOCKS: [u32; 5] = [8, 4, 16, 2, 32];

/// How a streaming kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) load: LoadSetting,
    pub(super) blocks_per_multiprocessor: u32,
}

impl Setting {
    /// All that are tried, the likely ones first: what time is left for decides where it ends.
    pub(super) fn all() -> Vec<Self> {
        let with = |blocks_per_multiprocessor| {
            LoadSetting::all().map(move |load| Self { load, blocks_per_multiprocessor })
        };
        BLOCKS.into_iter().flat_map(with).collect()
    }

    /// Blocks of the grid.
    pub(super) const fn blocks(self, multiprocessors: u32) -> u32 {
        self.blocks_per_multiprocessor * multiprocessors
    }

    /// The most threads that any setting has.
    pub(super) fn most_threads(multiprocessors: u32) -> u64 {
        let most = BLOCKS.into_iter().max().unwrap_or(1);
        u64::from(most) * u64::from(multiprocessors) * u64::from(THREADS)
    }
}

/// What trying gave.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Swept<S> {
    pub(super) best: S,
    pub(super) best_time: Nanos,
    pub(super) slowest_time: Nanos,
    pub(super) tried: usize,
    pub(super) of: usize,
}

/// How often each setting is tried: once for what the first time costs, and the best of the others.
const ATTEMPTS: usize = 4;

/// Tries `settings` in order until they are at an end or took `allowed` together. None if there are none.
pub(super) fn sweep<S: Clone>(
    settings: &[S],
    allowed: Nanos,
    mut attempt: impl FnMut(&S) -> Result<Nanos, CudaError>,
) -> Result<Option<Swept<S>>, CudaError> {
    let mut swept: Option<Swept<S>> = None;
    let mut spent = 0;
    for setting in settings {
        let mut fastest: Option<Nanos> = None;
        for number in 0..ATTEMPTS {
            let took = attempt(setting)?;
            spent += took.as_nanos();
            if number > 0 {
                fastest = Some(fastest.map_or(took, |before| before.min(took)));
            }
        }
        let took = fastest.unwrap_or(Nanos::ZERO);
        match &mut swept {
            None => {
                let (best_time, slowest_time) = (took, took);
                let of = settings.len();
                swept =
                    Some(Swept { best: setting.clone(), best_time, slowest_time, tried: 1, of });
            }
            Some(swept) => {
                swept.tried += 1;
                swept.slowest_time = swept.slowest_time.max(took);
                if took < swept.best_time {
                    (swept.best, swept.best_time) = (setting.clone(), took);
                }
            }
        }
        if spent > allowed.as_nanos() {
            break;
        }
    }
    Ok(swept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_fastest_of_those_tried_is_found(times in prop::collection::vec(1_u64..1000, 1..40), allowed in 0_u64..40_000) {
            let settings: Vec<usize> = (0..times.len()).collect();
            let swept = sweep(&settings, Nanos::from_nanos(allowed), |at| Ok(Nanos::from_nanos(times[*at])));
            let swept = swept.unwrap().unwrap();
            let tried = &times[..swept.tried];
            prop_assert_eq!(swept.best_time.as_nanos(), *tried.iter().min().unwrap());
            prop_assert_eq!(times[swept.best], swept.best_time.as_nanos());
            prop_assert_eq!(swept.slowest_time.as_nanos(), *tried.iter().max().unwrap());
            let spent = |count: usize| times[..count].iter().sum::<u64>() * ATTEMPTS as u64;
            prop_assert!(spent(swept.tried - 1) <= allowed || swept.tried == 1);
            prop_assert!(spent(swept.tried) > allowed || swept.tried == times.len());
        }
    }

    #[test]
    fn an_error_ends_it_and_no_setting_is_no_result() {
        let error = || CudaError::Lost("gone".to_owned());
        assert_eq!(sweep(&[1], Nanos::ZERO, |_| Err(error())), Err(error()));
        assert_eq!(sweep::<u32>(&[], Nanos::ZERO, |_| Err(error())), Ok(None));
    }

    #[test]
    fn every_setting_is_there_once() {
        let all = Setting::all();
        assert_eq!(all.len(), 60);
        assert!(all.iter().enumerate().all(|(at, setting)| !all[..at].contains(setting)));
        assert_eq!(all[0].load, LoadSetting { width_bytes: 16, unroll: 4 });
    }
}
