//! The figures of a run, and the table of simulated and measured ones.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::loads::Capacity;

/// What is compared: where it is in `summary.json`, its name, and how far off it may be.
const COMPARED: [(&str, &str, f64); 4] = [
    ("/throughput/output_tokens_per_s", "output tokens/s", 0.05),
    ("/metrics/tpot_ms/mean", "mean TPOT, ms", 0.10),
    ("/metrics/ttft_ms/mean", "mean TTFT, ms", 0.15),
    ("/metrics/ttft_ms/p99", "p99 TTFT, ms", 0.30),
];

/// The figures of one run, in the order of [`COMPARED`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figures([f64; COMPARED.len()]);

impl Figures {
    /// Those of the run in `folder`.
    ///
    /// # Errors
    /// If there is no summary, or a figure is not in it.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let summary = json(&folder.join("summary.json"))?;
        let mut figures = [0.0; COMPARED.len()];
        for (figure, (at, name, _)) in figures.iter_mut().zip(COMPARED) {
            let found = summary.pointer(at).and_then(Value::as_f64);
            *figure = found.with_context(|| format!("{}: no {name}", folder.display()))?;
        }
        Ok(Self(figures))
    }
}

/// The throughput of the run in `folder`.
///
/// # Errors
/// If it is not in its summary.
pub(crate) fn capacity(folder: &Path) -> Result<Capacity> {
    let summary = json(&folder.join("summary.json"))?;
    let rate = summary.pointer("/throughput/requests_per_s").and_then(Value::as_f64);
    let requests_per_s = rate.with_context(|| format!("{}: no throughput", folder.display()))?;
    Ok(Capacity { requests_per_s })
}

fn json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    serde_json::from_str(&text?).with_context(|| format!("{} is no JSON", path.display()))
}

/// Simulated and measured figures, load by load.
#[derive(Debug, Default)]
pub(crate) struct Table {
    text: String,
    compared: usize,
    missed: usize,
}

impl Table {
    /// Adds a load. Its ratios are of what is simulated to the mean of what is measured, with the lowest and the highest of
    /// several.
    pub(crate) fn add(&mut self, load: &str, simulated: &Figures, measured: &[Figures]) {
        let mut load = load;
        for (at, (_, name, bar)) in COMPARED.into_iter().enumerate() {
            let of = || measured.iter().map(|figures| figures.0[at]);
            let mean = of().sum::<f64>() / measured.len() as f64;
            let simulated = simulated.0[at];
            let ratio = simulated / mean;
            let range = match measured {
                [_] => String::new(),
                _ => {
                    let (low, high) =
                        (of().fold(f64::INFINITY, f64::min), of().fold(0.0, f64::max));
                    format!("{:.2} to {:.2}", simulated / high, simulated / low)
                }
            };
            let missed = (ratio - 1.0).abs() > bar;
            self.compared += 1;
            self.missed += usize::from(missed);
            let missed = if missed { "  missed" } else { "" };
            let bar = format!("{:.0} %", bar * 100.0);
            // A string takes whatever is written.
            let _ = writeln!(
                self.text,
                "{load:<32} {name:<16} {simulated:>9.1} {mean:>9.1} {ratio:>6.2} {range:>13} {bar:>5}{missed}"
            );
            load = "";
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["load", "figure", "simulated", "measured", "ratio", "", "bar"];
        let [load, figure, simulated, measured, ratio, range, bar] = heads;
        writeln!(
            f,
            "{load:<32} {figure:<16} {simulated:>9} {measured:>9} {ratio:>6} {range:>13} {bar:>5}"
        )?;
        f.write_str(&self.text)?;
        let Self { compared, missed, .. } = self;
        writeln!(f, "{} of {compared} figures are within their bar", compared - missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_its_bar_is_named() {
        let mut table = Table::default();
        let measured = [Figures([1000.0, 5.0, 50.0, 90.0]), Figures([1100.0, 5.0, 50.0, 110.0])];
        table.add("a load", &Figures([1050.0, 5.6, 50.0, 120.0]), &measured);
        let text = table.to_string();
        assert!(text.contains("0.95 to 1.05"), "{text}");
        let missed: Vec<&str> = text.lines().filter(|line| line.ends_with("missed")).collect();
        assert_eq!(missed.len(), 1, "{text}");
        assert!(missed[0].contains("mean TPOT"));
        assert!(text.ends_with("3 of 4 figures are within their bar\n"), "{text}");
    }
}
