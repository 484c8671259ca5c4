//! nccl-tests and rccl-tests, as they print: all dialects of the table.
//!
//! Of <https://github.com/NVIDIA/nccl-tests/blob/master/src/util.cu> (`writeDeviceReport`, `writeResultHeader`): a table whose
//! header is a comment with the names of columns, those of out-of-place results first and those of in-place ones after them
//! under the same names. `cputime` may stand for `time`, `error` for `#wrong`; `root` is missing in old versions; columns of
//! single iterations (`i_min`), a timestamp and columns of tuning may follow. Cells of `redop`, of `root` and of the whole
//! out-of-place half may be blank.

use std::collections::BTreeSet;

use super::cell;
use super::nccl::{self, Half, Run};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::table::{Header, OTHER_COLUMNS, Row};
use super::tells::Tells;
use crate::measurement::{CollectiveRegime, SampleStatistic, Verification};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source
        .must_have("header line with `size`, `algbw` and `busbw`", |text| header(text).is_some())?;
    let mut reading = Reading::of_lines(source, "nccl-tests");
    let mut section = Section::default();
    for line in source.lines() {
        if section.ends_before(&line.text) {
            std::mem::take(&mut section).close(&mut reading);
        }
        section.line(line.number, &line.text, &mut reading);
    }
    section.close(&mut reading);
    Ok(reading)
}

/// The names of columns, where a line is a header.
fn header(text: &str) -> Option<Header> {
    let names = text.trim_start().strip_prefix('#')?;
    let header = Header::new(names.split_whitespace());
    ["size", "algbw", "busbw"].iter().all(|name| header.has(name)).then_some(header)
}

/// One run of the program: what it says of itself, then its table.
#[derive(Debug, Default)]
struct Section {
    run: Run,
    table: Option<Header>,
    /// How long the header's line is.
    width: usize,
    /// Which halves the line above the header names.
    has_in_place: bool,
    has_out_of_place: bool,
    /// Ranks as they are numbered, with their hosts.
    ranks: Vec<(u64, String)>,
    models: BTreeSet<String>,
    iterations: Option<u64>,
    halves: Vec<(usize, Half, Tells)>,
    /// What the tool says behind the table of results that are wrong.
    failure: Option<&'static str>,
}

impl Section {
    /// Whether a line is the first of another run.
    fn ends_before(&self, text: &str) -> bool {
        let text = text.trim_start();
        let begins = [
            "# nccl-tests version",
            "# rccl-tests version",
            "# Collective test starting",
            "# nThread",
            "rccl-tests: Version",
        ];
        let is_command =
            !text.starts_with('#') && text.split_whitespace().any(|word| nccl::op(word).is_some());
        !self.halves.is_empty()
            && (is_command || begins.iter().any(|begin| text.starts_with(begin)))
    }

    fn line(&mut self, number: usize, text: &str, reading: &mut Reading<'_>) {
        if let Some(header) = header(text) {
            (self.table, self.width) = (Some(header), text.trim_end().len());
        } else if text.trim_start().starts_with('#') || text.starts_with("rccl-tests: ") {
            self.fact(text, reading);
        } else {
            self.row(number, text, reading);
        }
        if let Some(op) = text.split_whitespace().find_map(nccl::op) {
            self.run.op = Some(op);
        }
    }

    fn fact(&mut self, text: &str, reading: &mut Reading<'_>) {
        let words: Vec<&str> = text.trim_start_matches(['#', ' ']).split_whitespace().collect();
        match words.as_slice() {
            [tool @ ("nccl-tests" | "rccl-tests" | "rccl-tests:"), version, which, ..]
                if version.eq_ignore_ascii_case("version") =>
            {
                if tool.starts_with("rccl") {
                    reading.rename("rccl-tests");
                }
                reading.version = Some((*which).to_owned());
                let library = words.iter().find(|word| word.starts_with("nccl-library="));
                library.into_iter().for_each(|word| reading.setting((*word).to_owned()));
            }
            ["nThread", ..] => self.options(text),
            ["Rank", rank, ..] => self.rank(rank, text),
            ["Blocking", "Enabled:", ..] => {
                let is_each = text.contains("inner") || self.run.aggregated == Some(1);
                self.run.regime = is_each.then_some(CollectiveRegime::FreshEntry);
            }
            ["Out", "of", "bounds", .., "FAILED"] => {
                self.fails(nccl::OUT_OF_BOUNDS, reading);
            }
            ["Bitwise", "mismatches", .., "FAILED"] => {
                self.fails(nccl::NOT_THE_SAME, reading);
            }
            _ => {
                self.has_out_of_place |= text.contains("out-of-place");
                self.has_in_place |= text.contains("in-place");
            }
        }
    }

    fn fails(&mut self, how: &'static str, reading: &mut Reading<'_>) {
        self.failure = Some(how);
        reading.note(format!("the tool reports that results are {how}"));
    }

    fn options(&mut self, text: &str) {
        let number = |key| cell::number_after(text, key).and_then(cell::whole);
        self.run.warm_up = number("warmup iters:");
        // The key of all iterations is also the end of other keys.
        self.iterations = text
            .split_once("warmup iters:")
            .and_then(|(_, rest)| cell::number_after(rest, " iters:"))
            .and_then(cell::whole);
        self.run.aggregated = number("agg iters:");
        self.run.regime = Some(CollectiveRegime::Chained);
    }

    /// `Rank 0 Group 0 Pid 1 on HOST device 0 [0000:1b:00] MODEL`
    fn rank(&mut self, rank: &str, text: &str) {
        let host = text.split_once(" on ").and_then(|(_, rest)| rest.split_whitespace().next());
        if let (Some(rank), Some(host)) = (cell::count(rank), host) {
            self.ranks.push((rank, host.to_owned()));
        }
        if let Some((_, model)) = text.rsplit_once(']') {
            self.models.insert(model.trim().to_owned());
        }
    }

    fn row(&mut self, number: usize, text: &str, reading: &mut Reading<'_>) {
        let Some(header) = &self.table else { return };
        let words: Vec<&str> = text.split_whitespace().collect();
        let looks_like_row =
            words.len() > 2 && words[..2].iter().all(|word| cell::count(word).is_some());
        // Only a row that is as long as the header can have its first half blank: else it is torn.
        let is_full = text.trim_end().len() + 8 > self.width;
        let fitted = fitted(header, words, is_full);
        let row = fitted.and_then(|(cells, has_both)| Some((header.row(cells)?, has_both)));
        let Some((row, has_both, size)) = row.and_then(|(row, has_both)| {
            let size = row.count("size")?;
            Some((row, has_both, size))
        }) else {
            if looks_like_row {
                reading.skip(number, OTHER_COLUMNS);
            }
            return;
        };
        let is_named_once = self.has_in_place != self.has_out_of_place;
        let is_double = header.names().filter(|name| *name == "busbw").count() > 1;
        let halves: &[(usize, Option<bool>)] = match (is_double, has_both) {
            (true, true) => &[(0, Some(false)), (1, Some(true))],
            (true, false) => &[(1, Some(true))],
            (false, _) if !is_named_once => &[(0, None)],
            (false, _) if self.has_in_place => &[(0, Some(true))],
            (false, _) => &[(0, Some(false))],
        };
        for (occurrence, in_place) in halves {
            let (half, more) = self.half(&row, size, *occurrence, *in_place);
            if half.time.is_none() && half.bus_bandwidth.is_none() {
                reading.skip(number, "its times are not numbers");
            } else {
                self.halves.push((number, half, more));
            }
        }
    }

    fn half(
        &self,
        row: &Row<'_>,
        size: u64,
        occurrence: usize,
        in_place: Option<bool>,
    ) -> (Half, Tells) {
        let number = |name: &str| cell::number(row.nth(name, occurrence)?);
        let word = |name: &str| row.text(name).filter(|word| *word != "N/A");
        let cpu_time = number("cputime");
        let checked = nccl::verified(number("#wrong"), number("#bitdiff"));
        let verification = checked.or_else(|| match number("error")? {
            0.0 => nccl::verified(Some(0.0), None),
            error => Some(Verification::not_checked(format!(
                "the tool reports an error of {error:e}, but no tolerance"
            ))),
        });
        let half = Half {
            size,
            dtype: row.text("type").unwrap_or_default().to_owned(),
            in_place,
            time: cpu_time.or_else(|| number("time")),
            is_cpu_time: cpu_time.is_some(),
            algorithm_bandwidth: number("algbw"),
            bus_bandwidth: number("busbw"),
            verification,
            algorithm: word("algo")
                .zip(word("proto"))
                .map(|(algo, proto)| format!("{algo}/{proto}")),
            reduces: word("redop").is_some_and(|redop| !["", "none"].contains(&redop)),
        };
        let more = Tells::of(
            self.iterations
                .zip(self.run.aggregated.or(Some(1)))
                .map(|(each, times)| each.saturating_mul(times)),
        )
        .micros(SampleStatistic::Best, number("i_min"))
        .micros(SampleStatistic::Worst, number("i_max"))
        .micros(SampleStatistic::P99, number("i_p99"));
        (half, more)
    }

    /// Which collective it is, where the file does not name it and the `largest` algorithm and bus bandwidth can only be of one.
    fn infer_op(&mut self, largest: Option<(f64, f64)>, reading: &mut Reading<'_>) {
        let reduces = self.halves.iter().all(|(_, half, _)| half.reduces);
        let of = largest.filter(|_| reduces);
        self.run.op =
            of.and_then(|(algorithm, bus)| nccl::reduction(self.run.ranks, algorithm, bus));
        reading.note(match self.run.op {
            Some(op) => format!(
                "the file does not name its collective: that it is {op} is inferred from bus over algorithm bandwidth and from `redop`"
            ),
            None => "the file does not name its collective, and its bandwidths could be of several: put the line `# Collective test \
                     starting: all_gather_perf`, or whichever it was, before the table"
                .to_owned(),
        });
    }

    /// Adds the run's rows.
    fn close(mut self, reading: &mut Reading<'_>) {
        let numbers: BTreeSet<u64> = self.ranks.iter().map(|(rank, _)| *rank).collect();
        let hosts: BTreeSet<String> = self.ranks.iter().map(|(_, host)| host.clone()).collect();
        self.run.ranks = cell::several(numbers.len() as u64);
        self.run.nodes = cell::several(hosts.len() as u64);
        if numbers.len() < self.ranks.len() {
            self.run.notes.push("several processes called themselves the same rank: they ran side by side, not together".into());
        }
        let largest = self
            .halves
            .iter()
            .filter_map(|(_, half, _)| half.algorithm_bandwidth.zip(half.bus_bandwidth));
        let largest = largest.max_by(|a, b| a.1.total_cmp(&b.1));
        if self.run.op.is_none() && !self.halves.is_empty() {
            self.infer_op(largest, reading);
        }
        if let Some(how) = self.failure {
            let not_checked =
                || Verification::not_checked("the tool was run without a check of its results");
            let halves = self.halves.iter_mut();
            let rows = halves.map(|(_, half, _)| half.verification.get_or_insert_with(not_checked));
            nccl::distrust(how, rows);
        }
        if let (None, Some(op), Some((algorithm, bus))) = (self.run.ranks, self.run.op, largest) {
            self.run.ranks = nccl::ranks(op, algorithm, bus);
            if self.run.ranks.is_some() {
                self.run.notes.push("the file does not name its ranks: their number follows from bus over algorithm bandwidth".into());
            }
        }
        let device = gpus(self.run.ranks);
        for model in &self.models {
            reading.device(&device, model);
        }
        if let (1, Some(host)) = (hosts.len(), hosts.first()) {
            reading.node(host);
        }
        self.run.device = Some(device);
        for (number, half, more) in &self.halves {
            nccl::measured(reading, *number, &self.run, half, more.clone());
        }
    }
}

/// The words of a row by the columns of `header`, blank cells filled in, and whether its out-of-place half is there. None where
/// they do not fit. That half can be blank only in a row that `is_full`.
fn fitted<'a>(
    header: &Header,
    mut words: Vec<&'a str>,
    is_full: bool,
) -> Option<(Vec<&'a str>, bool)> {
    let names: Vec<&str> = header.names().collect();
    let last = *names.last()?;
    if last == "timestamp" {
        // A date and a time of day are two words.
        let is_part = |word: &&str| word.contains(':') || word.matches('-').count() == 2;
        let end = words.iter().position(is_part).unwrap_or(words.len());
        words.truncate(end);
        words.push("");
    }
    let repeated = |name: &str| names.iter().filter(|own| **own == name).count() > 1;
    let is_first = |at: usize| !names[..at].contains(&names[at]);
    let halves: &[bool] = if is_full { &[false, true] } else { &[false] };
    for without_half in halves.iter().copied() {
        for blank in [&[][..], &["redop"][..], &["root"][..], &["redop", "root"][..]] {
            let is_blank = |at: usize| {
                blank.contains(&names[at]) || (without_half && repeated(names[at]) && is_first(at))
            };
            let filled = (0..names.len()).filter(|at| !is_blank(*at)).count();
            let is_real = blank.iter().all(|name| names.contains(name))
                && (!without_half || names.iter().any(|name| repeated(name)));
            if filled == words.len() && is_real {
                let mut words = words.iter().copied();
                let cells =
                    (0..names.len()).map(|at| if is_blank(at) { Some("") } else { words.next() });
                let cells = cells.collect::<Option<Vec<_>>>()?;
                if names.iter().zip(&cells).all(|(name, cell)| belongs(name, cell)) {
                    return Some((cells, !without_half));
                }
            }
        }
    }
    None
}

/// Whether a cell can be in the column `name`: the number of a rank, or a time or a rate, which may be missing.
fn belongs(name: &str, cell: &str) -> bool {
    let number = cell.parse::<f64>();
    match name {
        "root" => cell.is_empty() || number.is_ok(),
        "time" | "cputime" | "algbw" | "busbw" => {
            cell.is_empty()
                || cell == "N/A"
                || number.is_ok_and(|number| number.is_nan() || number >= 0.0)
        }
        _ => true,
    }
}
