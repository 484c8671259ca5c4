//! `profile_export_aiperf.csv`: a row a metric, those with percentiles in a first block and those without in a second.

use csv::Terminator;
use serde_json::{Map, Value, json};

use crate::foreign::{ForeignError, ForeignFile, csv as tables};
use crate::vllm::object::{Field, Object};

/// The columns of the first block.
const COLUMNS: [&str; 14] = [
    "avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std",
];

pub(super) fn is_table(file: &ForeignFile<'_>) -> bool {
    let head = file.content().split(|byte| *byte == b'\n').next().unwrap_or_default();
    head.trim_ascii_end().starts_with(b"Metric,avg,min,max,")
}

/// The table as the document has it: an object of statistics for each metric. Rows of single devices are left out.
pub(super) fn read(file: &ForeignFile<'_>) -> Result<Map<String, Value>, ForeignError> {
    let broken = |error: std::str::Utf8Error| ForeignError::damaged(file.name(), error.to_string());
    let text = std::str::from_utf8(file.content()).map_err(broken)?.replace("\r\n", "\n");
    let mut all = Map::new();
    for block in text.split("\n\n").filter(|block| block.trim_start().starts_with("Metric,")) {
        for row in tables::rows(file, block.trim_start().as_bytes())? {
            let name = row.get("Metric").and_then(Value::as_str).unwrap_or_default();
            let (tag, unit) = tag(name);
            let mut metric = json!({"unit": unit});
            for (column, value) in row.iter().filter(|(_, value)| !value.is_null()) {
                let column = if column == "Value" { "avg" } else { column.as_str() };
                if COLUMNS.contains(&column) {
                    metric[column] = value.clone();
                }
            }
            all.insert(tag, metric);
        }
    }
    Ok(all)
}

/// Metrics whose heading is not their tag in words.
const HEADINGS: [(&str, &str); 4] = [
    ("good_request_fraction", "GoodRequestFraction"),
    ("total_isl", "Total Input Sequence Length"),
    ("total_osl", "Total Output Sequence Length"),
    ("e2e_output_token_throughput", "E2E Output Token Throughput"),
];

/// `Time to First Token (ms)` as the tag and the unit; requests and counts have none in a heading.
fn tag(name: &str) -> (String, String) {
    let (heading, unit) = match name.rsplit_once(" (") {
        Some((heading, unit)) => (heading, unit.trim_end_matches(')')),
        None => (name, "requests"),
    };
    let known = HEADINGS.iter().find(|(_, known)| *known == heading);
    let tag = match known {
        Some((tag, _)) => (*tag).to_owned(),
        None => heading.to_lowercase().replace(' ', "_"),
    };
    (tag, unit.to_owned())
}

fn heading(tag: &str, unit: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        match (word, chars.next()) {
            ("to", _) | (_, None) => word.to_owned(),
            (_, Some(first)) => format!("{}{}", first.to_uppercase(), chars.as_str()),
        }
    };
    let words = || tag.split('_').map(capital).collect::<Vec<_>>().join(" ");
    let known = HEADINGS.iter().find(|(known, _)| *known == tag);
    let name = known.map_or_else(words, |(_, heading)| (*heading).to_owned());
    match unit {
        "requests" | "count" | "" => name,
        unit => format!("{name} ({unit})"),
    }
}

/// The table of a document, two decimals each, rows by tag.
pub(super) fn write(summary: &Object) -> Vec<u8> {
    let mut metrics: Vec<(&str, &Value)> = Vec::new();
    for tag in summary.keys() {
        match summary.get(tag) {
            Some(Field::Value(metric)) if metric.get("unit").is_some() => {
                metrics.push((tag, metric))
            }
            _ => {}
        }
    }
    metrics.sort_by_key(|(tag, _)| *tag);
    let (samples, singles): (Vec<_>, Vec<_>) =
        metrics.into_iter().partition(|(_, metric)| metric.get("p50").is_some());
    let block = |heads: &[&str], columns: &[&str], metrics: &[(&str, &Value)]| {
        let heads = heads.iter().map(|head| (*head).to_owned()).collect();
        let line = |(tag, metric): &(&str, &Value)| {
            let unit = metric["unit"].as_str().unwrap_or_default();
            let cells = columns.iter().map(|column| cell(&metric[column]));
            std::iter::once(heading(tag, unit)).chain(cells).collect()
        };
        tables::table(Terminator::CRLF, std::iter::once(heads).chain(metrics.iter().map(line)))
    };
    let heads = [&["Metric"], &COLUMNS[..]].concat();
    let first = block(&heads, &COLUMNS, &samples);
    [first, b"\r\n".to_vec(), block(&["Metric", "Value"], &["avg"], &singles)].concat()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            format!("{:.2}", number.as_f64().unwrap_or_default())
        }
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
