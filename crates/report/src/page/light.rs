//! The page's part on the speed of light: its curve beside the measured frontier, and what was reached of it.

use super::sections::put;
use crate::chart::{LightLine, escape};
use crate::light_table::{COLUMNS, NOTE};
use crate::number::{duration_ms, number};
use crate::{LightFigures, LightPoint, SweepReport};

impl SweepReport {
    /// The curves of bound and expectation, as far as requests were in flight; none where there are none.
    pub(super) fn light_lines(&self) -> Vec<LightLine> {
        let (Some(curve), Some(most)) = (self.curve(), self.most_in_flight()) else {
            return Vec::new();
        };
        let line = |class, name: &str, of: fn(&LightPoint) -> Option<LightFigures>| {
            let place = |point: &LightPoint| {
                let figures = of(point)?;
                let (requests, ms) = (figures.requests_per_s.get(), figures.e2el.to_millis().get());
                let tip = format!(
                    "{name} at concurrency {}: {} requests/s, mean E2EL {}",
                    point.concurrency,
                    number(requests),
                    duration_ms(ms)
                );
                Some((requests, ms, tip))
            };
            let reached = curve.points().iter().filter(|point| point.concurrency.get() <= most);
            LightLine { class, points: reached.filter_map(place).collect() }
        };
        vec![
            line("calibrated", "calibrated", |point| point.calibrated),
            line("expected", "expected", |point| point.expected),
            line("bound", "speed of light", |point| Some(point.bound)),
        ]
    }

    /// What was reached of it, level by level and phase by phase.
    pub(super) fn light_table(&self, out: &mut String) {
        let rows = self.light_rows();
        if rows.is_empty() {
            return;
        }
        out.push_str(
            "<section>\n<h2>How far from the speed of light?</h2>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Speed of light\">\n<table>\n<thead>\n<tr>",
        );
        for run in COLUMNS.chunk_by(|a, b| !a.0.is_empty() && a.0 == b.0) {
            let group = run.first().map_or("", |column| column.0);
            put(out, format_args!("<th colspan=\"{}\">{group}</th>", run.len()));
        }
        out.push_str("</tr>\n<tr>");
        for (_, head, width) in COLUMNS {
            let left = if width == 0 { " class=\"left\"" } else { "" };
            put(out, format_args!("<th scope=\"col\"{left}>{head}</th>"));
        }
        out.push_str("</tr>\n</thead>\n<tbody>\n");
        for row in rows {
            out.push_str("<tr>");
            for (i, (cell, (_, _, width))) in row.iter().zip(COLUMNS).enumerate() {
                let (tag, more) = match (i, width) {
                    (0, _) => ("th", " scope=\"row\""),
                    (_, 0) => ("td", " class=\"left\""),
                    _ => ("td", ""),
                };
                put(out, format_args!("<{tag}{more}>{}</{tag}>", escape(cell)));
            }
            out.push_str("</tr>\n");
        }
        let calibrated = self.calibrated_words().map(|words| format!(" {}.", escape(&words)));
        let calibrated = calibrated.unwrap_or_default();
        put(
            out,
            format_args!(
                "</tbody>\n</table>\n</div>\n<p class=\"note\">{NOTE}.{calibrated}</p>\n</section>\n"
            ),
        );
    }
}
