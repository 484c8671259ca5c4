//! What nobody measures of a device, as its data sheet has it: how much it holds and software sees of that, links, power, prices.

use fizeau_roofline::Device;

use crate::device::DeviceFacts;

/// Sections of a device's file that are the sheet's.
const KEPT: [&str; 4] = ["link", "network", "power", "prices"];

/// What a data sheet has of a device besides, as text of a device file with the sources that it refers to.
#[derive(Debug, Default)]
pub(super) struct SheetText {
    /// Lines of the table of sources.
    pub(super) sources: String,
    /// How much it holds and how much of that software sees, in lines of the table of memory, and in tables below it.
    pub(super) capacity: [String; 2],
    /// The tables behind all others.
    pub(super) others: String,
}

impl SheetText {
    /// What the file of the table has of the part that `facts` are of; empty where it is not in the table.
    pub(super) fn of(facts: &DeviceFacts) -> Self {
        let sheet = facts.data_sheet.as_ref().and_then(|name| Device::file(name).ok());
        let mut text = Self::default();
        let mut sources = Vec::new();
        for section in sheet.map(sections).unwrap_or_default() {
            let name = section.head.trim_matches(['[', ']']);
            let (first, rest) = name.split_once('.').unwrap_or((name, ""));
            match (first, rest) {
                ("sources", "") => sources.clone_from(&section.lines),
                ("memory", "") => {
                    let is_kept = |line: &&&str| ["capacity", "usable"].contains(&key(line));
                    text.capacity[0] = joined(section.lines.iter().filter(is_kept).copied());
                }
                ("memory", "capacity" | "usable") => text.capacity[1] += &section.text(),
                (first, _) if KEPT.contains(&first) => text.others += &section.text(),
                _ => {}
            }
        }
        let used =
            [&text.capacity[0], &text.capacity[1], &text.others].map(String::as_str).concat();
        let is_used = |line: &&str| used.contains(&format!("source = \"{}\"", key(line)));
        text.sources = joined(sources.into_iter().filter(is_used));
        text
    }
}

/// The whole data sheet of the part that `facts` are of, called by another title, with a line more among its sources and without
/// collectives of its own; none where it is not in the table.
pub(super) fn whole(facts: &DeviceFacts, title: &str, source: &str) -> Option<String> {
    let sheet = Device::file(facts.data_sheet.as_ref()?).ok()?;
    let mut text = String::new();
    for section in sections(sheet) {
        match section.head {
            "" => {
                let titled = section.lines.iter().map(|line| match key(line) {
                    "title" => title,
                    _ => *line,
                });
                text += &joined(titled);
            }
            "[sources]" => text += &format!("{}{source}\n", section.text()),
            "[[collectives]]" => {}
            _ => text += &section.text(),
        }
    }
    Some(text)
}

/// A table of a file.
struct Section<'a> {
    head: &'a str,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    fn text(&self) -> String {
        format!("\n{}\n{}", self.head, joined(self.lines.iter().copied()))
    }
}

/// The tables of `text`, without comments and empty lines.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { head: "", lines: Vec::new() }];
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match sections.last_mut() {
            Some(last) if !line.starts_with('[') => last.lines.push(line),
            _ => sections.push(Section { head: line, lines: Vec::new() }),
        }
    }
    sections
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn key(line: &str) -> &str {
    line.split('=').next().unwrap_or_default().trim()
}
