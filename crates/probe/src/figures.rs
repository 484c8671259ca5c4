//! Times and rates of a measurement: computed here and nowhere else, for imported ones too.

use std::ops::Mul;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Interval, Millis, Seconds};
use serde::{Deserialize, Serialize};

use crate::measurement::{Measurement, Operation, ReportedValue, SampleStatistic};
use crate::statistics::Sorted;

/// Times and rates of one measurement. A rate is the work of an operation over its time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeFigures {
    /// How long one operation takes.
    #[serde(rename = "time_ms", default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Figure<Millis>>,
    /// The distance between the quartiles of the samples over their median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Bandwidth, each array or operand counted once.
    #[serde(rename = "stream_bytes_per_s", default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Figure<BytesPerSec>>,
    /// Bandwidth, what arrives counted once; algorithm bandwidth of a collective.
    #[serde(rename = "copy_bytes_per_s", default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Figure<BytesPerSec>>,
    /// Bandwidth as memory sees it.
    #[serde(rename = "hardware_bytes_per_s", default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Figure<BytesPerSec>>,
    /// Bus bandwidth of a collective.
    #[serde(rename = "bus_bytes_per_s", default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<Figure<BytesPerSec>>,
    /// Rate of arithmetic.
    #[serde(rename = "flop_per_s", default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Figure<FlopsPerSec>>,
}

/// One figure: what is typical of its samples, and the best of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure<T> {
    /// The median; of a tool that tells none, what comes nearest ([`Figure::statistic`]).
    pub typical: T,
    /// Where the median lies, nineteen times in twenty; absent of fewer than six samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_ci: Option<[T; 2]>,
    /// What the typical figure is.
    pub statistic: SampleStatistic,
    /// The best: the shortest time, the highest rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<T>,
}

impl<T: Copy> Figure<T> {
    /// The best, or where it is not known the typical figure.
    #[must_use]
    pub fn peak(&self) -> T {
        self.best.unwrap_or(self.typical)
    }

    /// In another unit that grows with this one.
    #[must_use]
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Figure<U> {
        Figure {
            typical: change(self.typical),
            typical_ci: self.typical_ci.map(|ends| ends.map(&change)),
            statistic: self.statistic,
            best: self.best.map(&change),
        }
    }

    /// In another unit that falls as this one grows: the ends change places.
    pub(crate) fn inverted<U>(self, change: impl Fn(T) -> U) -> Figure<U> {
        let ends = self.typical_ci.map(|[low, high]| [change(high), change(low)]);
        Figure { typical_ci: ends, ..self.map(&change) }
    }
}

impl ProbeFigures {
    /// What `seen` comes to: from its samples where it has any, else from what was told.
    #[must_use]
    pub fn of(seen: &Measurement) -> Self {
        let samples = per_operation(seen);
        let time = of_samples(&samples).or_else(|| told_time(seen));
        let [mut stream, copy, hardware] = bandwidths(seen, time);
        let flops = seen.work.flops.filter(|flops| flops.get() > 0.0);
        let counted = flops.and_then(|flops| Some(time?.inverted(per_second(flops.get()))));
        let mut arithmetic = counted.or_else(|| {
            told_rate(seen, |figure| match figure {
                ReportedValue::Arithmetic(rate) => Some(rate.get()),
                _ => None,
            })
        });
        // Of arithmetic and traffic in a known proportion either tells the other.
        if let Operation::Intensity { flops_per_byte: ratio } = seen.operation
            && ratio > 0.0
        {
            arithmetic = arithmetic.or_else(|| stream.map(|rate| rate.map(|rate| rate * ratio)));
            stream = stream.or_else(|| arithmetic.map(|rate| rate.map(|rate| rate / ratio)));
        }
        Self {
            time: time.map(|time| time.map(Millis::new)),
            spread: samples.spread(),
            bus: bus(seen, copy),
            stream: stream.map(|rate| rate.map(BytesPerSec::new)),
            copy: copy.map(|rate| rate.map(BytesPerSec::new)),
            hardware: hardware.map(|rate| rate.map(BytesPerSec::new)),
            arithmetic: arithmetic.map(|rate| rate.map(FlopsPerSec::new)),
        }
    }

    /// The bandwidth to hold against another of the same operation: by the first convention that is known, in the order
    /// hardware, stream, copy.
    #[must_use]
    pub fn bandwidth(&self) -> Option<Figure<BytesPerSec>> {
        self.hardware.or(self.stream).or(self.copy)
    }

    /// How long one operation takes, in seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<Figure<Seconds>> {
        Some(self.time?.map(|time| Seconds::new(time.get() / 1e3)))
    }
}

/// Milliseconds of one operation.
fn per_operation(seen: &Measurement) -> Sorted {
    let operations = seen.timing.operations_per_sample.max(1) as f64;
    Sorted::of(seen.timing.samples.iter().map(|sample| sample.get() / operations))
}

fn of_samples(samples: &Sorted) -> Option<Figure<f64>> {
    Some(Figure {
        typical: samples.median()?,
        typical_ci: samples.median_interval().map(Interval::ends),
        statistic: SampleStatistic::Median,
        best: samples.least(),
    })
}

/// Bytes a second by each convention, the stream's first, then that of a copy and that of the hardware: by bytes and time, or as they were
/// told.
fn bandwidths(seen: &Measurement, time: Option<Figure<f64>>) -> [Option<Figure<f64>>; 3] {
    let bytes = seen.work.bytes;
    let bytes = [bytes.stream, bytes.copy, bytes.hardware];
    let told: [fn(ReportedValue) -> Option<f64>; 3] = [
        |figure| match figure {
            ReportedValue::StreamBandwidth(rate) => Some(rate.get()),
            _ => None,
        },
        |figure| match figure {
            ReportedValue::CopyBandwidth(rate) => Some(rate.get()),
            _ => None,
        },
        |figure| match figure {
            ReportedValue::HardwareBandwidth(rate) => Some(rate.get()),
            _ => None,
        },
    ];
    let rates: [Option<Figure<f64>>; 3] = std::array::from_fn(|way| {
        let counted = bytes[way].and_then(|bytes| Some(time?.inverted(per_second(bytes.get()))));
        counted.or_else(|| told_rate(seen, told[way]))
    });
    // A tool that tells one of them tells the others, where both counts are known.
    let known = rates.iter().zip(bytes).find_map(|(rate, of)| Some(((*rate)?, of?)));
    let from_another = |wanted: Option<Bytes>| {
        let ((rate, of), wanted) = (known?, wanted?);
        Some(rate.map(|rate| rate * (wanted / of)))
    };
    let [stream, copy, hardware] =
        std::array::from_fn(|way| rates[way].or_else(|| from_another(bytes[way])));
    // A memory that copies into itself reads each byte and writes it.
    let twice = |copy: Figure<f64>| copy.map(|rate| 2.0 * rate);
    let hardware = hardware.or_else(|| copy.filter(|_| seen.operation.is_within_one()).map(twice));
    [stream, copy, hardware]
}

fn per_second(amount: f64) -> impl Fn(f64) -> f64 {
    move |millis| amount / (millis / 1e3)
}

fn told_time(seen: &Measurement) -> Option<Figure<f64>> {
    told_rate(seen, |figure| match figure {
        ReportedValue::Time(time) => Some(time.get()),
        _ => None,
    })
}

/// Of what was told of a quantity the statistic that is nearest to a median, and the best.
fn told_rate(
    seen: &Measurement,
    wanted: impl Fn(ReportedValue) -> Option<f64>,
) -> Option<Figure<f64>> {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let told = seen.timing.reported.iter();
    let told: Vec<(SampleStatistic, f64)> = told
        .filter_map(|told| Some((told.statistic, wanted(told.figure).filter(usable)?)))
        .collect();
    // The order of the variants is that of how near they are.
    let (statistic, typical) = told.iter().copied().min_by_key(|(statistic, _)| *statistic)?;
    let best = told.iter().find(|(statistic, _)| *statistic == SampleStatistic::Best);
    Some(Figure { typical, typical_ci: None, statistic, best: best.map(|(_, value)| *value) })
}

/// Of a collective: what was told, or what follows from its algorithm bandwidth.
fn bus(seen: &Measurement, algorithm: Option<Figure<f64>>) -> Option<Figure<BytesPerSec>> {
    let Operation::Collective { shape, .. } = &seen.operation else {
        return None;
    };
    let factor = shape.op.bus_factor(shape.ranks);
    let told = || {
        told_rate(seen, |figure| match figure {
            ReportedValue::BusBandwidth(rate) => Some(rate.get()),
            _ => None,
        })
    };
    let bus = algorithm.map(|rate| rate.map(|rate| rate.mul(factor))).or_else(told)?;
    Some(bus.map(BytesPerSec::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::{
        CollectiveOp, CollectiveShape, Dtype, MemoryKernel, Provenance, ReportedFigure, StoreKind,
        Timing,
    };
    use proptest::prelude::*;

    fn triad(timing: Timing) -> Measurement {
        let operation =
            Operation::Memory { kernel: MemoryKernel::Triad, stores: None, working_set: None };
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.work = MemoryKernel::Triad.work(1_000_000, Dtype::F64, StoreKind::Ordinary);
        seen
    }

    proptest! {
        #[test]
        fn rates_follow_from_samples(millis in prop::collection::vec(0.01_f64..100.0, 1..40), operations in 1_u64..50) {
            let samples = millis.iter().copied().map(Millis::new).collect();
            let figures = ProbeFigures::of(&triad(Timing::of_samples(samples, operations)));
            let (stream, hardware) = (figures.stream.unwrap(), figures.hardware.unwrap());
            prop_assert!((hardware.typical.get() / stream.typical.get() - 4.0 / 3.0).abs() < 1e-12);
            prop_assert!(stream.best.unwrap() >= stream.typical);
            prop_assert!(figures.copy.is_none());
            let seconds = figures.seconds().unwrap().typical;
            prop_assert!(((stream.typical * seconds).get() / 24e6 - 1.0).abs() < 1e-9);
            if let Some([low, high]) = stream.typical_ci {
                prop_assert!(low <= stream.typical && stream.typical <= high);
            }
        }

        /// A tool that tells a rate, and samples that come to that rate, give the same figures.
        #[test]
        fn a_told_rate_is_as_good_as_a_time(millis in 0.01_f64..100.0) {
            let rate = BytesPerSec::new(24e6 / (millis / 1e3));
            let told = ReportedFigure::new(SampleStatistic::Median, ReportedValue::StreamBandwidth(rate));
            let told = ProbeFigures::of(&triad(Timing::of_reported(vec![told])));
            let seen = ProbeFigures::of(&triad(Timing::of_samples(vec![Millis::new(millis)], 1)));
            let typical = |figures: ProbeFigures| figures.hardware.unwrap().typical.get();
            prop_assert!((typical(told) / typical(seen) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_median_is_taken_before_the_mean_and_nothing_comes_of_nothing() {
        let figure = |time| ReportedValue::Time(Millis::new(time));
        let told = vec![
            ReportedFigure::new(SampleStatistic::Best, figure(1.0)),
            ReportedFigure::new(SampleStatistic::Mean, figure(3.0)),
            ReportedFigure::new(SampleStatistic::Median, figure(2.0)),
            ReportedFigure::new(SampleStatistic::P99, figure(f64::NAN)),
        ];
        let time = ProbeFigures::of(&triad(Timing::of_reported(told))).time.unwrap();
        assert_eq!((time.typical.get(), time.peak().get()), (2.0, 1.0));
        assert_eq!(time.statistic, SampleStatistic::Median);
        assert_eq!(ProbeFigures::of(&triad(Timing::default())), ProbeFigures::default());
    }

    #[test]
    fn bus_bandwidth_follows_from_algorithm_bandwidth() {
        let shape = CollectiveShape::new(CollectiveOp::AllReduce, 8, Bytes::new(1e9));
        let operation = Operation::Collective { shape, role: None };
        let timing = Timing::of_samples(vec![Millis::new(10.0)], 1);
        let mut seen = Measurement::new("gpu0-7", operation, timing, Provenance::native());
        seen.work.bytes.copy = Some(Bytes::new(1e9));
        let figures = ProbeFigures::of(&seen);
        assert_eq!(figures.copy.unwrap().typical.get(), 1e11);
        assert_eq!(figures.bus.unwrap().typical.get(), 1.75e11);
    }
}
