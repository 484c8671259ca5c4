//! What the marks of tables mean, and what a table had no room for.

use super::table::INTERVALS;
use super::{Terminal, TextLine};
use crate::sweep::{ONE_RUN_NOTE, SATURATED_NOTE};
use crate::table::{PLUS_MINUS, PLUS_MINUS_NOTE, columns};
use crate::{Shown, Verbosity};
use fizeau_record::STAND_IN_NOTE;
use fizeau_record::{LevelReport, SweepReport};

impl Terminal<'_> {
    /// That it is too narrow for the columns of these names; nothing where there is none.
    pub(super) fn lacks(&self, columns: &[String]) -> Option<TextLine> {
        let shown_by = match self.report {
            Some(_) => "a wider terminal and the report below have all",
            None => "a wider terminal has all",
        };
        let names = columns.join(", ");
        let line = || TextLine::text(format!("Not shown at this width: {names}; {shown_by}"));
        (!columns.is_empty()).then(line)
    }

    /// The same of the columns with these places among `heads`.
    pub(super) fn not_shown(&self, columns: Vec<usize>, heads: &[&str]) -> Option<TextLine> {
        let name = |column: usize| heads.get(column).map(|head| (*head).to_owned());
        let names: Vec<String> = columns.into_iter().filter_map(name).collect();
        self.lacks(&names)
    }
}

impl Shown<'_, SweepReport> {
    /// What the marks in the tables of levels mean, of which these columns had no room; in brief as one paragraph.
    pub(super) fn say_marks(
        &self,
        terminal: &Terminal<'_>,
        left_out: &[String],
        out: &mut Vec<TextLine>,
    ) {
        let marks = match self.operating_point().level() {
            Some(_) => "+ on the frontier, > the operating point",
            None => "+ on the frontier",
        };
        let mut notes = vec![marks.to_owned()];
        if self.has_intervals() && !left_out.iter().any(|name| name == INTERVALS) {
            notes.push(PLUS_MINUS_NOTE.to_owned());
        }
        if self.has_stand_in() {
            notes.push(format!("* {STAND_IN_NOTE}"));
        }
        if self.levels().iter().any(LevelReport::is_saturated) {
            notes.push(format!("! {SATURATED_NOTE}"));
        }
        if self.levels().iter().any(|level| level.speed_of_light.output_share().is_some()) {
            notes.push(match (self.is_by_even_routing(), terminal.verbosity) {
                (false, Verbosity::Brief) => "SoL: share of the speed of light".to_owned(),
                _ => format!("SoL: output tokens/s as a share of {}", self.light_words()),
            });
            let brief = terminal.verbosity == Verbosity::Brief;
            notes.extend(self.data_sheet_words().filter(|_| brief));
        }
        if !self.repeats().is_empty() {
            notes.push(ONE_RUN_NOTE.to_owned());
        }
        match terminal.verbosity {
            Verbosity::Brief => {
                let lacks = format!("not shown at this width: {}", left_out.join(", "));
                notes.extend((!left_out.is_empty()).then_some(lacks));
                out.push(TextLine::text(notes.join("; ")));
            }
            Verbosity::Full => {
                out.extend(notes.into_iter().map(TextLine::text));
                out.extend(terminal.lacks(left_out));
            }
        }
    }

    /// What the speed of light in tables of levels is.
    pub(crate) fn light_words(&self) -> &'static str {
        match self.is_by_even_routing() {
            true => "what the hardware could do where tokens choose their experts evenly",
            false => "the speed of light, the bound that the hardware sets",
        }
    }

    fn is_by_even_routing(&self) -> bool {
        let lights = self.levels().iter().filter_map(|level| level.speed_of_light.comparison());
        lights.filter_map(|light| light.even_routing).next().is_some()
    }

    /// Whether a column of intervals belongs to the tables.
    fn has_intervals(&self) -> bool {
        let levels: Vec<&LevelReport> = self.levels().iter().collect();
        columns(&levels).iter().any(|column| column.head == PLUS_MINUS)
    }
}
