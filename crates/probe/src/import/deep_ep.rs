//! The tests of `DeepEP`, in both versions.
//!
//! Version 2, of <https://github.com/deepseek-ai/DeepEP/blob/main/tests/elastic/test_ep.py>: each rank prints a line for each
//! operation, ` * EP: 0/8 | dispatch: 0 GB/s (SO), 726 GB/s (SU), 123.456 us, N bytes | copy: 3000 GB/s, 12 us`, where SO are
//! links among nodes and SU those within one. Version 1, of
//! <https://github.com/deepseek-ai/DeepEP/blob/main/tests/legacy/test_low_latency.py>: `[rank 0] Dispatch bandwidth: 98 GB/s,
//! avg_t=77 us | Combine bandwidth: ...`, and `[tuning] Best dispatch (FP8): SMs 24, ..., 153 GB/s (NVL), t: 453 us` from one
//! rank. Bytes are those that experts ask for, what stays on a rank included, so more than crosses links.

use std::collections::BTreeSet;

use fizeau_core::Bytes;

use super::cell::{self, Quantity};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    CollectiveOp, CollectiveShape, Dtype, Operation, RankRule, SampleStatistic, TimedBy,
};

const LOGICAL: &str = "bytes count what stays on a rank too: more than what crosses links";

/// One operation of one test case, as its ranks told it.
#[derive(Debug, Clone)]
struct Seen {
    place: usize,
    case: String,
    op: CollectiveOp,
    variant: Option<String>,
    ranks: Option<u32>,
    rank: u64,
    dtype: Option<Dtype>,
    millis: f64,
    bytes: Option<f64>,
    links: &'static str,
    notes: Vec<String>,
}

impl Seen {
    fn new(op: CollectiveOp, millis: f64) -> Self {
        Self {
            place: 0,
            case: String::new(),
            op,
            variant: None,
            ranks: None,
            rank: 0,
            dtype: None,
            millis,
            bytes: None,
            links: "",
            notes: vec![LOGICAL.to_owned()],
        }
    }

    /// With the bytes that come of a rate over its time.
    fn at(mut self, rate: f64) -> Self {
        self.bytes = Some(rate * self.millis / 1e3);
        self.notes.push("bytes follow from bandwidth and time".to_owned());
        self
    }
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("line `* EP: 0/8 | dispatch: ...`", |text| rank_of(text).is_some())?;
    let mut reading = Reading::of_lines(source, "DeepEP");
    let mut group: Vec<Seen> = Vec::new();
    let mut case = String::new();
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(found) = text.strip_prefix("> Testing with ") {
            close(&mut reading, &mut group);
            case = found.trim_end_matches([' ', '.']).to_owned();
        } else if text.starts_with("> #SM:")
            || text.starts_with("> Ranks:")
            || text.starts_with("> Tokens:")
            || text.starts_with("> Experts:")
        {
            reading.setting(text.trim_start_matches("> ").to_owned());
        } else if let Some((rank, ranks)) = rank_of(text) {
            match second_version(text, rank, ranks, &case) {
                Some(seen) => group.push(Seen { place: line.number, ..seen }),
                None => reading.skip(line.number, "its time is not a number"),
            }
        }
    }
    close(&mut reading, &mut group);
    Ok(reading)
}

/// Of `* EP: 0/8 | ...` the rank and how many there are.
fn rank_of(text: &str) -> Option<(u64, u32)> {
    let rest = text.trim_start().strip_prefix(['*', '-', '#', '@', '+'])?;
    let (rank, ranks) =
        rest.trim_start().strip_prefix("EP:")?.split('|').next()?.split_once('/')?;
    Some((cell::count(rank)?, cell::several(cell::count(ranks)?)?))
}

fn second_version(text: &str, rank: u64, ranks: u32, case: &str) -> Option<Seen> {
    let mut parts = text.split('|').skip(1);
    let (name, figures) = parts.next()?.split_once(':')?;
    let mut words: Vec<&str> = name.split_whitespace().collect();
    let op = op(words.pop()?)?;
    let variant = words.join(" ");
    let bytes =
        figures.split(',').find_map(|part| cell::number(part.trim().strip_suffix("bytes")?));
    let among_nodes =
        cell::quantities(figures).into_iter().find_map(rate).filter(|rate| *rate > 0.0);
    let mut seen = Seen::new(op, cell::quantities(figures).into_iter().find_map(time)?);
    seen.notes.extend(among_nodes.map(|rate| format!("{:.0} GB/s among nodes", rate / 1e9)));
    seen.notes.extend(parts.next().map(|rest| format!("beside it: {}", rest.trim())));
    let is_fp8 = case.contains("use_fp8_dispatch=1") || case.contains("use_fp8_dispatch=True");
    let is_told = case.contains("use_fp8_dispatch=");
    let dtype = match (op, is_told) {
        (CollectiveOp::Combine, _) => None,
        (_, true) if is_fp8 => Some(Dtype::Fp8E4m3),
        (_, true) => Some(Dtype::Bf16),
        (_, false) => None,
    };
    Some(Seen {
        case: case.to_owned(),
        variant: Some(variant).filter(|variant| !variant.is_empty()),
        ranks: Some(ranks),
        rank,
        dtype,
        bytes,
        links: if among_nodes.is_some() { "scale_up and scale_out" } else { "scale_up" },
        ..seen
    })
}

pub(super) fn read_first_version(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have(
        "line `[rank 0] Dispatch bandwidth: ...` or `[tuning] Best dispatch ...`",
        |text| low_latency(text).is_some() || best(text).is_some(),
    )?;
    let mut reading = Reading::of_lines(source, "DeepEP");
    let mut group: Vec<Seen> = Vec::new();
    for line in source.lines() {
        let seen = low_latency(&line.text).or_else(|| best(&line.text).map(|seen| vec![seen]));
        group.extend(seen.into_iter().flatten().map(|seen| Seen { place: line.number, ..seen }));
    }
    let ranks: BTreeSet<u64> =
        group.iter().filter(|seen| seen.links.is_empty()).map(|seen| seen.rank).collect();
    // All ranks print. Where only one is there, the others were left out of the file.
    let has_all = ranks.len() > 1 && ranks.last() == Some(&(ranks.len() as u64 - 1));
    for seen in group.iter_mut().filter(|seen| seen.links.is_empty()) {
        seen.ranks = cell::several(ranks.len() as u64).filter(|_| has_all);
    }
    close(&mut reading, &mut group);
    Ok(reading)
}

/// `[rank 0] Dispatch bandwidth: 98 GB/s, avg_t=77 us | Combine bandwidth: ...`
fn low_latency(text: &str) -> Option<Vec<Seen>> {
    let (rank, rest) = text.split_once("[rank ")?.1.split_once(']')?;
    let rank = cell::count(rank)?;
    let part = |part: &str| {
        let (name, figures) = part.split_once(" bandwidth:")?;
        let op = op(name.trim())?;
        let found = cell::quantities(figures);
        let (rate, millis) =
            (found.iter().copied().find_map(rate)?, found.iter().copied().find_map(time)?);
        let variant = Some("low latency".to_owned());
        Some(Seen { variant, rank, ..Seen::new(op, millis).at(rate) })
    };
    let parts: Vec<Seen> = rest.split('|').filter_map(part).collect();
    (!parts.is_empty()).then_some(parts)
}

/// `[tuning] Best dispatch (FP8): SMs 24, NVL chunk 30, 352.43 GB/s (NVL), t: 453.49 us`
fn best(text: &str) -> Option<Seen> {
    let (name, figures) = text.split_once("[tuning] Best ")?.1.split_once(':')?;
    let found = cell::quantities(figures);
    let (rate, millis) =
        (found.iter().rev().copied().find_map(rate)?, found.iter().rev().copied().find_map(time)?);
    let dtype = match () {
        () if name.contains("FP8") => Some(Dtype::Fp8E4m3),
        () if name.contains("BF16") => Some(Dtype::Bf16),
        () => None,
    };
    let how = figures.split("GB/s").next()?.rsplit_once([',', ':'])?.0.trim();
    let links = if figures.contains("(RDMA)") { "scale_up and scale_out" } else { "scale_up" };
    let (case, variant) = (how.to_owned(), Some("normal".to_owned()));
    let op = op(name.split_whitespace().next()?)?;
    Some(Seen { case, variant, dtype, links, ..Seen::new(op, millis).at(rate) })
}

fn op(word: &str) -> Option<CollectiveOp> {
    match word.to_ascii_lowercase().as_str() {
        "dispatch" => Some(CollectiveOp::Dispatch),
        "combine" => Some(CollectiveOp::Combine),
        _ => None,
    }
}

const fn time(quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::Millis(millis) => Some(millis),
        _ => None,
    }
}

const fn rate(quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::BytesPerSec(rate) => Some(rate),
        _ => None,
    }
}

/// Adds what ranks told of the same operation once, with the time of the slowest of them.
fn close(reading: &mut Reading<'_>, group: &mut Vec<Seen>) {
    while let Some(first) = group.first().cloned() {
        let is_same = |seen: &Seen| {
            (seen.op, &seen.variant, &seen.case, seen.dtype)
                == (first.op, &first.variant, &first.case, first.dtype)
        };
        let (same, rest): (Vec<Seen>, Vec<Seen>) =
            std::mem::take(group).into_iter().partition(is_same);
        *group = rest;
        let fastest = same.iter().map(|seen| seen.millis).fold(f64::INFINITY, f64::min);
        let Some(slowest) = same.iter().max_by(|a, b| a.millis.total_cmp(&b.millis)) else {
            return;
        };
        add(reading, slowest, same.len(), fastest);
    }
}

fn add(reading: &mut Reading<'_>, seen: &Seen, told_by: usize, fastest: f64) {
    let bytes = seen.bytes.map(Bytes::new);
    let operation = match (seen.ranks, bytes) {
        (Some(ranks), Some(message)) => {
            let mut shape = CollectiveShape::new(seen.op, ranks, message);
            shape.algorithm.clone_from(&seen.variant);
            shape.rank_rule = match (told_by, seen.rank) {
                (1, 0) => Some(RankRule::First),
                (1, _) => None,
                _ => Some(RankRule::Longest),
            };
            shape.links = Some(seen.links.to_owned()).filter(|links| !links.is_empty());
            Operation::Collective { shape, role: None }
        }
        _ => {
            let variant = seen.variant.as_deref().unwrap_or_default();
            Operation::Other { name: format!("{} {variant}", seen.op).trim_end().to_owned() }
        }
    };
    let device = gpus(seen.ranks);
    let tells = Tells::default().millis(SampleStatistic::Mean, Some(seen.millis));
    let Some(measured) = reading.measured(seen.place, &device, operation, tells) else { return };
    measured.dtype = seen.dtype;
    measured.work.bytes.copy = bytes;
    measured.method.timed_by = Some(TimedBy::Profiler);
    measured.notes.clone_from(&seen.notes);
    if told_by > 1 {
        measured.notes.push(format!(
            "the slowest of {told_by} ranks; the fastest took {:.2} us",
            fastest * 1e3
        ));
    }
    if !seen.case.is_empty() {
        measured.notes.push(seen.case.clone());
    }
}
