//! `profile_export_aiperf.csv`: a row a metric, those with percentiles in a first block and those without in a second.

use serde_json::{Map, Value};

use crate::foreign::{ForeignError, ForeignFile, Object, csv};

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
    let damaged = |why: String| ForeignError::Damaged { file: file.name().to_owned(), why };
    let text = std::str::from_utf8(file.content()).map_err(|error| damaged(error.to_string()))?;
    let text = text.replace("\r\n", "\n");
    let mut all = Map::new();
    for block in text.split("\n\n").filter(|block| block.trim_start().starts_with("Metric,")) {
        for row in csv::rows(block.trim_start()).map_err(damaged)? {
            let name = row.get("Metric").and_then(Value::as_str).unwrap_or_default();
            let (tag, unit) = tag(name);
            let mut metric = Map::new();
            metric.insert("unit".to_owned(), unit.into());
            for (column, value) in row.iter().filter(|(_, value)| !value.is_null()) {
                let column = if column == "Value" { "avg" } else { column.as_str() };
                if COLUMNS.contains(&column) {
                    metric.insert(column.to_owned(), value.clone());
                }
            }
            all.insert(tag, Value::Object(metric));
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
pub(super) fn write(summary: &Object) -> String {
    let mut metrics: Vec<(&str, &Map<String, Value>)> = summary
        .iter()
        .filter_map(|(tag, value)| Some((tag.as_str(), value.as_object()?)))
        .filter(|(_, metric)| metric.contains_key("unit"))
        .collect();
    metrics.sort_by_key(|(tag, _)| *tag);
    let (samples, singles): (Vec<_>, Vec<_>) =
        metrics.into_iter().partition(|(_, metric)| metric.contains_key("p50"));
    let unit = |metric: &Map<String, Value>| {
        metric.get("unit").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut text = format!("Metric,{}\r\n", COLUMNS.join(","));
    for (tag, metric) in samples {
        let cells = COLUMNS.map(|column| cell(metric.get(column)));
        text.push_str(&format!("{},{}\r\n", heading(tag, &unit(metric)), cells.join(",")));
    }
    text.push_str("\r\nMetric,Value\r\n");
    for (tag, metric) in singles {
        text.push_str(&format!("{},{}\r\n", heading(tag, &unit(metric)), cell(metric.get("avg"))));
    }
    text
}

fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(number)) if number.is_f64() => {
            format!("{:.2}", number.as_f64().unwrap_or_default())
        }
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}
