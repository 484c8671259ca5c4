//! Charts in words and numbers, for whoever does not see them.

use super::super::table::rounded;
use crate::{ChartDetail, ChartLevel, ChartLevelPosition, ChartRun};
use fizeau_record::text::{duration_ms, number};

/// What `said` makes of each run, with the names of runs where there are several.
pub(super) fn of(runs: &[ChartRun], said: fn(&ChartRun) -> String) -> String {
    let of = |run: &ChartRun| match run.name.is_empty() {
        true => said(run),
        false => format!("{}: {}", run.name, said(run)),
    };
    runs.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// One part a level; where no level has one, that there is no level, or what they all lack.
fn each(run: &ChartRun, lack: &str, of: impl Fn(&ChartLevel) -> Option<String>) -> String {
    let parts =
        run.levels.iter().filter_map(|level| Some(format!("{}: {}", level.load, of(level)?)));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true if run.levels.is_empty() => "No level was measured.".to_owned(),
        true => format!("{lack}."),
        false => format!("{}.", parts.join("; ")),
    }
}

/// The same of what tapes show.
fn each_of_tapes(
    run: &ChartRun,
    lack: &str,
    of: impl Fn(&ChartLevel, &ChartDetail) -> Option<String>,
) -> String {
    let has_tapes = run.levels.iter().any(|level| level.detail.is_some());
    let lack = if has_tapes { lack } else { "No tapes were read" };
    each(run, lack, |level| of(level, level.detail.as_ref()?))
}

/// A figure with its unit: `441 ms`.
fn figure(level: &ChartLevel, name: &str, unit: &str) -> Option<String> {
    Some(format!("{} {unit}", rounded(level.figures.get(name)?)))
}

/// The p99 of a latency, or the greatest value that stands in for it: which of them, and its milliseconds.
fn tail(level: &ChartLevel, metric: &str) -> Option<(&'static str, String)> {
    let name = format!("p99_{metric}_ms");
    let which = if level.figures.get(&name)?.stand_in { "greatest" } else { "p99" };
    Some((which, figure(level, &name, "ms")?))
}

pub(super) fn frontier(run: &ChartRun) -> String {
    let levels = each(run, "No level has both figures", |level| {
        let place = match level.position {
            ChartLevelPosition::Frontier => "on the frontier",
            ChartLevelPosition::Dominated => "dominated",
            ChartLevelPosition::LeftOut => return Some("left out".to_owned()),
        };
        let rate = figure(level, "requests_per_s", "requests/s")?;
        let (which, tail) = tail(level, "e2el")?;
        Some(format!("{rate} at a {which} E2EL of {tail}, {place}"))
    });
    let chosen = run.operating.and_then(|index| run.levels.get(index));
    let chosen = chosen.map(|level| format!(" To run at: {}.", level.load)).unwrap_or_default();
    // Beyond the batch that the memory holds more requests wait and no more are served.
    let bound = run.light.as_ref().map(|light| &*light.bound).unwrap_or_default();
    let light = bound.iter().reduce(|most, next| {
        if next.requests_per_s > most.requests_per_s * 1.001 { next } else { most }
    });
    let light = light.map(|most| {
        let (rate, time) = (number(most.requests_per_s), duration_ms(most.e2el_ms));
        format!(" The speed of light goes up to {rate} requests/s, at a mean E2EL of {time}.")
    });
    format!("{levels}{chosen}{}", light.unwrap_or_default())
}

pub(super) fn interactivity(run: &ChartRun) -> String {
    let per_device = run.devices.is_some();
    each(run, "No level has both figures", |level| {
        let user = figure(level, "user_tps", "tokens/s for a user")?;
        let device = match per_device {
            true => figure(level, "output_tps_per_device", "tokens/s of a device")?,
            false => figure(level, "output_tps", "tokens/s of all devices")?,
        };
        Some(format!("{user}, {device}"))
    })
}

pub(super) fn load(run: &ChartRun) -> String {
    each(run, "No level has a throughput, a TTFT and an E2EL", |level| {
        let rate = figure(level, "requests_per_s", "requests/s")?;
        let both = |metric: &str| {
            let median = figure(level, &format!("p50_{metric}_ms"), "ms")?;
            let (which, tail) = tail(level, metric)?;
            Some(format!("p50 {median} and {which} {tail}"))
        };
        let (ttft, e2el) = (both("ttft")?, both("e2el")?);
        Some(format!("{rate}, TTFT {ttft}, E2EL {e2el}"))
    })
}

const TTFT: &str = "ttft_ms";
const NO_TTFT: &str = "No request has a TTFT";

pub(super) fn quantiles(run: &ChartRun) -> String {
    each_of_tapes(run, NO_TTFT, |_, detail| {
        let curve = detail.quantiles.get(TTFT)?;
        let words = |point: &(f64, f64)| {
            format!("{} at p{}", duration_ms(point.1), number(100.0 * point.0))
        };
        let ends = [curve.iter().find(|point| point.0 >= 0.5), curve.last()];
        let [median, last] = ends.map(|point| point.map(words));
        let (median, last) = (median?, last?);
        Some(if median == last { format!("TTFT {last}") } else { format!("TTFT {median}, {last}") })
    })
}

pub(super) fn itl(run: &ChartRun) -> String {
    each_of_tapes(run, "No gap between tokens is known", |level, detail| {
        let timeline = &detail.timeline;
        let longest = timeline.itl_max_ms.iter().flatten().copied().reduce(f64::max)?;
        let median = figure(level, "p50_itl_ms", "ms")?;
        Some(format!("median gap {median}, the longest {}", duration_ms(longest)))
    })
}

pub(super) fn timeline(run: &ChartRun) -> String {
    each_of_tapes(run, "No request was sent", |_, detail| {
        let timeline = &detail.timeline;
        let most = timeline.in_flight.iter().copied().reduce(f64::max)?;
        let seconds = number(timeline.bin_s * timeline.in_flight.len() as f64);
        let window = match timeline.window_s.zip(timeline.window_kind) {
            Some(((from, to), kind)) => {
                format!("the {kind} is from {} s to {} s", number(from), number(to))
            }
            None => "no part is known to be steady".to_owned(),
        };
        Some(format!("{seconds} s, up to {} in flight, {window}", number(most)))
    })
}

pub(super) fn lengths(run: &ChartRun) -> String {
    let has_ttft = |level: &ChartLevel| {
        level
            .detail
            .as_ref()
            .is_some_and(|detail| detail.quantiles.get(TTFT).is_some_and(|curve| !curve.is_empty()))
    };
    let lack = match run.levels.iter().any(has_ttft) {
        true => "The lengths of the prompts are not known",
        false => NO_TTFT,
    };
    each_of_tapes(run, lack, |_, detail| {
        let pairs = &detail.ttft_by_input;
        let ends = |pairs: &[(u64, f64)]| {
            let inputs = || pairs.iter().map(|pair| pair.0);
            Some((inputs().min()?, inputs().max()?))
        };
        let (shortest, longest) = ends(pairs)?;
        let worst = pairs.iter().map(|pair| pair.1).reduce(f64::max)?;
        let n = pairs.len();
        Some(format!(
            "{n} requests of {shortest} to {longest} tokens, TTFT up to {}",
            duration_ms(worst)
        ))
    })
}
