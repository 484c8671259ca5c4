//! A what-if as one HTML file.

use std::fmt::Write;

use super::words::{greatest_note, rates, tails};
use crate::Shown;
use crate::escape::escape;
use crate::page::document;
use fizeau_metrics::Metric;
use fizeau_record::text::slo_words as words;
use fizeau_record::{WhatIf, WhatIfVariant, variant_letter as letter};

/// What the page adds to the looks of every page.
const STYLE: &str = include_str!("page.css");

impl Shown<'_, WhatIf> {
    /// The content of `report.html`: the answer, each configuration's frontier and that of all, where each is to run, and what was
    /// run. Foreign text is escaped everywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::new();
        put(
            &mut out,
            format_args!(
                "<header>\n<p class=\"kind\">Fizeau what-if</p>\n<h1>{}</h1>\n\
                 <p>{}. {}.</p>\n\
                 <p class=\"banner\"><strong>Everything here was simulated in virtual time, nothing was measured.</strong> \
                 {}.</p>\n</header>\n",
                escape(&self.title()),
                escape(&self.load_words()),
                escape(&self.setup().started),
                self.how_many(),
            ),
        );
        put(
            &mut out,
            format_args!("<section>\n<h2>Answer</h2>\n<p>{}</p>\n", escape(&self.answer())),
        );
        for remark in self.remarks().iter().chain(&self.doubts()) {
            put(&mut out, format_args!("<p class=\"note\">{}</p>\n", escape(remark)));
        }
        out.push_str("</section>\n");
        self.figure(&mut out);
        self.table(&mut out);
        let words: Vec<String> =
            self.setup().command_line.iter().map(|word| quoted(word)).collect();
        let command = words.join(" ");
        put(
            &mut out,
            format_args!(
                "<section>\n<h2>What was run</h2>\n<dl>\n<dt>Command</dt><dd>{}</dd>\n<dt>Tool</dt><dd>{} {}</dd>\n</dl>\n</section>\n",
                escape(&command),
                escape(&self.setup().tool.name),
                escape(&self.setup().tool.version),
            ),
        );
        document(&format!("Fizeau what-if: {}", self.title()), &out, STYLE)
    }

    /// Without pictures the page has none.
    #[cfg(not(feature = "pictures"))]
    fn figure(&self, _: &mut String) {}

    #[cfg(feature = "pictures")]
    fn figure(&self, out: &mut String) {
        let Some((wide, narrow)) = self.charts() else { return };
        put(
            out,
            format_args!(
                "<section>\n<h2>Latency against \
                 throughput</h2>\n<figure>\n{wide}{narrow}<figcaption>Down and to the right is \
                 better. Each line goes through one configuration's levels, by rising {}. Large \
                 dots: no level of any configuration beats \
                 them.</figcaption>\n</figure>\n</section>\n",
                super::text::kind(&self.loads())
            ),
        );
    }

    fn table(&self, out: &mut String) {
        let Some(slo) = self.slo() else { return };
        put(
            out,
            format_args!(
                "<section>\n<h2>Operating point of each within {}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
                 aria-label=\"Operating points\">\n<table>\n<thead>\n<tr><th scope=\"col\"></th><th scope=\"col\" \
                 class=\"left\">configuration</th><th scope=\"col\">devices</th><th scope=\"col\">load</th><th \
                 scope=\"col\">req/s</th><th scope=\"col\">out tok/s</th><th scope=\"col\">a device</th>",
                escape(&words(slo))
            ),
        );
        for table in Metric::tabled().filter_map(|metric| metric.entry().table) {
            put(out, format_args!("<th scope=\"col\">{}</th>", table.group));
        }
        out.push_str("</tr>\n</thead>\n<tbody>\n");
        for (index, variant) in self.variants().iter().enumerate() {
            self.row(out, index, variant);
        }
        let note =
            greatest_note(&self.chosen()).map_or_else(String::new, |note| format!(" {note}."));
        put(
            out,
            format_args!(
                "</tbody>\n</table>\n</div>\n<p class=\"note\">Latencies are 99th percentiles.{note}</p>\n</section>\n"
            ),
        );
    }

    fn row(&self, out: &mut String, index: usize, variant: &WhatIfVariant) {
        put(
            out,
            format_args!(
                "<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td>{}</td>",
                letter(index),
                escape(&variant.name()),
                variant.devices.map_or_else(|| "-".to_owned(), |devices| devices.to_string())
            ),
        );
        let chosen = self.chosen().into_iter().find(|chosen| chosen.variant == index);
        let mut cells = match &chosen {
            None => vec!["-".to_owned(); 4],
            Some(chosen) => Vec::from(rates(chosen)),
        };
        cells.extend(match &chosen {
            None => Metric::tabled().map(|_| "-".to_owned()).collect(),
            Some(chosen) => tails(chosen),
        });
        cells.iter().for_each(|cell| put(out, format_args!("<td>{cell}</td>")));
        out.push_str("</tr>\n");
    }
}

/// A word of a command line, as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=,.:/%+@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = out.write_fmt(what);
}
