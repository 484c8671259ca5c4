//! What the benchmark of `FlashInfer` prints while it runs.
//!
//! Of <https://github.com/flashinfer-ai/flashinfer/blob/main/benchmarks/routines/flashinfer_benchmark_utils.py>: a line for each backend
//! of a test (`[PERF] fa2     :: median time 0.094 ms; std 0.022 ms; achieved tflops 57.960 TFLOPs/sec; achieved tb_per_sec 0.459
//! TB/sec`), whose name is padded and cut to 8 characters or to 15. Before them with `-v` the arguments of the test
//! (`[INFO] args = Namespace(routine='...', ...)`), its name and the library's version; without, nothing says what it is.

use super::flashinfer;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::Header;

/// What a line of figures has, before each figure.
const FIGURES: [(&str, &str); 4] = [
    ("median_time", "median time "),
    ("std_time", "std "),
    ("tflops", "achieved tflops "),
    ("tb_per_sec", "achieved tb_per_sec "),
];

/// One test, as far as lines before its figures tell of it.
#[derive(Default)]
struct Test<'a> {
    arguments: Vec<(&'a str, &'a str)>,
    name: Option<&'a str>,
    /// Those that it has figures of.
    backends: Vec<&'a str>,
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("line `[PERF] ... :: median time`", |text| backend(text).is_some())?;
    let mut reading = Reading::of_lines(source, "FlashInfer benchmark");
    let mut test = Test::default();
    for line in source.lines() {
        let text = line.text.trim();
        if let Some((_, arguments)) = text.split_once("[INFO] args = Namespace(") {
            test = Test { arguments: pairs(arguments), ..Test::default() };
        } else if let Some(name) = text.strip_prefix("[INFO] Running ") {
            // The arguments of a test come before its name.
            let is_of_another = test.name.is_some() || !test.backends.is_empty();
            let known = if is_of_another { Test::default() } else { test };
            test = Test { name: Some(name), ..known };
        } else if let Some(version) = text.strip_prefix("[INFO] FlashInfer version: ") {
            reading.version = Some(version.to_owned());
        } else if let Some(model) = text.strip_prefix("[VVERBOSE] gpu_name = ") {
            reading.device("gpu0", &plain(model).replace('_', " "));
        } else if let Some(("[VERBOSE] Average actual" | "[VERBOSE] Average actual kv", mean)) =
            text.split_once(" seq len: ")
        {
            test.arguments.push(("avg_actual_seq_len", mean));
        } else if let Some((backend, figures)) = backend(text) {
            if test.backends.contains(&backend) {
                // A backend once more is of another test, of which nothing is told.
                test = Test::default();
            }
            test.backends.push(backend);
            add(&mut reading, line.number, (&test, backend), figures);
        }
    }
    Ok(reading)
}

/// Whose figures a line has, and these.
fn backend(text: &str) -> Option<(&str, &str)> {
    let (_, told) = text.split_once("[PERF]")?;
    let (backend, figures) = told.split_once(":: median time")?;
    // The time is one of the figures.
    Some((backend.trim(), &told[told.len() - figures.len() - "median time".len()..]))
}

fn add(reading: &mut Reading<'_>, place: usize, (test, backend): (&Test<'_>, &str), figures: &str) {
    let unnamed = match test.name {
        Some(name) => name.to_owned(),
        // Those of two lines may be of two routines.
        None => format!("a routine that line {place} does not name"),
    };
    let figure = |(name, sign): (&'static str, &str)| {
        let told = figures.split(';').find_map(|piece| piece.trim().strip_prefix(sign))?;
        Some((name, told.split_whitespace().next()?))
    };
    let figures = FIGURES.into_iter().filter_map(figure);
    let told = test.arguments.iter().copied().chain(figures).chain([("backend", backend)]);
    let named = (test.arguments.is_empty()).then_some(("routine", unnamed.as_str()));
    let (names, cells): (Vec<&str>, Vec<&str>) = told.chain(named).unzip();
    let header = Header::new(names);
    if let Some(row) = header.row(cells) {
        flashinfer::add(reading, place, &row);
    }
    if test.arguments.is_empty() {
        reading
            .note("`-v` of the benchmark prints what it runs, which some of its lines do not tell");
    }
}

/// `key=value` between commas that stand within no brackets and no quotes, up to the bracket that ends them all; none where it is not there.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let (mut pairs, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth > 0 => depth -= 1,
            (None, ',' | ')') if depth == 0 => {
                let pair = text[start..at].split_once('=');
                pairs.extend(pair.map(|(key, value)| (key.trim(), plain(value))));
                start = at + c.len_utf8();
                if c == ')' {
                    return pairs;
                }
            }
            _ => {}
        }
    }
    Vec::new()
}

/// A value of Python's without its quotes; nothing of `None`.
fn plain(value: &str) -> &str {
    match value.trim() {
        "None" => "",
        value => value.trim_matches(['\'', '"']),
    }
}
