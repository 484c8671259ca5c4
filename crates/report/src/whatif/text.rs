//! A what-if as text of 80 columns.

use super::words::{greatest_note, rates, tails};
use crate::Shown;
use crate::text::{line, sentence};
use fizeau_core::LevelLoad;
use fizeau_metrics::Metric;
use fizeau_record::text::slo_words as words;
use fizeau_record::text::{column_decimals, number};
use fizeau_record::{LatencyBasis, LevelReport, TailLatency};
use fizeau_record::{VariantLevel, WhatIf, WhatIfVariant, variant_letter as letter};

/// Configurations side by side in a table by load.
const ABREAST: usize = 7;

impl Shown<'_, WhatIf> {
    /// The configurations, where each is to run, the answer, and the figures by load. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let requested =
            format!("{}, simulated in virtual time: {}", self.how_many(), self.load_words());
        sentence(&mut out, &requested);
        for (index, variant) in self.variants().iter().enumerate() {
            let devices = match variant.devices {
                None => String::new(),
                Some(1) => " (1 device)".to_owned(),
                Some(many) => format!(" ({many} devices)"),
            };
            sentence(&mut out, &format!("  {}  {}{devices}", letter(index), variant.name()));
        }
        self.goals(&mut out);
        let throughput =
            |variant: &WhatIfVariant, level: &LevelReport| Some(variant.per_device(level));
        self.by_load(&mut out, "output tokens/s a device", throughput);
        let tail = |_: &WhatIfVariant, level: &LevelReport| Some(tail(level)?.ms());
        let latency =
            if self.has_stand_ins() { "p99 E2EL (or the greatest), ms" } else { "p99 E2EL, ms" };
        self.by_load(&mut out, latency, tail);
        let cost = |variant: &WhatIfVariant, level: &LevelReport| {
            let sweep = variant.sweep()?;
            let level = sweep.levels().iter().position(|of| of.load == level.load)?;
            Some(Shown(sweep).own_cost_at(level)?.value)
        };
        let has_cost =
            |of: &WhatIfVariant| of.compared().any(|(_, level)| cost(of, level).is_some());
        if self.variants().iter().any(has_cost) {
            self.by_load(&mut out, "USD for a million output tokens", cost);
        }
        if !self.frontier().is_empty() {
            sentence(&mut out, "* on the frontier of all: no other level is better in both");
        }
        self.doubts().iter().for_each(|doubt| sentence(&mut out, doubt));
        out
    }

    /// Where each is to run, and which is best.
    fn goals(&self, out: &mut String) {
        let Some(slo) = self.slo() else { return };
        out.push('\n');
        sentence(out, &format!("Operating point of each within {}:", words(slo)));
        let chosen = self.chosen();
        if let Some(first) = chosen.first() {
            // What is in requests or tokens per second says so itself.
            let units: String = Metric::tabled().map(|_| format!("{:>10}", "ms")).collect();
            line(out, &format!("{:32}{:>11}{units}", "", "tok/s"));
            let tail = |metric: Metric| {
                let name = format!("{} p99", metric.entry().label);
                format!("{name:>10}")
            };
            let heads: String = Metric::tabled().map(tail).collect();
            let to = letter(first.variant);
            line(out, &format!("        load    req/s  out tok/s   a device{heads}   vs {to}"));
            for at in &chosen {
                let [load, requests, tokens, per_device] = rates(at);
                let tails: String = tails(at).iter().map(|tail| format!(" {tail:>9}")).collect();
                let (letter, gain) = (letter(at.variant), number(at.per_device / first.per_device));
                let figures = format!("{requests:>8} {tokens:>10} {per_device:>10}{tails}");
                line(out, &format!("  {letter:<2} {load:>7} {figures} {gain:>6}"));
            }
        }
        greatest_note(&chosen).iter().for_each(|note| sentence(out, &format!("  {note}")));
        self.remarks().iter().for_each(|remark| sentence(out, &format!("  {remark}")));
        sentence(out, &self.answer());
    }

    /// A figure of each configuration by load; those on the frontier of all are marked.
    fn by_load(
        &self,
        out: &mut String,
        title: &str,
        figure: impl Fn(&WhatIfVariant, &LevelReport) -> Option<f64>,
    ) {
        let loads = self.loads();
        let closed = loads.iter().filter(|load| load.concurrency().is_some()).count();
        let is_mixed = closed > 0 && closed < loads.len();
        let width = if is_mixed { 8 } else { 6 };
        let ran: Vec<usize> = (0..self.variants().len())
            .filter(|&index| self.variants().get(index).is_some_and(|of| of.outcome.is_ok()))
            .collect();
        for abreast in ran.chunks(ABREAST) {
            let cell = |load: &LevelLoad, index: &usize| {
                let variant = self.variants().get(*index)?;
                let level =
                    variant.sweep()?.levels().iter().position(|level| level.load == *load)?;
                let value = figure(variant, variant.sweep()?.levels().get(level)?)?;
                let spot = VariantLevel { variant: *index, level };
                let is_left_out = !variant.compared().any(|(index, _)| index == level);
                let mark = match self.frontier().contains(&spot) {
                    true => '*',
                    false if is_left_out => '!',
                    false => ' ',
                };
                value.is_finite().then_some((value, mark))
            };
            let rows = loads.iter().map(|load| abreast.iter().map(|index| cell(load, index)));
            let rows: Vec<Vec<Option<MarkedFigure>>> = rows.map(Iterator::collect).collect();
            let values = rows.iter().flatten().flatten().map(|value| value.0);
            let decimals = column_decimals(values);
            out.push('\n');
            sentence(out, &format!("{title}, by {}", kind(&loads)));
            let heads: String = abreast.iter().map(|i| format!("{:>8} ", letter(*i))).collect();
            line(out, &format!("  {:width$}{heads}", ""));
            for (load, cells) in loads.iter().zip(rows) {
                let cells: String = cells.iter().map(|cell| shown(cell, decimals)).collect();
                let unit = match load {
                    LevelLoad::Rate(_) if is_mixed => "/s",
                    LevelLoad::Rate(_) | LevelLoad::Concurrency(_) => "",
                };
                line(out, &format!("  {:>width$}{cells}", format!("{}{unit}", load.number())));
            }
        }
    }

    /// Whether a greatest latency stands in for a percentile somewhere.
    pub(super) fn has_stand_ins(&self) -> bool {
        let levels = self.variants().iter().flat_map(WhatIfVariant::compared);
        levels.filter_map(|(_, level)| tail(level)).any(|tail| tail.basis == LatencyBasis::Max)
    }
}

pub(super) fn tail(level: &LevelReport) -> Option<TailLatency> {
    TailLatency::of(&level.summary.metrics.e2el)
}

/// What the loads are.
pub(super) fn kind(loads: &[LevelLoad]) -> &'static str {
    let rates = loads.iter().filter(|load| matches!(load, LevelLoad::Rate(_))).count();
    match rates {
        0 => "concurrency",
        rates if rates == loads.len() => "requests sent per second",
        _ => "concurrency, and by requests sent per second (/s)",
    }
}

/// A figure and its mark: a star on the frontier of all, an exclamation mark where it is compared with nothing.
type MarkedFigure = (f64, char);

fn shown(cell: &Option<MarkedFigure>, decimals: usize) -> String {
    match cell {
        Some((value, mark)) => format!("{value:>8.decimals$}{mark}"),
        None => format!("{:>8} ", "-"),
    }
}
