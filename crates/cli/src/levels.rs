//! From a measured level to its report.

use fizeau::core::{Millis, Seconds, Tokens};
use fizeau::harness::{LevelRun, RunFolder};
use fizeau::metrics::{Ending, Expectations, judge};
use fizeau::report::{LevelReport, LevelStatus, LoadPoint, SpeedOfLight};
use fizeau::roofline::{Bound, Measured};

use crate::exit::Fail;
use crate::speed::Physics;

/// Why there is no speed of light where nobody gave a model and a device.
pub(crate) const NO_PHYSICS: &str =
    "no model and device were given: --model-config FILE --hardware NAME";

/// The report of a level, beside its bound where there is one.
pub(crate) fn report(
    run: &LevelRun,
    load: LoadPoint,
    physics: Option<&Physics>,
    shared_prefix: Tokens,
    folder: Option<String>,
) -> LevelReport {
    let speed_of_light = speed_of_light(run, load, physics);
    let expected = Expectations {
        held_back: run.driven.held_back,
        shared_prefix,
        beyond_speed_of_light: beyond(&speed_of_light),
        ending: if run.is_partial() { Ending::Interrupted } else { Ending::Finished },
        ..Expectations::default()
    };
    LevelReport {
        load,
        summary: run.summary.clone(),
        client: run.client,
        validity: judge(&run.summary, &run.client, &expected),
        speed_of_light,
        status: if run.is_partial() {
            LevelStatus::Partial { reason: "interrupted".to_owned() }
        } else {
            LevelStatus::Finished
        },
        folder,
    }
}

/// Writes what a level's folder holds besides its tapes.
pub(crate) fn write(folder: &RunFolder, run: &LevelRun, report: &LevelReport) -> Result<(), Fail> {
    folder.write_json("summary.json", report).map_err(Fail::broken)?;
    let duration = run.summary.throughput.duration.to_nanos().unwrap_or_default();
    folder.write_histograms(&run.tapes, duration).map_err(Fail::broken)
}

/// Keeps the model's config with the run, so that its speed of light can be computed again.
pub(crate) fn write_config(folder: &RunFolder, physics: Option<&Physics>) -> Result<(), Fail> {
    match physics.and_then(Physics::config) {
        Some(text) => folder.write_text("model-config.json", text).map(drop).map_err(Fail::broken),
        None => Ok(()),
    }
}

fn speed_of_light(run: &LevelRun, load: LoadPoint, physics: Option<&Physics>) -> SpeedOfLight {
    let absent = |reason: &str| SpeedOfLight::Absent { reason: reason.to_owned() };
    let Some(physics) = physics else {
        return absent(NO_PHYSICS);
    };
    let LoadPoint::Concurrency(concurrency) = load else {
        return absent("the bound of a level needs its concurrency: --max-concurrency");
    };
    if run.summary.requests.completed == 0 {
        return absent("no request completed");
    }
    match physics.bound(&run.tapes, concurrency.into()) {
        Err(reason) => SpeedOfLight::Absent { reason },
        Ok(bound) => SpeedOfLight::Known { shares: measured(run).percent_of(&bound), bound },
    }
}

/// Means for latencies, because the bound is one of the mean: a percentile would compare a tail with an average.
fn measured(run: &LevelRun) -> Measured {
    let seconds = |millis: Millis| Seconds::new(millis.get() / 1e3);
    let (metrics, throughput) = (&run.summary.metrics, &run.summary.throughput);
    Measured {
        ttft: metrics.ttft.mean.map(seconds),
        tpot: metrics.tpot.mean.map(seconds),
        output_tokens_per_s: Some(throughput.output_tokens_per_s),
        requests_per_s: Some(throughput.requests_per_s),
    }
}

fn beyond(speed_of_light: &SpeedOfLight) -> Option<String> {
    let SpeedOfLight::Known { bound, shares } = speed_of_light else {
        return None;
    };
    shares.is_impossible().then(|| describe(bound, shares))
}

fn describe(bound: &Bound, shares: &fizeau::roofline::SpeedOfLight) -> String {
    let figures = [
        (shares.output_tokens_per_s, bound.output_tokens_per_s, "output tokens/s"),
        (shares.requests_per_s, bound.requests_per_s, "requests/s"),
    ];
    let figures =
        figures.into_iter().filter_map(|(share, bound, unit)| Some((share?, bound, unit)));
    let worst = figures.max_by(|a, b| a.0.get().total_cmp(&b.0.get()));
    let worst = worst.map_or_else(String::new, |(share, bound, unit)| {
        format!("{share} of the bound of {:.2} {unit}", bound.get())
    });
    format!(
        "{worst}, for one device, one token a step and nothing cached; the model's config, the device or the endpoint \
         is not what was said"
    )
}
