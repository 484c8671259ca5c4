//! One device, with each figure's source and date.

use std::fmt::Write;

use fizeau_record::text::wrap_hanging;
use fizeau_roofline::{Device, Link, Price, PublishedFigure, ReductionSite, Topology};

use crate::text::WIDTH;

/// Where the columns begin: what is used, and what is said of it.
const VALUE: usize = 18;
const REMARK: usize = 35;

/// Names, figures, links, prices, sources, doubts.
pub(super) fn of(device: &Device) -> String {
    let mut sources = Sources::default();
    let mut text = head(device);
    row(&mut text, "figure", "used", "as printed; where sources disagree; source");
    for cell in device.cells() {
        let remark = remark(cell, &mut sources);
        row(&mut text, cell.field, &cell.value, &remark);
    }
    if !device.prices.is_empty() {
        text.push('\n');
        row(&mut text, "USD/h of one", "price", "by whom; source");
    }
    for price in &device.prices {
        row(&mut text, "", &price_range(price), &by_whom(price, &mut sources));
    }
    text.push('\n');
    for (number, source) in (1_usize..).zip(&sources.0) {
        text.push_str(&hanging(&format!("[{number}] "), source));
    }
    text.push_str("?   an assumption, or from a source that is weak or was not seen again\n");
    let doubts = device.doubts();
    if !doubts.is_empty() {
        text.push_str("\nin doubt:\n");
    }
    doubts.iter().for_each(|doubt| text.push_str(&hanging("- ", doubt)));
    text
}

fn head(device: &Device) -> String {
    let mut text = format!("{}\n", device.title);
    let aliases = device.aliases.join(", ");
    let called = if aliases.is_empty() { String::new() } else { format!("; also {aliases}") };
    text.push_str(&hanging("  ", &format!("{}{called}", device.name)));
    let kind: Vec<&str> =
        device.vendor.iter().chain(&device.generation).map(String::as_str).collect();
    if !kind.is_empty() {
        text.push_str(&hanging("  ", &kind.join(", ")));
    }
    let link = match (device.link(), device.network()) {
        (Some(link), _) => linked(link),
        (None, Some(_)) => "no link but a network is known".to_owned(),
        (None, None) => "no link is known".to_owned(),
    };
    text.push_str(&hanging("  ", &link));
    text.push_str(&device.note.as_ref().map(|note| hanging("  ", note)).unwrap_or_default());
    text.push('\n');
    text
}

fn linked(link: &Link) -> String {
    match link.topology {
        Topology::Switch { domain, reduces: ReductionSite::InSwitch } => {
            format!("linked by a switch to {domain} devices, with in-network reduction")
        }
        Topology::Switch { domain, .. } => format!("linked by a switch to {domain} devices"),
        Topology::Mesh { domain, pair } => {
            let pair = if pair.is_some() { "; two of a card by a faster one" } else { "" };
            format!("linked to each of {domain} devices by a link of its own{pair}")
        }
        Topology::Torus { dimensions } => {
            format!("linked to neighbours in a torus of {dimensions} dimensions")
        }
        Topology::Pcie => "linked by PCIe".to_owned(),
        Topology::Bridge { cards: 2, .. } => "linked by PCIe, and pairs by a bridge".to_owned(),
        Topology::Bridge { cards, .. } => {
            format!("linked by PCIe, and up to {cards} by a bridge")
        }
    }
}

/// What is said of a figure.
fn remark(cell: &PublishedFigure, sources: &mut Sources) -> String {
    let printed = cell.printed.clone();
    let range = cell.range().map(|(least, most)| format!("from {least} to {most}"));
    let note = cell.note.clone();
    let said = printed.into_iter().chain(range).chain(note).collect::<Vec<_>>().join("; ");
    let date = cell.date.as_deref().unwrap_or_default();
    format!("{said} {}", sources.mark(&cell.source, date, cell.is_unverified)).trim().to_owned()
}

fn price_range(price: &Price) -> String {
    let (low, high) = (price.low.get(), price.high.get());
    if low < high { format!("{low:.2} to {high:.2}") } else { format!("{low:.2}") }
}

fn by_whom(price: &Price, sources: &mut Sources) -> String {
    let note = price.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    let mark = sources.mark(&price.source, &price.date, price.is_unverified);
    format!("{}{note} {mark}", price.kind)
}

/// Sources in the order in which they are first named.
#[derive(Default)]
struct Sources(Vec<String>);

impl Sources {
    /// `[2]`, or `[2]?` for what is unverified.
    fn mark(&mut self, name: &str, date: &str, is_unverified: bool) -> String {
        let source = if date.is_empty() { name.to_owned() } else { format!("{name}, {date}") };
        let at = self.0.iter().position(|known| *known == source).unwrap_or_else(|| {
            self.0.push(source);
            self.0.len() - 1
        });
        format!("[{}]{}", at + 1, if is_unverified { "?" } else { "" })
    }
}

/// A line of three columns, the last of them in as many lines as it needs.
fn row(text: &mut String, field: &str, value: &str, remark: &str) {
    let (mut field, mut value) = (field, value);
    for line in wrap_hanging(remark, WIDTH - REMARK, "").split('\n') {
        let start = format!("{field:<VALUE$}{value}");
        let line = format!("{start:<REMARK$}{line}");
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
        (field, value) = ("", "");
    }
}

/// A text that begins with `mark`, its further lines set in as far.
fn hanging(mark: &str, text: &str) -> String {
    let text = format!("{mark}{text}");
    wrap_hanging(&text, WIDTH, &" ".repeat(mark.len())) + "\n"
}
