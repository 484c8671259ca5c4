//! The table of the speed of light by level and phase, shared by the terminal and the page.

use fizeau_metrics::SampleSupport;

use crate::Shown;
use fizeau_record::text::{percent, supported};
use fizeau_record::{CalibratedComparison, LevelReport, SpeedOfLightComparison, SweepReport};
use fizeau_roofline::ErrorSummary;

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LightColumn {
    /// What stands above the heads of columns that belong together.
    pub(crate) group: &'static str,
    pub(crate) head: &'static str,
    /// What it is; empty where the head says all.
    note: &'static str,
}

const fn column(group: &'static str, head: &'static str, note: &'static str) -> LightColumn {
    LightColumn { group, head, note }
}

impl LightColumn {
    /// Whether it holds words, and no figures.
    #[cfg(feature = "html")]
    pub(crate) fn is_words(&self) -> bool {
        self.head == "limits"
    }
}

/// The columns.
pub(crate) const COLUMNS: [LightColumn; 9] = [
    column("", "load", ""),
    column("of the bound", "prefill", "Prefill: TTFT"),
    column(
        "of the bound",
        "decode",
        "Decode: TPOT of a step with the sequences that were decoding",
    ),
    column("of the bound", "output", "Output: tokens/s of the whole"),
    column("out tok/s", "measured", ""),
    column("out tok/s", "expected", "Expected: the roofline model, without an engine's overheads"),
    column("out tok/s", "bound", "Bound: nothing can be faster"),
    column("", "cache full", ""),
    column("", "limits", "Limits: of prefill/decode, or of both"),
];

/// The columns that are needed least, by their place, the least first: what limits a level is what one comes for.
pub(crate) const LESSER: [usize; 4] = [7, 5, 1, 2];

/// What the columns mean, but for those that are not shown.
pub(crate) fn note(left_out: &[usize]) -> String {
    let shown = COLUMNS.iter().enumerate().filter(|(column, _)| !left_out.contains(column));
    let notes = shown.map(|(_, column)| column.note).filter(|note| !note.is_empty());
    notes.collect::<Vec<_>>().join(". ")
}

impl Shown<'_, SweepReport> {
    /// A row for each level that has a speed of light and may be compared: of what is not to be believed there is no share.
    pub(crate) fn light_rows(&self) -> Vec<[String; 9]> {
        let row = |level: &LevelReport| {
            Some(row(self.label(level.load), level, level.speed_of_light.comparison()?))
        };
        self.compared().filter_map(row).collect()
    }

    /// What was reached of the data sheet's limit, in a sentence, where the bound is that of measured silicon; else none.
    pub(crate) fn data_sheet_words(&self) -> Option<String> {
        let mut device = None;
        let mut words = Vec::new();
        for level in self.compared() {
            let Some(sheet) =
                level.speed_of_light.comparison().and_then(|light| light.data_sheet.as_ref())
            else {
                continue;
            };
            device = Some(&sheet.device);
            let share = sheet.share.map_or_else(|| "-".to_owned(), |share| percent(share.get()));
            words.push(format!("{share} at {}", self.label(level.load)));
        }
        let (device, shares) = (device?, words.join(", "));
        Some(format!(
            "the bound follows from what was measured of this device; of the limit by the data sheet of {device} the levels reached {shares}"
        ))
    }

    /// What a calibration expects of the engine's output at each level, beside what it has, and how far off such predictions are, in
    /// sentences; none without a calibration.
    pub(crate) fn calibrated_words(&self) -> Option<String> {
        let mut of = None;
        let mut words = Vec::new();
        for level in self.compared() {
            let light = level.speed_of_light.comparison();
            let Some(calibrated) = light.and_then(|light| light.calibrated.as_ref()) else {
                continue;
            };
            of = Some(calibrated);
            words.push(format!(
                "at {} {}",
                self.label(level.load),
                expected_words(calibrated, level.summary.throughput.output_tokens_per_s.get())
            ));
        }
        let of = of?;
        let mut all = format!(
            "Expected of this engine (calibrated on {}), output tokens/s: {}",
            of.scope,
            words.join("; ")
        );
        all.extend(errors_words(of));
        Some(all)
    }
}

/// `9,100 (8,000 to 10,200), you have 8,100 (89 %)`
fn expected_words(calibrated: &CalibratedComparison, measured: f64) -> String {
    let Ok(prediction) = &calibrated.prediction else {
        return "nothing, it is too far from what was fitted".to_owned();
    };
    let of = &prediction.output_tokens_per_s;
    let ends = Some((of.low().get(), of.high().get()));
    let [value, low, high] =
        [of.value(), of.low(), of.high()].map(|rate| supported(rate.get(), ends));
    let share = calibrated.output_share.map(|share| format!(" ({})", percent(share)));
    let share = share.unwrap_or_default();
    format!("{value} ({low} to {high}), you have {}{share}", supported(measured, None))
}

/// How far off the calibration was on families that it had not seen.
fn errors_words(calibrated: &CalibratedComparison) -> Option<String> {
    let words = |name: &str, errors: ErrorSummary| {
        format!(
            "{name} by {} in the mean, {} in the median",
            percent(errors.mean),
            percent(errors.median)
        )
    };
    let tpot = calibrated.tpot_left_out.map(|errors| words("TPOT", errors));
    let ttft = calibrated.ttft_left_out.map(|errors| words("TTFT", errors));
    let both: Vec<String> = tpot.into_iter().chain(ttft).collect();
    (!both.is_empty())
        .then(|| format!(". Of models that it had not seen it was off: {}", both.join("; ")))
}

fn row(load: String, level: &LevelReport, light: &SpeedOfLightComparison) -> [String; 9] {
    let dash = || "-".to_owned();
    let share = |share: Option<fizeau_roofline::BoundShare>| {
        share.map_or_else(dash, |share| percent(share.get()))
    };
    let measured = &level.summary.throughput;
    let ends = measured.intervals.output_tokens_per_s.and_then(SampleSupport::known);
    let ends = ends.map(|ends| (ends.low.get(), ends.high.get()));
    let expected = light.expected.as_ref().ok();
    let rate = expected.map(|expected| expected.figures.output_tokens_per_s.get());
    let limits = expected.map(|expected| expected.limited_by);
    [
        load,
        share(light.shares.ttft),
        share(light.decode.map(|decode| decode.share)),
        share(light.shares.output_tokens_per_s),
        supported(measured.output_tokens_per_s.get(), ends),
        rate.map_or_else(dash, |rate| supported(rate, None)),
        supported(light.bound.output_tokens_per_s.get(), None),
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
