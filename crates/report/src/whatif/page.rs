//! A what-if as one HTML file.

use std::fmt::Write;

use super::answer::words;
use super::text::{kind, tail};
use super::{Spot, Variant, WhatIf, letter};
use crate::LevelReport;
use crate::chart::{Family, FamilyChart, Member, Size, escape};
use crate::number::{duration_ms, number};
use crate::page::document;

/// Colours that the style sheet has; further configurations begin again.
const COLOURS: usize = 8;

impl WhatIf {
    /// The content of `report.html`: the answer, each configuration's frontier and that of all, where each is to run, and what was
    /// run. Foreign text is escaped everywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::new();
        let workload = &self.setup.workload;
        put(
            &mut out,
            format_args!(
                "<header>\n<p class=\"kind\">Fizeau what-if</p>\n<h1>{}</h1>\n\
                 <p>{}: {} tokens in, {} tokens out; {}. {}.</p>\n\
                 <p class=\"banner\"><strong>Everything here was simulated in virtual time, nothing was measured.</strong> \
                 {} configurations.</p>\n</header>\n",
                escape(&self.setup.endpoint.model),
                escape(&workload.dataset),
                escape(&workload.input_tokens),
                escape(&workload.output_tokens),
                escape(&workload.arrivals),
                escape(&self.setup.started),
                self.variants.len(),
            ),
        );
        put(
            &mut out,
            format_args!("<section>\n<h2>Answer</h2>\n<p>{}</p>\n", escape(&self.answer())),
        );
        for remark in self.remarks() {
            put(&mut out, format_args!("<p class=\"note\">{}</p>\n", escape(&remark)));
        }
        out.push_str("</section>\n");
        self.figure(&mut out);
        self.table(&mut out);
        let command = self.setup.command_line.join(" ");
        put(
            &mut out,
            format_args!(
                "<section>\n<h2>What was run</h2>\n<dl>\n<dt>Command</dt><dd>{}</dd>\n<dt>Tool</dt><dd>{} {}</dd>\n</dl>\n</section>\n",
                escape(&command),
                escape(&self.setup.tool.name),
                escape(&self.setup.tool.version),
            ),
        );
        document(&format!("Fizeau what-if: {}", self.setup.endpoint.model), &out)
    }

    fn figure(&self, out: &mut String) {
        let families: Vec<Family> =
            self.variants.iter().enumerate().filter_map(|(i, of)| self.family(i, of)).collect();
        if families.is_empty() {
            return;
        }
        let latency = if self.has_stand_ins() { "p99 E2EL (* greatest)" } else { "p99 E2EL" };
        let chart = FamilyChart {
            families: &families,
            throughput: "Output tokens per second and device",
            latency,
            description: "Each configuration is a line through its levels; large dots are on the frontier of all.",
        };
        let (wide, narrow) = (chart.draw(Size::Wide), chart.draw(Size::Narrow));
        let loads = self.loads();
        let mut keys = String::new();
        for (index, variant) in self.variants.iter().enumerate() {
            if variant.outcome.is_ok() {
                put(
                    &mut keys,
                    format_args!(
                        "<span class=\"keyed\"><span class=\"key family {}\"></span>{} {}</span> ",
                        class(index),
                        letter(index),
                        escape(&variant.name())
                    ),
                );
            }
        }
        put(
            out,
            format_args!(
                "<section>\n<h2>Throughput against latency</h2>\n<figure>\n{wide}{narrow}<figcaption>Right and down is \
                 better. Each line goes through one configuration's levels, by rising {}. Large dots: no level of any \
                 configuration beats them. <span class=\"keyed\"><span class=\"key ring\"></span>the most within the goals</span> \
                 {keys}</figcaption>\n</figure>\n</section>\n",
                kind(&loads)
            ),
        );
    }

    fn family(&self, index: usize, variant: &Variant) -> Option<Family> {
        let chosen = variant.sweep()?.operating_point().level();
        let member = |(level, report): (usize, &LevelReport)| {
            let tail = tail(report)?;
            let throughput = variant.per_device(report);
            let tip = format!(
                "{} {} at {}: {} output tokens/s a device, p99 E2EL {}",
                letter(index),
                variant.name(),
                report.load.words(),
                number(throughput),
                duration_ms(tail.ms())
            );
            let best = self.frontier.contains(&Spot { variant: index, level });
            let latency_ms = tail.ms();
            Some(Member { throughput, latency_ms, tip, best, chosen: chosen == Some(level) })
        };
        let members: Vec<Member> = variant.compared().filter_map(member).collect();
        let label = letter(index);
        (!members.is_empty()).then(|| Family { class: class(index), label, members })
    }

    fn table(&self, out: &mut String) {
        let Some(slo) = &self.slo else { return };
        put(
            out,
            format_args!(
                "<section>\n<h2>The most within {}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
                 aria-label=\"Operating points\">\n<table>\n<thead>\n<tr><th scope=\"col\"></th><th scope=\"col\" \
                 class=\"left\">configuration</th><th scope=\"col\">devices</th><th scope=\"col\">load</th><th \
                 scope=\"col\">req/s</th><th scope=\"col\">out tok/s</th><th scope=\"col\">a device</th><th \
                 scope=\"col\">TTFT p99 ms</th><th scope=\"col\">TPOT p99 ms</th><th scope=\"col\">E2EL p99 ms</th></tr>\n\
                 </thead>\n<tbody>\n",
                escape(&words(slo))
            ),
        );
        for (index, variant) in self.variants.iter().enumerate() {
            self.row(out, index, variant);
        }
        out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    }

    fn row(&self, out: &mut String, index: usize, variant: &Variant) {
        put(
            out,
            format_args!(
                "<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td>{}</td>",
                letter(index),
                escape(&variant.name()),
                variant.devices
            ),
        );
        let chosen = self.chosen().into_iter().find(|chosen| chosen.variant == index);
        let cells = match chosen {
            None => std::array::from_fn(|_| "-".to_owned()),
            Some(chosen) => chosen.cells(),
        };
        cells.iter().for_each(|cell| put(out, format_args!("<td>{cell}</td>")));
        out.push_str("</tr>\n");
    }
}

/// The class that gives a configuration its colour.
fn class(index: usize) -> String {
    format!("f{}", index % COLOURS)
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = out.write_fmt(what);
}
