//! The table of the speed of light by level and phase, shared by the terminal and the page.

use crate::number::{number, percent};
use crate::{LevelReport, Light, SweepReport};

/// The heads of the columns, the group that each stands in, and their widths on a terminal.
pub(crate) const COLUMNS: [(&str, &str, usize); 9] = [
    ("", "load", 6),
    ("of the bound", "prefill", 9),
    ("of the bound", "decode", 8),
    ("of the bound", "output", 8),
    ("out tok/s", "measured", 10),
    ("out tok/s", "expected", 9),
    ("out tok/s", "bound", 7),
    ("", "cache full", 7),
    ("", "limits", 0),
];

impl SweepReport {
    /// A row for each level that has a speed of light and may be compared: of what is not to be believed there is no share.
    pub(crate) fn light_rows(&self) -> Vec<[String; 9]> {
        let row = |level: &LevelReport| {
            Some(row(self.label(level.load), level, level.speed_of_light.light()?))
        };
        self.compared().filter_map(row).collect()
    }

    /// What a calibration predicts of the levels' output, in a sentence; none without one.
    pub(crate) fn calibrated_words(&self) -> Option<String> {
        let mut scopes = None;
        let mut words = Vec::new();
        for level in self.compared() {
            let light = level.speed_of_light.light()?;
            let (prediction, scope) = light.calibrated.as_ref()?;
            scopes = Some(scope);
            words.push(match prediction {
                Ok(prediction) => {
                    let of = &prediction.output_tokens_per_s;
                    let [value, low, high] =
                        [of.value, of.low, of.high].map(|rate| number(rate.get()));
                    format!("{value} ({low} to {high}) at {}", self.label(level.load))
                }
                Err(_) => format!("none at {}", self.label(level.load)),
            });
        }
        let scope = scopes?;
        Some(format!("Calibrated on {scope}, output tokens/s: {}", words.join(", ")))
    }
}

fn row(load: String, level: &LevelReport, light: &Light) -> [String; 9] {
    let dash = || "-".to_owned();
    let share = |share: Option<fizeau_roofline::Share>| {
        share.map_or_else(dash, |share| percent(share.get()))
    };
    let expected = light.expected.as_ref().ok();
    let rate = expected.map(|expected| expected.figures.output_tokens_per_s.get());
    let limits = expected.map(|expected| expected.limited_by);
    [
        load,
        share(light.shares.ttft),
        share(light.decode.map(|decode| decode.share)),
        share(light.shares.output_tokens_per_s),
        number(level.summary.throughput.output_tokens_per_s.get()),
        rate.map_or_else(dash, number),
        number(light.bound.output_tokens_per_s.get()),
        light.cache_fill().map_or_else(dash, percent),
        limits.map_or_else(
            || light.bound.limited_by.to_string(),
            |limits| match (limits.prefill.to_string(), limits.decode.to_string()) {
                (prefill, decode) if prefill == decode => decode,
                (prefill, decode) => format!("{prefill}/{decode}"),
            },
        ),
    ]
}

/// What the columns mean.
pub(crate) const NOTE: &str = "Prefill: TTFT. Decode: TPOT, a step over the sequences that were decoding. Output: tokens/s \
     of the whole. Bound: nothing can be faster. Expected: physics without an engine's overheads. Limits: of prefill/decode, \
     or of both";
