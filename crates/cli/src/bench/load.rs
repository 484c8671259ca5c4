//! From arguments to how hard to press.

use std::num::NonZeroU32;

use fizeau::core::PerSec;
use fizeau::report::LoadPoint;
use fizeau::workload::{Arrivals, Rescale};

use crate::args::BenchArgs;
use crate::exit::Fail;

pub(super) fn cap(args: &BenchArgs) -> Result<Option<NonZeroU32>, Fail> {
    let Some(cap) = args.load.max_concurrency else {
        return Ok(None);
    };
    let cap_u32 = u32::try_from(cap).ok().and_then(NonZeroU32::new);
    cap_u32.map(Some).ok_or_else(|| {
        Fail::usage(format!(
            "--max-concurrency {cap}: give a number of requests in flight, at least 1"
        ))
    })
}

/// vLLM's reading: an infinite rate sends all at once, an infinite burstiness at equal distances.
pub(super) fn arrivals(args: &BenchArgs) -> Result<Arrivals, Fail> {
    let (rate, burstiness) = (args.load.request_rate, args.load.burstiness);
    if rate.is_nan() || rate <= 0.0 {
        return Err(Fail::usage(format!(
            "--request-rate {rate}: give requests per second above 0, or inf for all at once"
        )));
    }
    if burstiness.is_nan() || burstiness <= 0.0 {
        return Err(Fail::usage(format!(
            "--burstiness {burstiness}: give a number above 0; 1 is Poisson, inf is constant"
        )));
    }
    Ok(if rate.is_infinite() && args.load.max_concurrency.is_some() {
        // With a cap, all at once means: each as soon as a slot is free.
        Arrivals::ClosedLoop
    } else if rate.is_infinite() {
        Arrivals::AllAtOnce
    } else if burstiness.is_infinite() {
        Arrivals::Constant { rate: PerSec::new(rate) }
    } else {
        Arrivals::Gamma { rate: PerSec::new(rate), burstiness, rescale: Rescale::None }
    })
}

pub(super) fn load_point(args: &BenchArgs, cap: Option<NonZeroU32>, requests: u64) -> LoadPoint {
    let rate = args.load.request_rate;
    if rate.is_finite() {
        return LoadPoint::Rate(PerSec::new(rate));
    }
    let all = u32::try_from(requests).unwrap_or(u32::MAX);
    LoadPoint::Concurrency(cap.map_or(all, NonZeroU32::get).min(all))
}
