//! `profile_export.jsonl`: a line a request.

use std::collections::BTreeMap;

use fizeau_core::Tape;
use serde_json::Value;

use super::summary::explain;
use super::{LATENCIES, TOOL};
use crate::foreign::date::iso_of_unix;
use crate::foreign::vllm::source;
use crate::foreign::{
    Fields, FigureSheet, ForeignError, ForeignFile, ImportedAbout, ImportedCounts, ImportedLevel,
    ImportedLoad, NotKnown, Seen,
};

/// What the requests of a run did.
pub(super) struct Records {
    all: Vec<Record>,
    /// In the order in which they ended; none where the file does not have all of the events.
    pub(super) tapes: Vec<Tape>,
    /// What is not known because of that.
    pub(super) not_known: Vec<NotKnown>,
}

/// One request; latencies in milliseconds by the tool's names.
struct Record {
    start_ns: u64,
    end_ns: u64,
    issued_ns: Option<u64>,
    latencies: BTreeMap<&'static str, f64>,
    gaps: Option<Vec<f64>>,
    input: Option<u64>,
    output: Option<u64>,
    error: Option<String>,
}

pub(super) fn is_records(file: &ForeignFile<'_>) -> bool {
    let metadata = file.first().and_then(|first| first.get("metadata"));
    file.has(&["metadata", "metrics"])
        && metadata.is_some_and(|metadata| metadata.get("request_start_ns").is_some())
}

/// The requests that were measured: those of a warm-up are left out.
pub(super) fn read(file: &ForeignFile<'_>) -> Result<Records, ForeignError> {
    let mut all = Vec::new();
    for fields in Fields::all(file, TOOL)? {
        let metadata = fields.object("metadata")?.ok_or_else(|| fields.missing("metadata"))?;
        if metadata.text("benchmark_phase").as_deref() != Some("warmup") {
            all.push(record(&fields, &metadata)?);
        }
    }
    all.sort_by_key(|record| record.start_ns);
    let mut not_known = vec![
        NotKnown::new(
            "tokens of each event",
            "the file has the sum of a reply; it is spread over its events",
        ),
        NotKnown::new("the length that was asked of each reply", "not in the file"),
        NotKnown::new("warm-up", "requests of a warm-up are left out"),
    ];
    let tapes = match all.iter().all(Record::has_events) {
        true => tapes(&all, file)?,
        false => {
            let why = "the file has not the gaps of every reply (inter_chunk_latency): no figure can be computed again";
            not_known = vec![NotKnown::new("tapes", why)];
            Vec::new()
        }
    };
    Ok(Records { all, tapes, not_known })
}

fn record(fields: &Fields<'_>, metadata: &Fields<'_>) -> Result<Record, ForeignError> {
    let metrics = fields.object("metrics")?.ok_or_else(|| fields.missing("metrics"))?;
    let value = |tag: &str| match metrics.object(tag)? {
        Some(metric) => metric.maybe_number("value"),
        None => Ok(None),
    };
    let whole = |tag: &str| match metrics.object(tag)? {
        Some(metric) => metric.maybe_whole("value"),
        None => Ok(None),
    };
    let mut latencies = BTreeMap::new();
    for (_, tag) in LATENCIES {
        latencies.extend(value(tag)?.map(|ms| (tag, ms)));
    }
    let gaps = match metrics.object("inter_chunk_latency")? {
        Some(metric) => metric.numbers("value")?,
        None => None,
    };
    let error = fields.object("error")?.map(|error| {
        let words = [error.words("type"), error.words("message")];
        words.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    let is_off = metadata.get("was_cancelled") == Some(&Value::Bool(true));
    Ok(Record {
        start_ns: metadata.whole("request_start_ns")?,
        end_ns: metadata.whole("request_end_ns")?,
        issued_ns: metadata.maybe_whole("credit_issued_ns")?,
        latencies,
        gaps: gaps.map(|gaps| gaps.into_iter().flatten().collect()),
        input: whole("input_sequence_length")?,
        output: whole("output_sequence_length")?,
        error: error.or_else(|| is_off.then(|| "cancelled: called off".to_owned())),
    })
}

impl Record {
    fn ms(&self, tag: &str) -> Option<f64> {
        self.latencies.get(tag).copied()
    }

    /// Whether each of its events is known: a reply of one event has no gap.
    fn has_events(&self) -> bool {
        let (first, last) = (self.ms("time_to_first_token"), self.ms("request_latency"));
        let is_single = first.zip(last).is_some_and(|(first, last)| last - first < 1e-6);
        self.error.is_some() || (first.is_some() && (is_single || self.gaps.is_some()))
    }

    fn seen(&self, epoch: u64) -> Seen {
        let seconds = |ns: u64| ns.saturating_sub(epoch) as f64 / 1e9;
        let gaps = self.gaps.iter().flatten().map(|ms| ms / 1e3);
        Seen {
            intended: self.issued_ns.map(seconds),
            sent: seconds(self.start_ns),
            ttft: self.ms("time_to_first_token").map(|ms| ms / 1e3),
            gaps: gaps.collect(),
            end: Some(self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9),
            input: self.input,
            output: self.output.unwrap_or_default(),
            error: self.error.clone().unwrap_or_default(),
            is_failed: self.error.is_some(),
            text: None,
        }
    }
}

fn tapes(all: &[Record], file: &ForeignFile<'_>) -> Result<Vec<Tape>, ForeignError> {
    let first = |record: &Record| record.start_ns.min(record.issued_ns.unwrap_or(u64::MAX));
    let epoch = all.iter().map(first).min().unwrap_or_default();
    let tape = |(index, record): (usize, &Record)| {
        record.seen(epoch).tape(index as u64).map_err(|error| ForeignError::Wrong {
            place: file.name().to_owned(),
            field: "metadata.request_start_ns".to_owned(),
            found: format!("{} ({error})", record.start_ns),
            wanted: "an instant of the run",
        })
    };
    let mut tapes: Vec<Tape> = all.iter().enumerate().map(tape).collect::<Result<_, _>>()?;
    tapes.sort_by_key(|tape| tape.marks.end);
    Ok(tapes)
}

/// The level of records without a summary beside them.
pub(super) fn level(file: &ForeignFile<'_>) -> Result<ImportedLevel, ForeignError> {
    let records = read(file)?;
    let good: Vec<&Record> = records.all.iter().filter(|record| record.error.is_none()).collect();
    let sum = |of: fn(&Record) -> Option<u64>| -> u64 {
        good.iter().filter_map(|record| of(record)).fold(0, u64::saturating_add)
    };
    let (input, output) = (sum(|record| record.input), sum(|record| record.output));
    let start = good.iter().map(|record| record.start_ns).min();
    let end = good.iter().map(|record| record.last_ns()).max();
    let duration = start.zip(end).map(|(start, end)| end.saturating_sub(start) as f64 / 1e9);
    let mut sheet = FigureSheet::new(good.len() as u64);
    let rate = |count: u64| duration.filter(|s| *s > 0.0).map(|s| count as f64 / s);
    sheet.put("requests_per_s", rate(good.len() as u64));
    sheet.put("output_tps", rate(output));
    sheet.put("total_tps", rate(input.saturating_add(output)));
    for (metric, tag) in LATENCIES {
        sheet.sample(metric, good.iter().filter_map(|record| record.ms(tag)));
    }
    explain(&mut sheet);
    let mut not_known = records.not_known;
    let why = "profile_export_aiperf.json is not there, which has it";
    not_known.push(NotKnown::new("the load, the model and the data set", why));
    // An epoch that nobody knew is no date.
    let began = records.all.first().map(|record| record.start_ns / 1_000_000_000);
    let began = began.filter(|at| *at > 1_000_000_000).map(iso_of_unix);
    let mut level = ImportedLevel {
        source: source(file, "aiperf", TOOL),
        load: ImportedLoad::told(None, None),
        about: ImportedAbout { date: began, ..ImportedAbout::default() },
        counts: ImportedCounts {
            completed: good.len() as u64,
            failed: Some((records.all.len() - good.len()) as u64),
            input_tokens: Some(input),
            output_tokens: Some(output),
            duration_s: duration,
        },
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known,
        record: "{}".to_owned(),
        tapes: records.tapes,
    };
    sheet.finish(&mut level);
    Ok(level)
}

impl Record {
    /// When the last of its output came.
    fn last_ns(&self) -> u64 {
        let latency = self.ms("request_latency").map(|ms| (ms * 1e6) as u64);
        latency.map_or(self.end_ns, |ns| self.start_ns.saturating_add(ns))
    }
}
