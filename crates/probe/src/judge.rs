//! How far to believe a measurement. Pure.

use fizeau_core::{Bytes, Verdict};
use serde::{Deserialize, Serialize};

use crate::device::DeviceFacts;
use crate::figures::ProbeFigures;
use crate::measurement::{
    CacheState, CollectiveOp, DataPattern, Measurement, Operation, Verification, size,
};
use crate::shares::PeakShares;

/// A clock that moved by more than this between before and after.
const CLOCK_MOVED: f64 = 0.03;
/// Samples whose quartiles are further apart than this part of the median.
const SPREAD: f64 = 0.05;
/// Processors that were given to others for more than this part of the time.
const STOLEN: f64 = 0.02;
/// Other programs that took more than this part of the time.
const OTHERS: f64 = 0.10;
/// Percent of a specification that rounding and clocks may explain.
const ABOVE_SPECIFICATION: f64 = 101.0;
/// Percent of what the units give at the clock; the clock is measured to about two percent.
const ABOVE_CLOCK_PEAK: f64 = 103.0;
/// Each array must be so many times the last caches for memory to be what is measured: the rule of STREAM.
const CACHES: f64 = 4.0;
/// Together arrays need be no larger than this where one alone may be smaller: no cache holds so much, and filling more takes long.
const LARGE: f64 = 1024.0 * 1024.0 * 1024.0;

/// What speaks against a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Objection {
    /// Which rule.
    pub rule: ProbeRule,
    /// How far it goes.
    pub verdict: Verdict,
    /// A sentence with the figures.
    pub reason: String,
}

/// The rules by which a measurement is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ProbeRule {
    /// The result must be right.
    WrongResult,
    /// There must be a time or a rate.
    NothingMeasured,
    /// Nothing exceeds what its vendor prints.
    AboveSpecification,
    /// Nothing exceeds what its units give at their clock.
    AboveClockPeak,
    /// Clocks stay.
    ClocksMoved,
    /// Samples agree.
    Spread,
    /// A hypervisor leaves the processors alone.
    Steal,
    /// Other programs do.
    Busy,
    /// Arrays do not fit into caches where memory is meant.
    SmallArray,
    /// Operands are not zeros.
    Zeros,
}

/// The worst of them.
pub(crate) fn verdict(objections: &[Objection]) -> Verdict {
    objections.iter().map(|objection| objection.verdict).max().unwrap_or(Verdict::Valid)
}

/// Above which percentage of the specification nothing can be. An all-reduce that a switch adds up (NVLink SHARP) sends each value over
/// a link `(n + 1) / n` times, where its bus bandwidth counts `2 (n - 1) / n`: it may be above what one link carries. Of a stream only the
/// bytes that surely moved count: some processors do not read what ordinary stores replace.
fn most_of_specification(seen: &Measurement) -> f64 {
    let counted = match &seen.operation {
        Operation::Collective { shape, .. } if shape.op == CollectiveOp::AllReduce => {
            let ranks = f64::from(shape.ranks);
            2.0 * (ranks - 1.0) / (ranks + 1.0)
        }
        Operation::Memory { .. } => {
            let bytes = seen.work.bytes;
            let both = bytes.hardware.zip(bytes.stream).filter(|(_, surely)| surely.get() > 0.0);
            both.map_or(1.0, |(counted, surely)| counted.get() / surely.get())
        }
        _ => 1.0,
    };
    ABOVE_SPECIFICATION * counted.max(1.0)
}

/// All that speaks against `seen`, the worst first.
pub(crate) fn objections(
    seen: &Measurement,
    figures: &ProbeFigures,
    shares: PeakShares,
    device: Option<&DeviceFacts>,
) -> Vec<Objection> {
    let mut all = Vec::new();
    let mut object = |rule, verdict, reason: String| all.push(Objection { rule, verdict, reason });
    if let Verification::Wrong { what, .. } = &seen.verification {
        object(ProbeRule::WrongResult, Verdict::Invalid, format!("the result is wrong: {what}"));
    }
    if figures.time.is_none()
        && figures.bandwidth().is_none()
        && figures.arithmetic.is_none()
        && figures.bus.is_none()
    {
        let reason = "there is no time and no rate above zero".to_owned();
        object(ProbeRule::NothingMeasured, Verdict::Invalid, reason);
    }
    if let Some(percent) =
        shares.percent_of_specification.filter(|p| *p > most_of_specification(seen))
    {
        let reason = format!(
            "{percent:.0} % of the specification is impossible: the printed figure is of another \
             device, or bytes or operations are counted by another rule, or a cache was measured"
        );
        object(ProbeRule::AboveSpecification, Verdict::Invalid, reason);
    }
    if let Some(percent) = shares.percent_of_clock_peak.filter(|p| *p > ABOVE_CLOCK_PEAK) {
        let reason = format!(
            "{percent:.0} % of the peak at the observed clock: the clock rose during the \
             measurement, or the device has more units than assumed"
        );
        object(ProbeRule::AboveClockPeak, Verdict::Suspect, reason);
    }
    circumstances(seen, &mut object);
    if let Some(spread) = figures.spread.filter(|spread| *spread > SPREAD) {
        let reason = format!(
            "the middle half of the samples spans {:.0} %: look at the best, or measure longer",
            100.0 * spread
        );
        object(ProbeRule::Spread, Verdict::Suspect, reason);
    }
    if let Some(reason) = small_array(seen, device) {
        object(ProbeRule::SmallArray, Verdict::Suspect, reason);
    }
    if seen.method.data == Some(DataPattern::Zeros) {
        let reason = "operands are zeros, which memories and clocks make faster".to_owned();
        object(ProbeRule::Zeros, Verdict::Suspect, reason);
    }
    all.sort_by_key(|objection| std::cmp::Reverse(objection.verdict));
    all
}

fn circumstances(seen: &Measurement, object: &mut impl FnMut(ProbeRule, Verdict, String)) {
    let around = &seen.circumstances;
    if let (Some(before), Some(after)) = (around.clock_before, around.clock_after) {
        let moved = after / before - 1.0;
        if moved.abs() > CLOCK_MOVED {
            let (before, after) = (before.get() / 1e6, after.get() / 1e6);
            let reason = format!("the clock went from {before:.0} to {after:.0} MHz");
            object(ProbeRule::ClocksMoved, Verdict::Suspect, reason);
        }
    }
    if let Some(share) = around.steal_share.filter(|share| *share > STOLEN) {
        let percent = 100.0 * share;
        let reason =
            format!("the hypervisor gave {percent:.0} % of the processors' time to others");
        object(ProbeRule::Steal, Verdict::Suspect, reason);
    }
    if let Some(share) = around.others_share.filter(|share| *share > OTHERS) {
        let reason = format!("other programs took {:.0} % of the processors' time", 100.0 * share);
        object(ProbeRule::Busy, Verdict::Suspect, reason);
    }
}

/// Not where a measurement says that it is of a cache, as those of a curve by size do.
fn small_array(seen: &Measurement, device: Option<&DeviceFacts>) -> Option<String> {
    let Operation::Memory { kernel, working_set: Some(bytes), .. } = &seen.operation else {
        return None;
    };
    let cache = device?.last_cache?;
    let (arrays, least) = (f64::from(kernel.array_count()), CACHES * cache.get());
    let is_small = bytes.get() < (arrays * least).min(least.max(LARGE));
    let is_of_memory = matches!(seen.method.cache, None | Some(CacheState::ColdBySize));
    (is_of_memory && is_small).then(|| {
        // All of its arrays may be larger than that together.
        let each = if bytes.get() < least { *bytes } else { Bytes::new(bytes.get() / arrays) };
        format!("{} is less than four times the last cache of {}", size(each), size(cache))
    })
}
