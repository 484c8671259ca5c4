//! nccl-tests, as a document.
//!
//! Of <https://github.com/NVIDIA/nccl-tests/blob/master/src/util.cu>: numbers that are none are texts, so are truths; the
//! collective is named by the program's path alone; one device of each process is listed; `env` is the whole environment.
//!
//! What is wrong stands in `nwrong` of a half (`writeBenchmarkLineBody`) and in `out_of_bounds` of the whole (`writeResultFooter`). Form 3
//! (`JSON_FILE_VERSION`) adds, where operations are repeated, `bitwise` of a half and `bitwise_mismatches` of the whole.

use fizeau_core::Millis;

use super::cell;
use super::json::{self, Loose, document};
use super::nccl::{self, Half, Run};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{CollectiveRegime, RankRule, SampleStatistic, TimedBy, Timing};

document! {
    Document {
        version,
        start_time,
        args: Vec<String>,
        env: Vec<String>,
        nccl_version,
        config: Config,
        devices: Vec<Device>,
        results: Option<Vec<Record>>,
        out_of_bounds: Outcome,
        bitwise_mismatches: Outcome,
        errors: Vec<Loose>,
    }
    Config {
        nthreads, ngpus, warmup_iters, warmup_iterations, iterations, aggregated_iterations,
        blocking_collectives, devices: Vec<Device>,
    }
    Device { hostname, device_info }
    Record {
        size,
        r#type,
        out_of_place: Option<TransferTiming>,
        in_place: Option<TransferTiming>,
        out_of_place_per_iter: Option<Iterations>,
        in_place_per_iter: Option<Iterations>,
        tuning: Option<Tuning>,
    }
    TransferTiming { time, cpu_time, alg_bw, bus_bw, nwrong, bitwise: Bitwise }
    Bitwise { different_bits }
    Iterations {
        skipped_iterations, min_us, max_us, p50_us, p95_us, p99_us, times_us: Vec<Loose>,
    }
    Tuning { algo, proto }
    Outcome { okay }
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let (document, torn): (Document, _) = json::read(source, "results")?;
    let has_form = |record: &Record| record.out_of_place.is_some() || record.in_place.is_some();
    let results = document.results.as_deref().unwrap_or_default();
    let has_head = || document.version.text().is_some() && document.start_time.text().is_some();
    // Of a file that is torn before its results the head says whose it is.
    let is_cut_short = torn.is_some() && results.is_empty() && has_head();
    if !is_cut_short && !results.iter().any(has_form) {
        return Err(NotThis::no("`results` with `out_of_place` or `in_place`"));
    }
    let mut reading = Reading::of_rows(source, "nccl-tests");
    torn.into_iter().for_each(|note| reading.note(note));
    if let Some(version) = document.version.text() {
        reading.setting(format!("form of the document: {version}"));
    }
    if let Some(version) = document.nccl_version.text() {
        reading.setting(format!("nccl-library={version}"));
    }
    for (name, value) in document.env.iter().filter_map(|entry| entry.split_once('=')) {
        reading.environment(name, value);
    }
    for error in document.errors.iter().filter_map(Loose::text) {
        reading.note(format!("the tool reports: {error}"));
    }
    let run = run(&document, &mut reading);
    for (index, record) in results.iter().enumerate() {
        let place = index + 1;
        for in_place in [false, true] {
            add(&mut reading, place, &run, record, in_place);
        }
    }
    let outcomes = [
        (&document.out_of_bounds, nccl::OUT_OF_BOUNDS),
        (&document.bitwise_mismatches, nccl::NOT_THE_SAME),
    ];
    for (_, how) in outcomes.iter().filter(|(of, _)| of.okay.truth() == Some(false)) {
        reading.note(format!("the tool reports that results are {how}"));
        nccl::distrust(how, reading.measurements().iter_mut().map(|seen| &mut seen.verification));
    }
    Ok(reading)
}

fn run(document: &Document, reading: &mut Reading<'_>) -> Run {
    let config = &document.config;
    let devices = if config.devices.is_empty() { &document.devices } else { &config.devices };
    let each =
        config.nthreads.count().unwrap_or(1).saturating_mul(config.ngpus.count().unwrap_or(1));
    let ranks = (devices.len() as u64).saturating_mul(each);
    let ranks = cell::several(ranks);
    let device = gpus(ranks);
    let mut hosts: Vec<String> =
        devices.iter().filter_map(|device| device.hostname.text()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    if let [host] = hosts.as_slice() {
        reading.node(host);
    }
    for model in devices.iter().filter_map(|device| device.device_info.text()) {
        reading.device(&device, &model);
    }
    let aggregated = config.aggregated_iterations.count();
    let is_blocking = config.blocking_collectives.truth() == Some(true)
        || config.blocking_collectives.number().is_some_and(|mode| mode > 0.0);
    let regime = match (is_blocking, config.iterations.count()) {
        (true, _) => Some(CollectiveRegime::FreshEntry),
        (false, Some(_)) => Some(CollectiveRegime::Chained),
        (false, None) => None,
    };
    Run {
        op: document.args.first().and_then(|program| nccl::op(program)),
        ranks,
        nodes: cell::several(hosts.len() as u64),
        regime,
        rank_rule: rank_rule(&document.args),
        warm_up: config.warmup_iterations.count().or_else(|| config.warmup_iters.count()),
        operations: config
            .iterations
            .count()
            .map(|each| each.saturating_mul(aggregated.unwrap_or(1))),
        aggregated: aggregated.or(Some(1)),
        device: Some(device),
        notes: Vec::new(),
    }
}

/// Over which ranks a time is taken, by the arguments; the mean where they do not say.
fn rank_rule(args: &[String]) -> Option<RankRule> {
    let given = args.windows(2).find(|pair| pair[0] == "-a" || pair[0].ends_with("average"));
    match given.map(|pair| pair[1].as_str()) {
        None => (!args.is_empty()).then_some(RankRule::Mean),
        Some("0") => Some(RankRule::First),
        Some("1") => Some(RankRule::Mean),
        Some("2") => Some(RankRule::Shortest),
        Some("3") => Some(RankRule::Longest),
        Some(_) => None,
    }
}

fn add(reading: &mut Reading<'_>, place: usize, run: &Run, record: &Record, in_place: bool) {
    let (half, iterations) = match in_place {
        false => (&record.out_of_place, &record.out_of_place_per_iter),
        true => (&record.in_place, &record.in_place_per_iter),
    };
    let Some(half) = half else { return };
    let Some(size) = record.size.count() else {
        return reading.skip(place, "its `size` is not a number of bytes");
    };
    let cpu_time = half.cpu_time.number();
    let tuning =
        record.tuning.as_ref().and_then(|tuning| Some((tuning.algo.text()?, tuning.proto.text()?)));
    let row = Half {
        size,
        dtype: record.r#type.text().unwrap_or_default(),
        in_place: Some(in_place),
        time: cpu_time.or_else(|| half.time.number()),
        is_cpu_time: cpu_time.is_some(),
        algorithm_bandwidth: half.alg_bw.number(),
        bus_bandwidth: half.bus_bw.number(),
        verification: nccl::verified(half.nwrong.number(), half.bitwise.different_bits.number()),
        algorithm: tuning.map(|(algo, proto)| format!("{algo}/{proto}")),
        // Its document names the collective.
        reduces: false,
    };
    if row.time.is_none() && row.bus_bandwidth.is_none() {
        return reading.skip(place, "its times are not numbers");
    }
    let mut tells = Tells::of(run.operations);
    if let Some(each) = iterations {
        tells = tells
            .micros(SampleStatistic::Median, each.p50_us.number())
            .micros(SampleStatistic::Best, each.min_us.number())
            .micros(SampleStatistic::P95, each.p95_us.number())
            .micros(SampleStatistic::P99, each.p99_us.number())
            .micros(SampleStatistic::Worst, each.max_us.number());
    }
    let Some(seen) = nccl::measured(reading, place, run, &row, tells) else { return };
    let Some(iterations) = iterations.as_ref().filter(|_| run.aggregated == Some(1)) else {
        return;
    };
    let skipped = iterations.skipped_iterations.count().unwrap_or(0);
    let times = iterations.times_us.iter().skip(usize::try_from(skipped).unwrap_or(usize::MAX));
    let samples: Option<Vec<Millis>> =
        times.map(|time| Some(Millis::new(time.number()? / 1e3))).collect();
    if let Some(samples) = samples.filter(|samples| !samples.is_empty()) {
        let reported = std::mem::take(&mut seen.timing.reported);
        seen.timing = Timing { reported, ..Timing::of_samples(samples, 1) };
        seen.method.timed_by = Some(TimedBy::DeviceEvents);
        if let crate::measurement::Operation::Collective { shape, .. } = &mut seen.operation {
            shape.rank_rule = Some(RankRule::Longest);
        }
    }
}
