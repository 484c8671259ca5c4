//! Where the constants of a prediction are from, and what each does to it.

use fizeau_record::text::{number, percent};
use fizeau_roofline::{ConstantUse, ErrorSummary, Predictor, ShippedCalibration, UniformLoad};
use serde_json::{Map, Value, json};

use super::{OwnTable, SolExtra};
use crate::sol::fit::{one_by_one, shown_in};
use crate::sol::grid::Grid;

impl SolExtra {
    /// Where the constants of `predictor` are from, which ship.
    #[must_use]
    pub fn calibration(shipped: &ShippedCalibration, predictor: &Predictor) -> Self {
        let ShippedCalibration { source, date, evidence, .. } = *shipped;
        let mut fields = Map::new();
        fields.insert("source".to_owned(), source.into());
        fields.insert("date".to_owned(), date.into());
        let rests_on = match evidence {
            Some(pair) => {
                let (engine, device, levels) = (&pair.engine, &pair.device, pair.levels);
                fields.insert("engine_versions".to_owned(), pair.engine_versions.clone().into());
                fields.insert("levels".to_owned(), levels.into());
                let mut off = Vec::new();
                for (key, name, errors) in [
                    ("tpot_left_out", "TPOT", pair.tpot_left_out),
                    ("ttft_left_out", "TTFT", pair.ttft_left_out),
                    ("output_tokens_per_s_left_out", "output tokens/s", pair.output_left_out),
                ] {
                    let Some(ErrorSummary { mean, median, .. }) = errors else { continue };
                    fields.insert(key.to_owned(), json!({"mean": mean, "median": median}));
                    off.push(off_by(name, mean, median));
                }
                let off = off.join("; ");
                let off = if off.is_empty() { off } else { format!(" (unseen families: {off})") };
                format!("Calibrated on {levels} published levels of {engine} on {device}{off}")
            }
            None => {
                let scope = predictor.scope();
                format!(
                    "Calibrated for {scope} with constants combined from measurements of each \
                    alone"
                )
            }
        };
        let lines = vec![format!("{rests_on}; {source}, {date}")];
        Self::with_own("calibration", OwnTable { lines, fields })
    }

    /// The constants of `predictor`, beside those of all devices and engines, and what of the time per output token of `load` is
    /// owed to each.
    #[must_use]
    pub fn constants(predictor: &Predictor, load: &UniformLoad) -> Self {
        let title = format!("constants of {}", predictor.scope());
        let mut grid = Grid::new(&[&title, "", "value", "from", "to", "all", "of TPOT"]);
        let mut fields = Map::new();
        for of in predictor.uses(load) {
            grid.row(cells(&of));
            fields.insert(of.fitted.constant.as_str().to_owned(), entry(&of));
        }
        let errors = predictor.errors();
        let off = [
            ("TPOT", errors.model_left_out),
            ("TTFT", errors.ttft_model_left_out),
            ("output tokens/s", errors.output_model_left_out),
        ];
        let off = off.map(|(name, off)| off.map(|off| off_by(name, off.mean, off.median)));
        let off: Vec<String> = off.into_iter().flatten().collect();
        let mut lines = grid.lines();
        if let Some(intake) = predictor.intake() {
            lines.push(one_by_one(intake));
            fields.insert("intake_s".to_owned(), intake.get().into());
        }
        if !off.is_empty() {
            lines.push(format!(
                "Models left out of the fit, all devices and engines: {}",
                off.join("; ")
            ));
        }
        Self::with_own("constants", OwnTable { lines, fields })
    }

    pub(super) fn with_own(key: &'static str, own: OwnTable) -> Self {
        Self { own: Some(own), ..Self::new(key, String::new()) }
    }
}

/// `TPOT off by 7.8 % mean, 6.2 % median`.
fn off_by(name: &str, mean: f64, median: f64) -> String {
    format!("{name} off by {} mean, {} median", percent(mean), percent(median))
}

fn cells(of: &ConstantUse) -> Vec<String> {
    let (unit, scale) = shown_in(of.fitted.constant);
    let [low, high] = of.fitted.interval().ends();
    let figures = [of.fitted.value, low, high, of.common].map(|value| number(value * scale));
    let unit = if unit == "times" { "x" } else { unit };
    let first = [of.fitted.constant.title().to_owned(), unit.to_owned()];
    let share = |share: f64| format!("{:.1} %", 100.0 * share);
    let share = of.tpot_share.map_or_else(String::new, share);
    first.into_iter().chain(figures).chain([share]).collect()
}

fn entry(of: &ConstantUse) -> Value {
    let [low, high] = of.fitted.interval().ends();
    json!({
        "value": of.fitted.value,
        "low": low,
        "high": high,
        "unit": of.fitted.constant.unit(),
        "all_devices": of.common,
        "tpot_share": of.tpot_share,
    })
}
