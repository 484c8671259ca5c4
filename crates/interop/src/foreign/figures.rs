//! Figures of a file as ours.

use std::collections::BTreeMap;

use fizeau_core::{Millis, Nanos, RequestPurpose, Stamp, Tape, Tokens};
use fizeau_metrics::{Distribution, Metric, RequestMetrics};

use fizeau_record::text::number;

use super::{ImportedCounts, ImportedLevel, UnknownFact};

/// Figures as they are put together, with what could not be.
#[derive(Debug, Default)]
pub(super) struct FigureSheet {
    completed: u64,
    figures: BTreeMap<String, f64>,
    greatest: Vec<String>,
    not_known: Vec<UnknownFact>,
    caveats: Vec<String>,
    /// Whether the file's duration is that of all its requests, from before the first to behind the last.
    times_all: bool,
    /// Means that the file states of latencies whose values it has of each request, in milliseconds.
    stated: BTreeMap<&'static str, f64>,
}

impl FigureSheet {
    /// Of a level with so many completed requests.
    pub(super) fn new(completed: u64) -> Self {
        Self { completed, ..Self::default() }
    }

    /// A figure that is ours by its definition; nothing of a level without a completed request, whose zeros say nothing.
    pub(super) fn put(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite() && self.completed > 0) {
            self.figures.insert(name.to_owned(), value);
        }
    }

    /// A latency in milliseconds: `statistic` is `mean`, `p50`, `p90`, `p99` or `max`. A percentile that so few requests do not
    /// support is withheld, as it is of our own.
    pub(super) fn latency(&mut self, metric: &str, statistic: &str, ms: Option<f64>) {
        let name = format!("{statistic}_{metric}_ms");
        let needs = match statistic {
            "p90" => 10,
            "p99" => 100,
            _ => 1,
        };
        if ms.is_some() && self.completed < needs {
            let why = format!("{} requests, and it needs {needs}", self.completed);
            return self.not_known(&name, &why);
        }
        self.put(&name, ms);
    }

    /// All statistics of a latency from the values of the requests, in milliseconds; of fewer than 100 the greatest stands in
    /// for the p99.
    pub(super) fn sample(&mut self, metric: &str, values: impl IntoIterator<Item = f64>) {
        let of = Distribution::of(values.into_iter().map(Millis::new));
        let percentiles = [("p50", of.p50), ("p90", of.p90), ("p99", of.p99)];
        for (statistic, quantile) in percentiles {
            self.put(&format!("{statistic}_{metric}_ms"), quantile.value().map(Millis::get));
        }
        self.put(&format!("mean_{metric}_ms"), of.mean.map(Millis::get));
        self.put(&format!("max_{metric}_ms"), of.max.map(Millis::get));
        let p99 = format!("p99_{metric}_ms");
        if of.p99.value().is_none() && of.max.is_some() {
            self.put(&p99, of.max.map(Millis::get));
            self.greatest.push(p99);
        }
    }

    /// The mean of a latency by the file, in milliseconds, where [`FigureSheet::sample`] takes those of its requests.
    pub(super) fn stated_mean(&mut self, metric: &'static str, ms: Option<f64>) {
        self.stated.extend(ms.map(|ms| (metric, ms)));
    }

    /// That the file's duration runs from before its first request until all were over, so that it has to be that of its requests.
    pub(super) const fn times_all_requests(&mut self) {
        self.times_all = true;
    }

    /// Where the file contradicts its own requests: no figure of it is sure then.
    fn contradictions(&self, level: &ImportedLevel) -> Vec<UnknownFact> {
        let load = |tape: &&Tape| tape.part == RequestPurpose::Load && tape.is_success();
        let good: Vec<RequestMetrics> =
            level.tapes.iter().filter(load).map(RequestMetrics::of).collect();
        let mean = |of: fn(&RequestMetrics) -> Option<Nanos>| {
            let values = good.iter().filter_map(|one| Some(of(one)?.to_millis()));
            Distribution::of(values).mean.map(Millis::get)
        };
        // Of TPOT each tool has its own definition.
        let means = [("ttft", mean(|of| of.ttft)), ("e2el", mean(|of| of.e2el)), ("tpot", None)];
        let differing = means.into_iter().filter_map(|(metric, of_tapes)| {
            let name = format!("mean_{metric}_ms");
            let figure = self.figures.get(&name).copied();
            let (stated, own) =
                (self.stated.get(metric).copied().or(figure)?, of_tapes.or(figure)?);
            ((stated - own).abs() > FAR_OFF * stated.max(own)).then(|| {
                format!("the file says {name} is {stated:.2}, and its requests come to {own:.2}")
            })
        });
        let (counted, listed) = (level.counts.completed, good.len() as u64);
        let miscounted = (!level.tapes.is_empty() && counted != listed)
            .then(|| format!("the file counts {counted} completed requests, and lists {listed}"));
        // Sums and times of other requests than the file counts are others anyway.
        let is_of_all = counted == listed;
        let sums = other_tokens(level).into_iter().chain(self.other_time(level));
        let miscounted = miscounted.into_iter().chain(sums.filter(|_| is_of_all));
        let all = differing.chain(miscounted).chain(self.impossible(level));
        all.map(UnknownFact::contradiction).collect()
    }

    /// That the requests took another time than the file says, so that its rates are not theirs. Before the first one it may have waited
    /// for as long as a rate leaves gaps, and until one was over that has no known end.
    fn other_time(&self, level: &ImportedLevel) -> Option<String> {
        let load = || level.tapes.iter().filter(|tape| tape.part == RequestPurpose::Load);
        let stated =
            level.counts.duration_s.filter(|_| self.times_all && !level.load.is_unknown)?;
        let start = load().map(|tape| tape.marks.intended).min()?;
        let end = load().filter_map(|tape| tape.marks.end.max(tape.last_output())).max()?;
        let took = end.saturating_since(start).as_secs_f64();
        let is_open = load().any(|tape| tape.marks.end.is_none());
        let law = level.requested_load().arrivals;
        let gap =
            law.and_then(|law| Some(law.cv_squared.unwrap_or(1.0).max(1.0) / law.rate?.get()));
        let waited = -RARE.ln() * gap.unwrap_or_default();
        let is_short = took < (stated - waited) * (1.0 - FAR_OFF) && !is_open;
        let is_long = took * (1.0 - FAR_OFF) > stated;
        let per_s = |took: f64| number(self.completed as f64 / took);
        (is_short || is_long).then(|| {
            format!(
                "the file says that all took {} s, which is {} completed requests/s, and its requests were over within {} s, which is {}",
                number(stated),
                per_s(stated),
                number(took),
                per_s(took)
            )
        })
    }

    /// Where the file's totals and statistics cannot be of the same requests.
    fn impossible(&self, level: &ImportedLevel) -> Vec<String> {
        let counts = &level.counts;
        let Some(took) = counts.duration_s.filter(|_| self.completed > 0) else {
            return Vec::new();
        };
        if took.is_nan() || took <= 0.0 {
            return vec![format!(
                "the file counts {} completed requests in {took} s",
                self.completed
            )];
        }
        let [input, output] =
            [counts.input_tokens, counts.output_tokens].map(|tokens| tokens.map(|n| n as f64));
        let totals = [
            ("requests_per_s", Some(self.completed as f64)),
            ("output_tps", output),
            ("total_tps", input.zip(output).map(|(input, output)| input + output)),
        ];
        let rates = totals.into_iter().filter_map(|(name, total)| {
            let (stated, own) = (*self.figures.get(name)?, total? / took);
            ((stated - own).abs() > FAR_OFF * stated.abs().max(own)).then(|| {
                format!(
                    "the file says {name} is {}, and its totals come to {}",
                    number(stated),
                    number(own)
                )
            })
        });
        // A time per token is never beyond the whole latency either.
        let statistics = ["ttft", "tpot", "e2el"];
        let means = statistics.into_iter().filter_map(|metric| self.impossible_mean(metric, took));
        rates.chain(means).chain(too_fast(level, took)).collect()
    }

    /// That the mean of a latency is beyond what its other statistics allow, of requests none of which took longer than all together, or
    /// below it.
    fn impossible_mean(&self, metric: &str, took_s: f64) -> Option<String> {
        let figure =
            |statistic: &str| self.figures.get(&format!("{statistic}_{metric}_ms")).copied();
        let mean = figure("mean")?;
        let known = || [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)].into_iter();
        let max = figure("max").unwrap_or(took_s * 1e3);
        let most =
            known().filter_map(|(name, share)| Some(share * figure(name)? + (1.0 - share) * max));
        let most = most.fold(max, f64::min);
        let least = known().filter_map(|(name, share)| Some((1.0 - share) * figure(name)?));
        let least = least.fold(0.0, f64::max);
        let is_possible = mean <= most * (1.0 + FAR_OFF) && mean >= least * (1.0 - FAR_OFF);
        (!is_possible).then(|| {
            format!(
                "the file says mean_{metric}_ms is {}, and its other statistics allow {} to {}",
                number(mean),
                number(least),
                number(most)
            )
        })
    }

    pub(super) fn not_known(&mut self, what: &str, why: &str) {
        self.not_known.push(UnknownFact::new(what, why));
    }

    pub(super) fn caveat(&mut self, text: impl Into<String>) {
        self.caveats.push(text.into());
    }

    /// Puts all into `level`, with what follows from it: what one user sees, what a device gives, means of lengths, and which
    /// latencies are not there.
    pub(super) fn finish(mut self, mut level: ImportedLevel) -> ImportedLevel {
        let p50 = self.figures.get("p50_tpot_ms").copied().filter(|ms| *ms > 0.0);
        self.put("user_tps", p50.map(|ms| 1e3 / ms));
        let tps = self.figures.get("output_tps").copied();
        let devices = level.about.devices.filter(|devices| *devices > 0);
        self.put("output_tps_per_device", tps.zip(devices).map(|(tps, n)| tps / n as f64));
        let ImportedCounts { input_tokens, output_tokens, .. } = level.counts;
        let mean = |tokens: Option<u64>| Some(tokens? as f64 / self.completed.max(1) as f64);
        let (prompt, reply) = (mean(input_tokens), mean(output_tokens));
        self.put("prompt_tokens", prompt);
        self.put("output_tokens", reply);
        self.put("context_tokens", prompt.zip(reply).map(|(prompt, reply)| prompt + reply));
        let said = |name: &str| self.not_known.iter().any(|known| known.what == name);
        let names = Metric::headline().flat_map(|metric| {
            let columns = metric.tabulated().iter().filter_map(move |of| metric.column(*of));
            columns.map(move |name| (metric.entry().key, name))
        });
        let missing = names.filter(|(metric, name)| {
            !self.figures.contains_key(name) && !said(name) && !said(metric)
        });
        let missing: Vec<String> = missing.map(|(_, name)| name).collect();
        if !missing.is_empty() && self.completed > 0 {
            self.not_known(&missing.join(", "), "not in the file");
        }
        if level.load.is_unknown && !level.not_known.iter().any(UnknownFact::names_load) {
            self.not_known("the load", "not in the file");
        }
        self.not_known.extend(self.contradictions(&level));
        level.counts.held_back = held_back(&level);
        level.figures = self.figures;
        level.greatest_for_p99 = self.greatest;
        level.not_known.extend(self.not_known);
        level.caveats.extend(self.caveats);
        level
    }
}

/// Where the file's totals of tokens are not those of its requests.
fn other_tokens(level: &ImportedLevel) -> Vec<String> {
    let good =
        || level.tapes.iter().filter(|tape| tape.part == RequestPurpose::Load && tape.is_success());
    let sum = |of: fn(&Tape) -> Option<Tokens>| -> Option<f64> {
        good().map(|tape| of(tape).map(|tokens| tokens.get() as f64)).sum()
    };
    let input = sum(Tape::input_tokens);
    let output = sum(|tape| tape.usage?.completion_tokens);
    let totals = [
        ("prompt tokens", level.counts.input_tokens, input),
        ("output tokens", level.counts.output_tokens, output),
    ];
    let differing = totals.into_iter().filter_map(|(what, stated, own)| {
        let (stated, own) = (stated? as f64, own?);
        ((stated - own).abs() > FAR_OFF * stated.max(own))
            .then(|| format!("the file counts {stated} {what}, and its requests have {own}"))
    });
    differing.filter(|_| good().next().is_some()).collect()
}

/// How rarely chance alone gives what is called impossible.
const RARE: f64 = 1e-3;

/// That more requests were sent than were due, by far more than bursts of arrivals explain.
fn too_fast(level: &ImportedLevel, took_s: f64) -> Option<String> {
    let asked = level.load.requests_per_s.filter(|_| !level.load.is_unknown)?.get();
    let (sent, law) = (level.sent(), level.requested_load().arrivals?);
    // So many gaps of a law as even as Poisson's, or of as many Poisson gaps as bursts leave.
    let gaps = sent.checked_sub(1)? as f64 / law.cv_squared.unwrap_or(1.0).max(1.0);
    let share = took_s * asked / sent.saturating_sub(1) as f64;
    // Chernoff's bound on a sum of exponential gaps.
    let chance = gaps * (share.ln() + 1.0 - share);
    (share < 1.0 - FAR_OFF && chance < RARE.ln()).then(|| {
        format!(
            "the file says that {} requests/s were asked for, and its {sent} requests came at {}",
            number(asked),
            number(sent as f64 / took_s)
        )
    })
}

/// How many requests were due while as many were in flight as its cap allows, and left later; none without a rate, a cap and tapes.
fn held_back(level: &ImportedLevel) -> Option<u64> {
    let cap = level.load.requests_per_s.and(level.load.max_in_flight)? as usize;
    let load: Vec<&Tape> =
        level.tapes.iter().filter(|tape| tape.part == RequestPurpose::Load).collect();
    let sorted = |of: fn(&Tape) -> Option<Stamp>| {
        let mut all: Vec<Stamp> = load.iter().filter_map(|tape| of(tape)).collect();
        all.sort_unstable();
        all
    };
    // One without a known end is in flight for nobody knows how long.
    let sent = sorted(|tape| tape.marks.end.and(tape.marks.send_start));
    let ended = sorted(|tape| tape.marks.end);
    let before = |all: &[Stamp], at: Stamp| all.partition_point(|known| *known <= at);
    let is_held = |tape: &&&Tape| {
        let due = tape.marks.intended;
        let is_late = tape.marks.send_start.is_some_and(|sent| sent > due);
        is_late && before(&sent, due).saturating_sub(before(&ended, due)) >= cap
    };
    (!load.is_empty()).then(|| load.iter().filter(is_held).count() as u64)
}

/// Means that differ by more than this share cannot be of the same requests, however each tool defines a latency.
const FAR_OFF: f64 = 0.1;

/// Seconds since 1970, UTC, as ISO 8601 has them: `2026-08-01T12:00:00Z`; none of no date.
pub(super) fn iso_of_unix(seconds: u64) -> Option<String> {
    let stamp = jiff::Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(stamp.to_string())
}
