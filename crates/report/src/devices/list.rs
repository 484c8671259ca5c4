//! All devices, a line each.

use fizeau_core::{BytesPerSec, Watts};
use fizeau_roofline::{Device, MathType};

const HEAD: [&str; 9] = ["device", "GiB", "GB/s", "bf16", "fp8", "fp4", "link", "W", "USD/h"];

const LEGEND: &str =
    "GiB held; GB/s read; bf16, fp8, fp4: dense TFLOP/s; link: GB/s to neighbours, in
one direction; W: the board's limit; USD/h: the least and the most asked.
Where sources disagree, the table has the figure that keeps the bound sound.";

/// A table and what its columns are.
pub(super) fn of(devices: &[&Device]) -> String {
    let rows: Vec<[String; 9]> = devices.iter().map(|device| row(device)).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(String::len).chain(HEAD.get(column).map(|head| head.len())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |cells: &[String]| {
        let (mut text, mut gap) = (String::new(), "");
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let cell = match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            };
            text.push_str(gap);
            text.push_str(&cell);
            gap = if column == 0 { " " } else { "  " };
        }
        text + "\n"
    };
    let table: String = std::iter::once(line(&HEAD.map(str::to_owned)))
        .chain(rows.iter().map(|row| line(row)))
        .collect();
    let noted = |device: &&Device| Some(format!("{}: {}\n", device.name, device.note.as_deref()?));
    let notes: String = devices.iter().filter_map(noted).collect();
    format!("{table}\n{notes}{LEGEND}")
}

fn row(device: &Device) -> [String; 9] {
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.0}"));
    let rate = |math| figure(device.dense_rate(math).map(|rate| rate.get() / 1e12));
    let link = device.link().map(|link| link.bandwidth.get() / 1e9);
    let bandwidth: BytesPerSec = device.memory_bandwidth();
    [
        device.name.to_owned(),
        figure(Some(device.memory().get() / 1_073_741_824.0)),
        figure(Some(bandwidth.get() / 1e9)),
        rate(MathType::Bf16),
        rate(MathType::Fp8),
        rate(MathType::Fp4),
        figure(link),
        figure(device.tdp().map(Watts::get)),
        price(device),
    ]
}

/// The least and the most that anybody asks.
fn price(device: &Device) -> String {
    let low = device.prices.iter().map(|price| price.low.get()).reduce(f64::min);
    let high = device.prices.iter().map(|price| price.high.get()).reduce(f64::max);
    match (low, high) {
        (Some(low), Some(high)) if low < high => format!("{low:.2}-{high:.2}"),
        (Some(low), _) => format!("{low:.2}"),
        _ => "-".to_owned(),
    }
}
