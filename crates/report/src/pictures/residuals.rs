//! How far a calibration is off, level by level: what is left once a law has told all that it knows.

use std::collections::{BTreeMap, BTreeSet};

use super::curves::{
    CurveAxis, CurveChart, CurveLimit, CurvePanel, CurvePoint, CurveSeries, CurveStyle,
};

/// A measured level and what was predicted of it by constants of other model families.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationResidual {
    /// The device's name.
    pub device: String,
    /// The engine's name.
    pub engine: String,
    /// Requests in flight, above 0.
    pub concurrency: u64,
    /// The predicted time per output token over the measured one, above 0.
    pub ratio: f64,
}

/// What residuals are drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResidualPicture {
    /// Every level over the requests in flight, with the median of each doubling.
    Concurrency,
    /// The medians of each device, a panel an engine.
    DevicesAndEngines,
}

impl ResidualPicture {
    /// An SVG file as [`Picture::svg`](crate::Picture::svg) makes one; none where there are no levels.
    #[must_use]
    pub fn svg(self, residuals: &[CalibrationResidual]) -> Option<String> {
        let engines: BTreeSet<&str> = residuals.iter().map(|of| of.engine.as_str()).collect();
        let engines: Vec<&str> = engines.into_iter().collect();
        let chart = match self {
            Self::Concurrency => over_concurrency(residuals, &engines),
            Self::DevicesAndEngines => by_device(residuals, &engines),
        };
        chart.file()
    }
}

/// So many levels make a median.
const FEWEST: usize = 5;
/// Levels of engines stand beside one another, by this factor.
const BESIDE: f64 = 1.06;

const ACROSS: &str = "requests in flight";
const UP: &str = "TPOT predicted / measured";
const NOTE: &str = "Each level is predicted by constants that were fitted on all other model families. Medians are of the levels of a \
                    doubling of the requests in flight; whiskers hold nine in ten of them.";

fn over_concurrency(residuals: &[CalibrationResidual], engines: &[&str]) -> CurveChart {
    let mut series: Vec<CurveSeries> = Vec::new();
    for (index, engine) in engines.iter().enumerate() {
        let own = residuals.iter().filter(|of| of.engine == *engine);
        let beside = BESIDE.powf(index as f64 - (engines.len() as f64 - 1.0) / 2.0);
        let points = own.map(|of| point((of.concurrency as f64 * beside, of.ratio), None));
        series.push(line(engine, index, CurveStyle::Scattered, points.collect()));
    }
    let all: Vec<&CalibrationResidual> = residuals.iter().collect();
    series.push(line("median of all", engines.len(), CurveStyle::Joined, medians(&all)));
    chart(
        "Residuals of TPOT against the requests in flight",
        "Times per output token, predicted over measured, of each published level and their medians, over the requests in flight.",
        vec![panel(ACROSS.to_owned(), UP.to_owned(), series)],
    )
}

fn by_device(residuals: &[CalibrationResidual], engines: &[&str]) -> CurveChart {
    let devices: BTreeSet<&str> = residuals.iter().map(|of| of.device.as_str()).collect();
    let of_engine = |engine: &&str| {
        let of_device = |(index, device): (usize, &&str)| {
            let own = residuals.iter().filter(|of| of.engine == *engine && of.device == **device);
            let points = medians(&own.collect::<Vec<_>>());
            (!points.is_empty()).then(|| line(device, index, CurveStyle::Joined, points))
        };
        let series = devices.iter().enumerate().filter_map(of_device).collect();
        panel(ACROSS.to_owned(), format!("{engine}: {UP}"), series)
    };
    chart(
        "Residuals of TPOT by device and engine",
        "Medians of times per output token, predicted over measured, over the requests in flight: a panel an engine, a line a device.",
        engines.iter().map(of_engine).collect(),
    )
}

/// The medians of doublings, each at the middle of its levels, with the ends of nine in ten.
fn medians(levels: &[&CalibrationResidual]) -> Vec<CurvePoint> {
    let mut bands: BTreeMap<u32, Vec<&CalibrationResidual>> = BTreeMap::new();
    for level in levels {
        // 5 to 8 and 9 to 16 are doublings; up to 4 is one band, since there are few.
        let band = level.concurrency.saturating_sub(1).checked_ilog2().unwrap_or(0).max(1);
        bands.entry(band).or_default().push(level);
    }
    let told = bands.into_values().filter(|levels| levels.len() >= FEWEST);
    told.map(|levels| {
        let mut ratios: Vec<f64> = levels.iter().map(|of| of.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
        let logs = levels.iter().map(|of| (of.concurrency.max(1) as f64).ln());
        let middle = (logs.sum::<f64>() / levels.len() as f64).exp();
        point((middle, at(0.5)), Some([at(0.05), at(0.95)]))
    })
    .collect()
}

const fn point(at: (f64, f64), ends: Option<[f64; 2]>) -> CurvePoint {
    CurvePoint { at, ends, label: None }
}

fn line(name: &str, index: usize, style: CurveStyle, points: Vec<CurvePoint>) -> CurveSeries {
    CurveSeries { name: name.to_owned(), index, style, points, levels: Vec::new() }
}

fn panel(across: String, up: String, series: Vec<CurveSeries>) -> CurvePanel {
    let limits = vec![CurveLimit { at: 1.0, text: "as measured".to_owned() }];
    let (across, up) = (CurveAxis::Ratio(across), CurveAxis::Ratio(up));
    CurvePanel { across, up, series, limits }
}

fn chart(title: &str, description: &str, panels: Vec<CurvePanel>) -> CurveChart {
    CurveChart {
        title: title.to_owned(),
        subtitle: "published levels, their model family left out of the fit".to_owned(),
        description: description.to_owned(),
        panels,
        notes: vec![NOTE.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::{CalibrationResidual, ResidualPicture, medians};

    fn levels(engine: &str, ratio: impl Fn(u64) -> f64) -> Vec<CalibrationResidual> {
        let level = |concurrency| CalibrationResidual {
            device: "h100-sxm".to_owned(),
            engine: engine.to_owned(),
            concurrency,
            ratio: ratio(concurrency),
        };
        (1..=64).map(level).collect()
    }

    #[test]
    fn medians_are_of_doublings() {
        let levels = levels("vllm", |concurrency| if concurrency > 32 { 1.2 } else { 0.9 });
        let all: Vec<&CalibrationResidual> = levels.iter().collect();
        let found = medians(&all);
        let heights: Vec<f64> = found.iter().map(|of| of.at.1).collect();
        // Up to 8 there are too few.
        assert_eq!(heights, [0.9, 0.9, 1.2]);
        assert!(found.is_sorted_by(|a, b| a.at.0 < b.at.0));
        assert!(found.iter().all(|of| of.ends == Some([of.at.1; 2])));
    }

    #[test]
    fn pictures_name_axes_and_engines() {
        let both = [levels("sglang", |_| 1.1), levels("vllm", |_| 0.95)].concat();
        for picture in [ResidualPicture::Concurrency, ResidualPicture::DevicesAndEngines] {
            let svg = picture.svg(&both).unwrap();
            for said in
                ["requests in flight", "TPOT predicted / measured", "sglang", "vllm", "as measured"]
            {
                assert!(svg.contains(said), "{said} in {svg}");
            }
            assert_eq!(picture.svg(&[]), None);
        }
    }
}
