//! nvbandwidth, as a document.
//!
//! Of <https://github.com/NVIDIA/nvbandwidth/blob/main/json_output.cpp>: cells are texts; a test in both directions appends all
//! of its matrices to one list, the total last; whether a matrix is of bandwidths or of latencies is told by the end of its
//! description alone; `min` counts cells that are none as zero, and is not read.

use super::cell;
use super::json::{self, Loose, document};
use super::nvbandwidth::{self, Matrix};
use super::reading::{NotThis, Reading};
use super::source::Source;

document! {
    Document { nvbandwidth: Option<Content> }
    Content {
        version,
        #[serde(rename = "CUDA Runtime Version")]
        runtime,
        #[serde(rename = "Driver Version")]
        driver,
        #[serde(rename = "Hostname")]
        hostname,
        #[serde(rename = "GPU Device list")]
        devices: Vec<String>,
        error,
        warning,
        testcases: Vec<Test>,
    }
    Test { name: String, status, bandwidth_description, bandwidth_matrix: Vec<Vec<Loose>> }
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let (document, torn): (Document, _) = json::read(source, "testcases")?;
    let content = document.nvbandwidth.ok_or_else(|| NotThis::no("`nvbandwidth`"))?;
    let mut reading = Reading::of_rows(source, "nvbandwidth");
    torn.into_iter().for_each(|note| reading.note(note));
    reading.version =
        content.version.text().map(|version| version.trim_start_matches('v').to_owned());
    if let Some(node) = content.hostname.text() {
        reading.node(&node);
    }
    for (name, value) in [("CUDA runtime", &content.runtime), ("driver", &content.driver)] {
        if let Some(value) = value.text() {
            reading.setting(format!("{name} {value}"));
        }
    }
    for said in [&content.error, &content.warning].into_iter().filter_map(Loose::text) {
        reading.note(format!("the tool reports: {said}"));
    }
    for entry in &content.devices {
        if let Some((number, model)) =
            entry.split_once(':').and_then(|(number, model)| Some((cell::count(number)?, model)))
        {
            let model = model.split('(').next().unwrap_or_default();
            reading.device(&format!("gpu{number}"), model);
        }
    }
    for (index, test) in content.testcases.iter().enumerate() {
        add(&mut reading, index + 1, test);
    }
    Ok(reading)
}

fn add(reading: &mut Reading<'_>, place: usize, test: &Test) {
    let status = test.status.text().unwrap_or_default();
    if !status.is_empty() && status != "Passed" {
        return reading.skip(place, &format!("its status is `{status}`"));
    }
    let columns = test.bandwidth_matrix.iter().map(Vec::len).max().unwrap_or(0);
    let is_repeated = test.name.starts_with("device_to_device_bidirectional") && columns > 0;
    let all = test.bandwidth_matrix.len();
    let last = if is_repeated { all.saturating_sub(columns) } else { 0 };
    let rows = test.bandwidth_matrix[last..].iter().enumerate();
    let rows =
        rows.map(|(row, cells)| (row.to_string(), cells.iter().map(Loose::number).collect()));
    let description = test.bandwidth_description.text().unwrap_or_default();
    let matrix = Matrix {
        test: &test.name,
        description: &description,
        is_total: last > 0,
        columns: (0..columns).map(|column| column.to_string()).collect(),
        rows: rows.collect(),
    };
    nvbandwidth::add(reading, place, &matrix);
}
