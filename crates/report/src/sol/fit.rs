//! A calibration for a person: its constants, and how far it is off.

use std::collections::BTreeMap;

use fizeau_core::Seconds;
use fizeau_roofline::{
    CalibrationFit, CalibrationSample, Constant, Constants, ErrorSummary, Scope,
};

use super::grid::Grid;
use fizeau_record::text::{number, percent, wrap_hanging};

/// A calibration, and the levels that it was fitted on.
#[derive(Debug, Clone, Copy)]
pub struct CalibrationFitView<'a> {
    /// What was measured.
    pub samples: &'a [CalibrationSample],
    /// What was fitted, of those levels in that order.
    pub fit: &'a CalibrationFit,
}

impl CalibrationFitView<'_> {
    /// Constants and errors in tables of at most 80 columns. Without a newline at the end.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![self.title(), String::new()];
        lines.extend(self.shares());
        lines.push(String::new());
        lines.extend(self.times());
        lines.push(String::new());
        lines.extend(self.used());
        lines.extend(self.borrowed());
        lines.extend(self.unusual());
        lines.push(String::new());
        lines.extend(self.errors());
        lines.push(String::new());
        lines.extend(self.models());
        lines.join("\n")
    }

    fn title(&self) -> String {
        let mut devices: Vec<&str> = self.samples.iter().map(CalibrationSample::device).collect();
        devices.sort_unstable();
        devices.dedup();
        let models = self.fit.calibration.models().count();
        let plural = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let steps = self.samples.iter().filter(|sample| sample.is_pass()).count();
        let levels = self.samples.len() - steps;
        let counts = [(levels, "level"), (steps, "step")];
        let counts = counts.map(|(count, what)| (count > 0).then(|| plural(count, what)));
        let measured: Vec<String> = counts.into_iter().flatten().collect();
        format!(
            "Fitted on {} of {} on {}",
            measured.join(" and "),
            plural(models, "model"),
            plural(devices.len(), "device")
        )
    }

    /// What of the data sheet's rates is reached.
    fn shares(&self) -> Vec<String> {
        let columns = [
            ("weights", Constant::WeightBandwidth),
            ("experts", Constant::ExpertBandwidth),
            ("cache", Constant::CacheBandwidth),
            ("compute", Constant::Arithmetic),
            ("links", Constant::LinkBandwidth),
        ];
        self.by_group("reached of the peak", &columns, percent)
    }

    /// What things take besides.
    fn times(&self) -> Vec<String> {
        let columns = [
            ("kernel", Constant::PerKernel),
            ("widening", Constant::PerWidening),
            ("collective", Constant::PerCollective),
            ("step", Constant::PerStep),
            ("sequence", Constant::PerSequence),
        ];
        self.by_group("us for each", &columns, |value| number(value * 1e6))
    }

    fn by_group(
        &self,
        title: &str,
        columns: &[(&str, Constant)],
        shown: impl Fn(f64) -> String,
    ) -> Vec<String> {
        let mut heads = vec![title, "levels"];
        heads.extend(columns.iter().map(|(head, _)| *head));
        let mut grid = Grid::new(&heads);
        for group in self.fit.calibration.groups() {
            let cell = |constant: Constant| {
                group.get(constant).map_or_else(String::new, |estimate| shown(estimate.value))
            };
            let cells = columns.iter().map(|(_, constant)| cell(*constant));
            let first = [group.scope.to_string(), group.levels.to_string()];
            grid.row(first.into_iter().chain(cells));
        }
        grid.lines()
    }

    /// All constants that predictions use, with their intervals: those of the one engine on the one device that was measured, and
    /// where there are several those of all together.
    fn used(&self) -> Vec<String> {
        let mut groups = self.fit.calibration.groups();
        let all = self.fit.calibration.groups().next();
        let is_narrowest = |scope: &Scope| match self.only_engine() {
            Some(Some(_)) => matches!(scope, Scope::Engine { .. }),
            Some(None) => matches!(scope, Scope::Device(_)),
            None => false,
        };
        let used = groups.find(|group| is_narrowest(&group.scope)).or(all);
        let scope = used.map_or_else(String::new, |group| group.scope.to_string());
        let mut grid = Grid::new(&[&scope, "", "value", "95 % from", "to"]);
        for estimate in used.iter().flat_map(|group: &&Constants| &group.estimates) {
            let constant = estimate.constant;
            let (unit, scale) = shown_in(constant);
            let [low, high] = estimate.interval().ends();
            let figures = [estimate.value, low, high].map(|value| number(value * scale));
            grid.row([constant.title().to_owned(), unit.to_owned()].into_iter().chain(figures));
        }
        let intake = used.and_then(|group| group.intake).map(one_by_one);
        let noise = used.map(|_| OF_NOISE.to_owned());
        grid.lines().into_iter().chain(noise).chain(intake).collect()
    }

    /// Devices, and engines on them.
    fn narrowest(&self) -> impl Iterator<Item = &Constants> {
        let groups = self.fit.calibration.groups();
        groups.filter(|group| !matches!(group.scope, Scope::All | Scope::EngineOnAnyDevice(_)))
    }

    /// The constants that levels hardly told, and which are therefore those of others, or what is usual: of the one engine on the one device
    /// that was measured, and where there are several of those with few levels.
    fn borrowed(&self) -> Vec<String> {
        let has_engine = |device: &str| {
            self.samples.iter().any(|of| of.device() == device && of.engine().is_some())
        };
        let is_used = |group: &&Constants| match &group.scope {
            Scope::Device(device) => !has_engine(device),
            _ => true,
        };
        let is_alone = self.only_engine().is_some();
        let few = self.narrowest().filter(is_used).filter(|of| is_alone || of.levels < FEW);
        let said: Vec<String> = few.filter_map(borrowed).collect();
        let space = (!said.is_empty()).then(String::new);
        space.into_iter().chain(said).collect()
    }

    /// A sentence for each constant that left its usual range, of the narrowest groups: what they share says no more.
    fn unusual(&self) -> Vec<String> {
        let each = self
            .narrowest()
            .flat_map(|group| group.unusual().map(move |estimate| (group, estimate)));
        let said = each.map(|(group, estimate)| {
            let (unit, scale) = shown_in(estimate.constant);
            let (low, high) = estimate.constant.range();
            let [value, low, high] = [estimate.value, low, high].map(|value| number(value * scale));
            format!(
                "unusual: {}: {} is {value} {unit}; accelerators have {low} to {high}",
                group.scope,
                estimate.constant.title()
            )
        });
        let said: Vec<String> = said.collect();
        let space = (!said.is_empty()).then(String::new);
        space.into_iter().chain(said).collect()
    }

    /// The engine of all levels, named or not; none where there are several, or several devices.
    fn only_engine(&self) -> Option<Option<&str>> {
        let mut own = self.samples.iter().map(|sample| (sample.device(), sample.engine()));
        let first = own.next()?;
        own.all(|other| other == first).then_some(first.1)
    }

    fn errors(&self) -> Vec<String> {
        let summary = self.fit.calibration.summary();
        let mut grid = Grid::new(&["off by", "levels", "mean", "median", "9 in 10", "bias"]);
        let rows = [
            ("TPOT", Some(summary.in_sample)),
            ("TPOT, model left out of the fit", summary.model_left_out),
            ("TPOT, device left out of the fit", summary.device_left_out),
            ("TTFT", summary.ttft_in_sample),
            ("TTFT, model left out of the fit", summary.ttft_model_left_out),
            ("output tokens/s", summary.output_in_sample),
            ("output tokens/s, model left out", summary.output_model_left_out),
        ];
        for (name, errors) in rows {
            if let Some(errors) = errors {
                grid.row(cells(name, &errors));
            }
        }
        grid.lines()
    }

    /// Each model when it is left out: how well constants carry over.
    fn models(&self) -> Vec<String> {
        let mut models: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (sample, judged) in self.samples.iter().zip(&self.fit.judged) {
            models.entry(sample.model()).or_default().extend(judged.model_left_out);
        }
        let heads = ["TPOT, left out of the fit", "levels", "mean", "median", "9 in 10", "bias"];
        let mut grid = Grid::new(&heads);
        for (model, errors) in models {
            match ErrorSummary::of(errors) {
                Some(errors) => grid.row(cells(model, &errors)),
                None => grid.row([model.to_owned(), "no other model".to_owned()]),
            }
        }
        grid.lines()
    }
}

/// `borrowed: h100-sxm, own: time per kernel, link bandwidth reached`; none where its measurements told all.
fn borrowed(group: &Constants) -> Option<String> {
    let titles: Vec<&str> = group.borrowed().map(|estimate| estimate.constant.title()).collect();
    let said = format!("borrowed: {}: {}", group.scope, titles.join("; "));
    (!titles.is_empty()).then(|| wrap_hanging(&said, WIDTH, "  "))
}

/// That requests come in one after another, so far apart.
pub(super) fn one_by_one(intake: Seconds) -> String {
    format!("requests come in one after another, {} ms apart", number(intake.to_millis().get()))
}

/// Fewer levels of an engine on a device are too few to tell all of its constants.
const FEW: u64 = 50;

/// What an interval leaves out.
const OF_NOISE: &str = "intervals: noise, and how far engines differ where little tells a constant;\n\
                        that the law may be wrong is not in them";

/// The columns of a terminal.
const WIDTH: usize = 80;

/// The unit that a person reads a constant in, and how many of it one of the constant's own unit is.
pub(super) fn shown_in(constant: Constant) -> (&'static str, f64) {
    match constant.unit() {
        "s" if constant == Constant::PerRequest => ("ms", 1e3),
        "s" => ("us", 1e6),
        "share" => ("%", 1e2),
        unit => (unit, 1.0),
    }
}

fn cells(name: &str, errors: &ErrorSummary) -> Vec<String> {
    let within = errors.nine_tenths.exp_m1();
    let bias = match errors.bias {
        bias if bias < 0.0 => format!("-{}", percent(-bias)),
        bias => format!("+{}", percent(bias)),
    };
    vec![
        name.to_owned(),
        errors.levels.to_string(),
        percent(errors.mean),
        percent(errors.median),
        percent(within),
        bias,
    ]
}
