//! Where the constants of a prediction are from, and what each does to it.

use fizeau_record::text::{number, percent};
use fizeau_roofline::{ConstantUse, Predictor, ShippedCalibration, UniformLoad};
use serde_json::{Map, Value, json};

use super::{OwnTable, SolExtra};
use crate::sol::fit::shown_in;
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
                let off = pair.tpot_left_out.map_or_else(String::new, |off| {
                    let (mean, median) = (off.mean, off.median);
                    fields.insert(
                        "tpot_left_out".to_owned(),
                        json!({"mean": mean, "median": median}),
                    );
                    let (mean, median) = (percent(mean), percent(median));
                    format!(" (families left out: {mean} mean, {median} median)")
                });
                format!("Calibrated on {levels} published levels of {engine} on {device}{off}")
            }
            None => {
                let scope = predictor.scope();
                format!("Calibrated for {scope} by constants put together: measured only apart")
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
        Self::with_own("constants", OwnTable { lines: grid.lines(), fields })
    }

    pub(super) fn with_own(key: &'static str, own: OwnTable) -> Self {
        Self { own: Some(own), ..Self::new(key, String::new()) }
    }
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
