//! The page's parts that are words and tables.

use std::fmt::Write;

use fizeau_metrics::Verdict;

use crate::chart::escape;
use crate::number::{number, percent};
use crate::sweep::{SATURATED_NOTE, STAND_IN_NOTE};
use crate::table::{Cell, Column, columns};
use crate::words::{self, listed};
use crate::{Engine, LevelReport, Place, SpeedOfLight, SweepReport};

impl SweepReport {
    pub(super) fn head(&self, out: &mut String) {
        let setup = self.setup();
        let (endpoint, workload) = (&setup.endpoint, &setup.workload);
        let verdict = words::verdict(self.verdict());
        put(
            out,
            format_args!(
                "<header>\n<p class=\"kind\">Fizeau sweep <span class=\"verdict {verdict}\">{verdict}</span></p>\n\
             <h1>{}</h1>\n<p>{}{} ({}), {}: {} tokens in, {} tokens out; {}. {}.</p>\n",
                escape(&endpoint.model),
                escape(&endpoint.base_url),
                escape(&endpoint.path),
                escape(&endpoint.backend),
                escape(&workload.dataset),
                escape(&workload.input_tokens),
                escape(&workload.output_tokens),
                escape(&workload.arrivals),
                escape(&setup.started),
            ),
        );
        let simulated = match self.is_simulated() {
            true => "Simulated in virtual time, not measured.",
            false => "The engine was simulated, not run on hardware.",
        };
        match &setup.engine {
            Engine::Simulated { description } => put(
                out,
                format_args!(
                    "<p class=\"banner\"><strong>{simulated}</strong> {}</p>\n",
                    escape(description)
                ),
            ),
            Engine::Remote { description: Some(description) } => {
                put(out, format_args!("<p>Engine: {}</p>\n", escape(description)))
            }
            Engine::Remote { description: None } => {}
        }
        out.push_str("</header>\n");
    }

    /// The few figures that a reader came for.
    pub(super) fn facts(&self, out: &mut String) {
        out.push_str("<section class=\"facts\">\n");
        let words = self.operating_words();
        let (headline, rest) = words.split_once([':', ',']).unwrap_or((&words, ""));
        let mut lines = vec![rest.trim().to_owned()];
        lines.extend(self.goal_words());
        lines.extend(self.decision_lines());
        fact(out, "Operating point", headline, &lines);
        let (headline, rest) = self.most_throughput();
        fact(out, "Most throughput", &headline, &[rest]);
        let (headline, rest) = self.most_light();
        fact(out, "Speed of light reached", &headline, &[rest]);
        out.push_str("</section>\n");
    }

    fn most_throughput(&self) -> (String, String) {
        let rate = |level: &LevelReport| level.summary.throughput.output_tokens_per_s.get();
        let most = self.compared().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        most.map_or_else(
            || ("none".to_owned(), "no level can be compared".to_owned()),
            |level| {
                let requests = number(level.summary.throughput.requests_per_s.get());
                let rest = format!("{requests} requests/s, at {}", level.load.words());
                (format!("{} output tokens/s", number(rate(level))), rest)
            },
        )
    }

    /// The share at the operating point, else the best of all levels that may be compared.
    fn most_light(&self) -> (String, String) {
        let chosen = self.operating_point().level().and_then(|i| self.levels().get(i));
        let share = |level: &LevelReport| Some(level.speed_of_light.output_share()?.get());
        let best = || {
            self.compared()
                .max_by(|a, b| share(a).unwrap_or(-1.0).total_cmp(&share(b).unwrap_or(-1.0)))
        };
        let level = chosen.or_else(best);
        let known = level.and_then(|level| Some((level, share(level)?)));
        let Some((level, share)) = known else {
            let reasons = self.speed_of_light_reasons().join("; ");
            let rest = if reasons.is_empty() { "nothing was measured".to_owned() } else { reasons };
            return ("absent".to_owned(), rest);
        };
        let limited = match &level.speed_of_light {
            SpeedOfLight::Known(light) => {
                let bound = &light.bound;
                let rate = number(bound.output_tokens_per_s.get());
                format!(" of {rate} output tokens/s, which {} limits", bound.limited_by)
            }
            SpeedOfLight::Absent { .. } => String::new(),
        };
        (percent(share), format!("{}, at {}", limited.trim_start(), level.load.words()))
    }

    pub(super) fn level_table(&self, out: &mut String) {
        out.push_str("<section>\n<h2>Levels</h2>\n");
        for kind in self.kinds() {
            self.table_of(&kind, out);
        }
        self.repeats_table(out);
        self.protocol_notes(out);
        if self.has_stand_in() {
            put(out, format_args!("<p class=\"note\">* {STAND_IN_NOTE}.</p>\n"));
        }
        if self.levels().iter().any(LevelReport::is_saturated) {
            put(out, format_args!("<p class=\"note\">! {SATURATED_NOTE}.</p>\n"));
        }
        for line in self.until_lines() {
            put(out, format_args!("<p class=\"note\">{}.</p>\n", escape(&line)));
        }
        let failures = self.failures();
        if !failures.is_empty() {
            let failures = escape(&failures.join(", "));
            put(out, format_args!("<p class=\"note\">Failures: {failures}.</p>\n"));
        }
        out.push_str(
            "<p class=\"note\">TTFT: send start to first token. TPOT: mean time per token after the first chunk. \
             E2EL: send start to last token. Failed requests are in no latency. \
             SoL: output tokens per second as a share of the bound that the hardware sets.</p>\n</section>\n",
        );
    }

    /// The table of the levels with these indices, which are of one kind of load.
    fn table_of(&self, kind: &[usize], out: &mut String) {
        let levels: Vec<&LevelReport> = kind.iter().filter_map(|&i| self.levels().get(i)).collect();
        let columns = columns(&levels);
        out.push_str(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Levels\">\n<table>\n<thead>\n<tr>",
        );
        for run in columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
            let group = run.first().map_or("", |column| column.group);
            put(out, format_args!("<th colspan=\"{}\">{group}</th>", run.len()));
        }
        out.push_str("<th></th></tr>\n<tr>");
        for column in &columns {
            put(out, format_args!("<th scope=\"col\">{}</th>", column.head));
        }
        out.push_str("<th scope=\"col\" class=\"left\">frontier</th></tr>\n</thead>\n<tbody>\n");
        for (row, &level) in kind.iter().enumerate() {
            self.level_row(out, &columns, row, level);
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
    }

    fn level_row(&self, out: &mut String, columns: &[Column], row: usize, level: usize) {
        let load = |i: usize| self.label_of(i);
        let Some(place) = self.places().get(level) else { return };
        let (class, text) = match place {
            Place::Frontier if self.operating_point().level() == Some(level) => {
                ("chosen", "operating point".to_owned())
            }
            Place::Frontier => ("best", "yes".to_owned()),
            Place::Dominated { by } => ("faint", format!("dominated by {}", load(*by))),
            Place::LeftOut { reason } => ("faint", format!("left out: {reason}")),
        };
        put(out, format_args!("<tr class=\"{class}\">"));
        for (i, column) in columns.iter().enumerate() {
            let cell = column.cells.get(row).map(cell_text).unwrap_or_default();
            let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            put(out, format_args!("<{tag}{scope}>{}</{tag}>", escape(&cell)));
        }
        put(out, format_args!("<td class=\"left\">{}</td></tr>\n", escape(&text)));
    }

    pub(super) fn reason_list(&self, out: &mut String) {
        let verdict = words::verdict(self.verdict());
        put(out, format_args!("<section>\n<h2>Verdict: {verdict}</h2>\n"));
        let mut reasons = self.reasons();
        reasons.retain(|reason| reason.0 != Verdict::Valid);
        if reasons.is_empty() {
            let text = if self.levels().is_empty() {
                "No level was measured."
            } else {
                "Nothing speaks against any level."
            };
            put(out, format_args!("<p>{text}</p>\n"));
        } else {
            out.push_str("<ul>\n");
            for (verdict, text, loads) in reasons {
                put(
                    out,
                    format_args!(
                        "<li><span class=\"verdict {0}\">{0}</span> {1} <span class=\"note\">(at {2})</span></li>\n",
                        words::verdict(verdict),
                        escape(text),
                        escape(&listed(&loads))
                    ),
                );
            }
            out.push_str("</ul>\n");
        }
        for note in self.level_notes() {
            put(out, format_args!("<p class=\"note\">Note: {}.</p>\n", escape(note)));
        }
        for reason in self.speed_of_light_reasons() {
            put(
                out,
                format_args!("<p class=\"note\">No speed of light: {}.</p>\n", escape(reason)),
            );
        }
        out.push_str("</section>\n");
    }

    pub(super) fn setup_list(&self, out: &mut String) {
        out.push_str("<section>\n<h2>What was run, and on what</h2>\n<dl>\n");
        for (name, value) in self.setup().rows() {
            put(out, format_args!("<dt>{name}</dt><dd>{}</dd>\n", escape(&value)));
        }
        let goals = self.slo().map_or_else(|| "not given".to_owned(), ToString::to_string);
        put(out, format_args!("<dt>Goals</dt><dd>{}</dd>\n", escape(&goals)));
        out.push_str("</dl>\n</section>\n");
    }
}

fn fact(out: &mut String, name: &str, headline: &str, lines: &[String]) {
    let headline = escape(headline);
    put(out, format_args!("<div><h2>{name}</h2>\n<p class=\"headline\">{headline}</p>\n"));
    for line in lines {
        put(out, format_args!("<p>{}</p>\n", escape(line)));
    }
    out.push_str("</div>\n");
}

fn cell_text(cell: &Cell) -> String {
    if cell.marked { format!("{}*", cell.text) } else { cell.text.clone() }
}

/// Writes without a result: writing to a `String` cannot fail.
pub(super) fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(what);
}
