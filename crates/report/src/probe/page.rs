//! What a machine really does as one HTML file, and a fleet.

use std::fmt::Write;

use fizeau_core::Verdict;
use fizeau_probe::{FleetTable, ProbeDocument, ProbeRow};

use super::cells::{Group, UNITS, cells, groups};
use crate::escape::escape;
use crate::page::document;
use crate::{Shown, Verbosity};

/// What the page adds to the looks of every page.
const STYLE: &str = include_str!("../whatif/page.css");

/// Operations of a slow member that are named; the rest are counted.
const MOST_NAMED: usize = 4;

impl Shown<'_, ProbeDocument> {
    /// The content of `probe.html`: the machine and the verdict, the charts, the levels of memory, and every row. Foreign text is
    /// escaped everywhere, and nothing is loaded from anywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::new();
        let mut machine = self.machine(Verbosity::Full).into_iter();
        let title = format!("What {} really does", self.host.node);
        put(&mut out, format_args!("<header>\n<p class=\"kind\">Fizeau probe</p>\n"));
        put(&mut out, format_args!("<h1>{}</h1>\n", escape(&title)));
        paragraphs(&mut out, "", &mut machine.by_ref());
        let verdict = self.verdict.map_or("none", Verdict::as_str);
        let mut lines = self.verdict_lines(Verbosity::Full).into_iter();
        let requested = lines.next().unwrap_or_default();
        put(
            &mut out,
            format_args!(
                "<p class=\"believe\"><span class=\"verdict {verdict}\">{verdict}</span> {}</p>\n",
                escape(&requested)
            ),
        );
        paragraphs(&mut out, "note", &mut lines);
        out.push_str("</header>\n");
        self.figures(&mut out);
        let levels = self.levels();
        if !levels.is_empty() {
            out.push_str("<section>\n<h2>Levels of memory</h2>\n");
            paragraphs(&mut out, "", &mut levels.into_iter());
            out.push_str("</section>\n");
        }
        for group in groups(&self.rows.iter().collect::<Vec<&ProbeRow>>()) {
            table_of(&mut out, &group);
        }
        put(&mut out, format_args!("<p class=\"note\">{}</p>\n", escape(UNITS)));
        document(&format!("Fizeau probe: {}", self.host.node), &out, STYLE)
    }

    /// Without pictures the page has none.
    #[cfg(not(feature = "pictures"))]
    fn figures(&self, _: &mut String) {}

    #[cfg(feature = "pictures")]
    fn figures(&self, out: &mut String) {
        for named in self.named_charts() {
            figure(out, &named.chart);
        }
    }
}

impl Shown<'_, FleetTable> {
    /// A fleet as one HTML file: the distribution, each machine, who cannot pass, and for each operation its median and its slowest machine.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::from("<header>\n<p class=\"kind\">Fizeau probe</p>\n");
        out.push_str("<h1>A fleet, the slowest machine first</h1>\n");
        put(&mut out, format_args!("<p>{}</p>\n</header>\n", escape(&self.counted())));
        self.figure(&mut out);
        let heads = ["", "machine", "of the median", "least", "in", "slow with confidence in"];
        let members = self.members.iter().enumerate().map(|(place, member)| {
            let (all, least) = (member.share_of_median, member.least_share);
            let slow = match member.slow.as_slice() {
                [] => "-".to_owned(),
                all if all.len() <= MOST_NAMED => all.join("; "),
                all => {
                    let more = all.len() - MOST_NAMED;
                    format!("{}; and {more} more", all[..MOST_NAMED].join("; "))
                }
            };
            let cells = [
                (place + 1).to_string(),
                self.marked(&member.name),
                percent(all),
                percent(least),
                member.least_subject.clone(),
                slow,
            ];
            cells.to_vec()
        });
        table(&mut out, "Machines", &heads, &[1, 4, 5], members);
        if !self.faults.is_empty() {
            let faults = self.faults.iter();
            let faults = faults.map(|fault| vec![fault.member.clone(), fault.reason.clone()]);
            table(&mut out, "Machines that cannot pass", &["machine", "why"], &[0, 1], faults);
        }
        let heads = ["operation", "machines", "slowest", "of the median"];
        let rows = self.rows.iter().map(|row| {
            let by_share = |a: &&fizeau_probe::FleetCell, b: &&fizeau_probe::FleetCell| {
                a.share_of_median.total_cmp(&b.share_of_median)
            };
            let slowest = row.cells.iter().min_by(by_share);
            let name = slowest.map(|cell| cell.member.clone()).unwrap_or_default();
            let share = slowest.map(|cell| percent(cell.share_of_median)).unwrap_or_default();
            vec![row.subject.clone(), row.cells.len().to_string(), name, share]
        });
        table(&mut out, "Operations", &heads, &[0, 2], rows);
        document("Fizeau probe: a fleet", &out, STYLE)
    }

    /// Without pictures the page has none.
    #[cfg(not(feature = "pictures"))]
    fn figure(&self, _: &mut String) {}

    #[cfg(feature = "pictures")]
    fn figure(&self, out: &mut String) {
        if let Some(chart) = self.curves() {
            figure(out, &chart);
        }
    }
}

#[cfg(feature = "pictures")]
fn figure(out: &mut String, chart: &crate::pictures::CurveChart) {
    let Some((wide, narrow)) = chart.inline() else { return };
    // The picture has its title; the page has it for those who jump from heading to heading.
    put(
        out,
        format_args!(
            "<section>\n<h2>{}</h2>\n<figure>\n{wide}{narrow}</figure>\n</section>\n",
            escape(&chart.title)
        ),
    );
}

fn table_of(out: &mut String, group: &Group<'_>) {
    let mut heads = group.head();
    "operation".clone_into(&mut heads[0]);
    "why".clone_into(&mut heads[7]);
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let lines = group.rows.iter().map(|row| {
        let mut cells = cells(row, group.unit);
        cells[0].clone_from(&row.key);
        let reasons = row.objections.iter().map(|objection| objection.reason.as_str());
        let reasons = reasons.chain(row.measured.notes.iter().map(String::as_str));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        cells[7] = format!("{} {reasons}", cells[7]).trim().to_owned();
        cells
    });
    let mut title = group.component.as_str().to_owned();
    title[..1].make_ascii_uppercase();
    table(out, &title, &heads, &[0, 7], lines);
}

/// A table under its heading; its first cell names a line, and columns of words begin at the left.
fn table(
    out: &mut String,
    title: &str,
    heads: &[&str],
    words: &[usize],
    rows: impl Iterator<Item = Vec<String>>,
) {
    let class = |column: usize| if words.contains(&column) { " class=\"left\"" } else { "" };
    let title = escape(title);
    put(
        out,
        format_args!(
            "<section>\n<h2>{title}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n\
             <table>\n<thead>\n<tr>"
        ),
    );
    for (column, head) in heads.iter().enumerate() {
        put(out, format_args!("<th scope=\"col\"{}>{}</th>", class(column), escape(head)));
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let (tag, scope) = if column == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            let class = class(column);
            put(out, format_args!("<{tag}{scope}{class}>{}</{tag}>", escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

fn paragraphs(out: &mut String, class: &str, lines: &mut dyn Iterator<Item = String>) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    for line in lines {
        put(out, format_args!("<p{class}>{}</p>\n", escape(line.trim())));
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = out.write_fmt(what);
}
