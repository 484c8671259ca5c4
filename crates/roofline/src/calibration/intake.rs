//! How long a front end takes for one request before it can take the next.

use fizeau_core::Seconds;

/// When a request came in that was sent together with others, from when they were sent.
///
/// All that is known of it is what steps show: the one that read its prompt began no sooner, and the one before that did not find it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimultaneousStart {
    /// It was not there yet; none where nothing tells.
    pub after: Option<Seconds>,
    /// It was there.
    pub by: Seconds,
}

/// The time between two of them that most of `levels` agree with, where the first of each came in `per_request` seconds after it was sent; none where
/// they came in together.
pub(super) fn fitted<'a>(
    levels: impl Iterator<Item = &'a [SimultaneousStart]>,
    per_request: f64,
) -> Option<Seconds> {
    let each = levels.flat_map(|starts| (0_u32..).zip(starts).skip(1));
    let spacings: Vec<(f64, f64)> = each
        .map(|(before, start)| {
            let spacing = |at: Seconds| ((at.get() - per_request) / f64::from(before)).max(0.0);
            (start.after.map_or(-1.0, spacing), spacing(start.by))
        })
        .collect();
    let mut ends: Vec<f64> = spacings.iter().flat_map(|(after, by)| [*after, *by]).collect();
    ends.retain(|end| *end > 0.0);
    ends.push(0.0);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let agree = |at: f64| spacings.iter().filter(|(after, by)| *after < at && at <= *by).count();
    let between = ends.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    let best = between.map(|at| (agree(at), at)).rev().max_by_key(|(agree, _)| *agree)?;
    (best.0 > agree(0.0)).then(|| Seconds::new(best.1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use fizeau_core::Seconds;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::{SimultaneousStart, fitted};

    /// What the steps of an engine show of `count` requests that come in so far apart.
    fn level(per_request: f64, each: f64, count: u32, step: f64) -> Vec<SimultaneousStart> {
        let (mut starts, mut begun, mut before) = (Vec::new(), per_request, 0.0);
        while starts.len() < count as usize {
            let ended = if starts.is_empty() { 0.0 } else { begun };
            let after = (before > 0.0 || !starts.is_empty()).then(|| Seconds::new(before));
            let there = |number: &u32| per_request + f64::from(*number) * each <= begun;
            let number = (starts.len() as u32..count).take_while(there).count();
            starts
                .extend((0..number).map(|_| SimultaneousStart { after, by: Seconds::new(ended) }));
            (before, begun) = (ended, begun + step);
        }
        starts
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(2611),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_found_agrees_with_every_start(
            per_request in 1e-4..1e-1f64, each in 1e-4..1e-2f64, levels in prop::collection::vec((2..40u32, 1.0..4.0f64), 1..6),
        ) {
            // Steps of which none ends before the second request has come in.
            let levels: Vec<_> =
                levels.iter().map(|(count, steps)| level(per_request, each, *count, each * steps)).collect();
            let found = fitted(levels.iter().map(Vec::as_slice), per_request).unwrap().get();
            for start in levels.iter().flat_map(|level| (0_u32..).zip(level).skip(1)) {
                let (number, SimultaneousStart { after, by }) = start;
                let came = per_request + f64::from(number) * found;
                prop_assert!(came <= by.get() * (1.0 + 1e-9), "{number}: {came} {by:?}");
                prop_assert!(after.is_none_or(|after| after.get() < came), "{number}: {came} {after:?}");
            }
        }

        #[test]
        fn who_comes_in_together_keeps_nobody_waiting(per_request in 1e-4..1e-1f64, count in 1..40u32) {
            let level = level(per_request, 0.0, count, 1e-3);
            prop_assert_eq!(fitted(std::iter::once(level.as_slice()), per_request), None);
        }
    }
}
