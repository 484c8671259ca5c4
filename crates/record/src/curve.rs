//! The speed of light as a curve: throughput against latency over the number of requests in flight.

use std::num::NonZeroU64;

use fizeau_core::{Millis, PerSec, Seconds, document};
use fizeau_roofline::{Bound, LoadAnalysisError};

use crate::{LengthTally, LevelReference};

/// What a system could do with the requests of a sweep, from one in flight to as many as its memory holds: the frontier of
/// the bound, and beside it the expected one. No measured frontier is beyond the bound's.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedOfLightCurve {
    points: Vec<SpeedOfLightPoint>,
    devices: u64,
    requests_are_alike: bool,
}

/// One place on the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SpeedOfLightPoint {
    /// Requests in flight.
    pub concurrency: NonZeroU64,
    /// The bound, which nothing can beat.
    pub bound: SpeedOfLightFigures,
    /// What the roofline model expects; none where the model does not fit as engines spread it.
    pub expected: Option<SpeedOfLightFigures>,
    /// What the calibration predicts at its likeliest; none without one, or where it goes no further.
    pub calibrated: Option<SpeedOfLightFigures>,
}

/// Figures of a place on a curve; latencies are means.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SpeedOfLightFigures {
    /// Time to first token.
    pub ttft: Seconds,
    /// Time per output token, all requests in flight being in one batch.
    pub tpot: Seconds,
    /// From sending to the last token. By Little's law never less than requests in flight over requests per second.
    pub e2el: Seconds,
    /// Generated tokens per second.
    pub output_tokens_per_s: PerSec,
    /// Completed requests per second.
    pub requests_per_s: PerSec,
}

/// More places than these no drawing shows.
const MOST_IN_FLIGHT: u64 = 1 << 20;

impl SpeedOfLightCurve {
    /// The curve for requests of these lengths. Beside round numbers it has a place at each of `loads`, up to the most that
    /// fit.
    ///
    /// # Errors
    /// If there are no requests, or the longest of them does not fit.
    pub fn over(
        reference: LevelReference<'_>,
        lengths: &LengthTally,
        loads: &[NonZeroU64],
    ) -> Result<Self, LoadAnalysisError> {
        let (lengths, system) = (lengths.lengths(), reference.system);
        let most = Bound::over(system, lengths, NonZeroU64::MIN)?.max_batch;
        let most = most.clamp(1, MOST_IN_FLIGHT);
        let mut places: Vec<u64> = loads.iter().map(|load| load.get()).collect();
        places.extend(round_up_to(most));
        places.retain(|place| *place <= most);
        places.sort_unstable();
        places.dedup();
        let point = |place: u64| {
            let concurrency = NonZeroU64::new(place).unwrap_or(NonZeroU64::MIN);
            let bound = Bound::over(system, lengths, concurrency)?;
            let expected = reference.expect(lengths, concurrency).ok();
            let predicted = reference.predict(lengths, concurrency).and_then(Result::ok);
            let running = place as f64;
            Ok(SpeedOfLightPoint {
                concurrency,
                bound: SpeedOfLightFigures {
                    ttft: bound.ttft,
                    tpot: bound.tpot,
                    e2el: by_littles_law(bound.e2el, running, bound.requests_per_s),
                    output_tokens_per_s: bound.output_tokens_per_s,
                    requests_per_s: bound.requests_per_s,
                },
                expected: expected.map(|expected| {
                    let figures = expected.figures;
                    SpeedOfLightFigures {
                        ttft: figures.ttft,
                        tpot: figures.step,
                        e2el: by_littles_law(figures.e2el, running, figures.requests_per_s),
                        output_tokens_per_s: figures.output_tokens_per_s,
                        requests_per_s: figures.requests_per_s,
                    }
                }),
                calibrated: predicted.map(|figures| SpeedOfLightFigures {
                    ttft: figures.ttft.value(),
                    tpot: figures.tpot.value(),
                    e2el: figures.e2el.value(),
                    output_tokens_per_s: figures.output_tokens_per_s.value(),
                    requests_per_s: figures.requests_per_s.value(),
                }),
            })
        };
        let points = places.into_iter().map(point).collect::<Result<_, _>>()?;
        let devices = system.deployment().devices();
        Ok(Self { points, devices, requests_are_alike: lengths.are_alike() })
    }

    /// The places, by requests in flight, ascending.
    #[must_use]
    pub fn points(&self) -> &[SpeedOfLightPoint] {
        &self.points
    }

    /// Whether its requests all have the same lengths, so that the bound of the mean is that of each.
    pub(crate) const fn requests_are_alike(&self) -> bool {
        self.requests_are_alike
    }

    /// How many devices it is of.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.devices
    }
}

/// Four places an octave, so that lines between them look like the curve.
fn round_up_to(most: u64) -> impl Iterator<Item = u64> {
    let octaves = (0..=20).flat_map(|power| {
        let octave = 1_u64 << power;
        (0..4).map(move |quarter| octave + octave * quarter / 4)
    });
    octaves.chain([most])
}

/// So many requests are in flight that arrive at this rate and stay so long.
fn by_littles_law(alone: Seconds, in_flight: f64, rate: PerSec) -> Seconds {
    alone.max(Seconds::new(in_flight / rate.get()))
}

document! {
    /// A place on the curve as `sweep.json` has it.
    pub(crate) struct LightPlace as "LightPoint", fn of(point: &SpeedOfLightPoint, devices: u64) {
        let figures = |of| PlaceFigures::of(of, devices);
    } {
        concurrency: NonZeroU64 = point.concurrency,
        bound: PlaceFigures = figures(point.bound),
        expected: Option<PlaceFigures> = point.expected.map(figures),
        calibrated?: PlaceFigures = point.calibrated.map(figures),
    }
}

document! {
    /// What could be at so many in flight; means.
    #[derive(Copy)]
    struct PlaceFigures as "LightFigures", fn of(of: SpeedOfLightFigures, devices: u64) {} {
        ttft_ms: Millis = of.ttft.to_millis(),
        tpot_ms: Millis = of.tpot.to_millis(),
        e2el_ms: Millis = of.e2el.to_millis(),
        requests_per_s: PerSec = of.requests_per_s,
        output_tokens_per_s: f64 = of.output_tokens_per_s.get(),
        tokens_per_s_per_user: f64 = 1.0 / of.tpot.get(),
        tokens_per_s_per_device: f64 = of.output_tokens_per_s.get() / devices as f64,
    }
}

impl SpeedOfLightCurve {
    /// Its places, as `sweep.json` has them.
    pub(crate) fn places(&self) -> Vec<LightPlace> {
        self.points.iter().map(|point| LightPlace::of(point, self.devices)).collect()
    }
}
