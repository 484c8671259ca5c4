//! A waterfall as a picture.

use std::fmt::Write;

use fizeau_record::{DiagnosisDocument, SlowdownCause, Waterfall, WaterfallStep};

use super::{figures, level_title, longest, number};
use crate::Shown;
use crate::escape::escape;

const WIDTH: f64 = 720.0;
const ROW: f64 = 26.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 46.0;

/// Looks for a light and a dark ground.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1d2330}.title{font-weight:600}.faint{fill:#5b6475}\
    rect{fill:#2f6db5}.bound{fill:#1f8a5b}.rest{fill:#b5522f}.whole{fill:#5b6475}line{stroke:#c3c9d4}\
    @media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#9aa4b5}rect{fill:#6ea8e6}.bound{fill:#4fc08d}\
    .rest{fill:#e6956e}.whole{fill:#9aa4b5}line{stroke:#3a4252}}";

impl Shown<'_, DiagnosisDocument> {
    /// The waterfalls of the fullest level as one SVG file, for a light and a dark ground; none where nothing is explained.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let level = self.fullest()?;
        let title = format!("{} on {}", self.model, self.device);
        let charts: Vec<(&str, &Waterfall)> = figures(level)
            .into_iter()
            .filter_map(|(name, figure)| Some((name, figure.waterfall()?)))
            .collect();
        let height: f64 = charts.iter().map(|(_, waterfall)| chart_height(waterfall)).sum();
        if charts.is_empty() {
            return None;
        }
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\">\n<title>{}</title>\n\
             <style>{STYLE}</style>\n<text class=\"title\" x=\"0\" y=\"16\">{}</text>\n\
             <text class=\"faint\" x=\"0\" y=\"34\">{}</text>\n",
            TOP + height,
            escape(&title),
            escape(&title),
            escape(&level_title(level)),
        );
        let mut top = TOP;
        for (name, waterfall) in charts {
            chart(&mut out, top, name, waterfall);
            top += chart_height(waterfall);
        }
        out.push_str("</svg>\n");
        Some(out)
    }
}

fn chart_height(waterfall: &Waterfall) -> f64 {
    ROW * (waterfall.steps.len() as f64 + 3.0)
}

/// A waterfall below `top`: a row a cause, and one for what was measured.
fn chart(out: &mut String, top: f64, name: &str, waterfall: &Waterfall) {
    let scale = (WIDTH - LEFT - RIGHT) / longest(waterfall);
    text(out, "title", 0.0, top + ROW * 0.7, &format!("Mean {name} (ms)"));
    let mut from = 0.0;
    let mut y = top + ROW;
    for step in &waterfall.steps {
        let to = from + step.adds_ms.get();
        let place = [from.min(to) * scale, (step.adds_ms.get().abs() * scale).max(1.0)];
        row(out, y, step.cause.title(), class(step), place, &label(step));
        from = to;
        y += ROW;
        put(
            out,
            format_args!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\n",
                y - 7.0,
                y + 4.0,
                x = LEFT + to * scale
            ),
        );
    }
    let measured = waterfall.measured_ms;
    row(out, y, "measured", "whole", [0.0, measured.get() * scale], &number(measured));
}

fn row(out: &mut String, y: f64, name: &str, class: &str, [x, width]: [f64; 2], label: &str) {
    text(out, "", 0.0, y + 14.0, name);
    put(
        out,
        format_args!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"18\"/>\n",
            LEFT + x,
            y + 1.0
        ),
    );
    text(out, "faint", LEFT + x + width + 6.0, y + 14.0, label);
}

fn label(step: &WaterfallStep) -> String {
    format!("{} ({:.0} %)", number(step.adds_ms), step.share * 100.0)
}

const fn class(step: &WaterfallStep) -> &'static str {
    match step.cause {
        cause if cause.is_bound() => "bound",
        SlowdownCause::Unexplained => "rest",
        _ => "",
    }
}

fn text(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    put(
        out,
        format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", escape(text)),
    );
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
}
