//! What the marks of tables mean, and what a table had no room for.

use super::table::INTERVALS;
use super::{Line, Terminal};
use crate::Shown;
use crate::sweep::{ONE_RUN_NOTE, SATURATED_NOTE};
use crate::table::{PLUS_MINUS, PLUS_MINUS_NOTE, columns};
use fizeau_record::STAND_IN_NOTE;
use fizeau_record::{LevelReport, SweepReport};

impl Terminal<'_> {
    /// That it is too narrow for the columns of these names; nothing where there is none.
    pub(super) fn lacks(&self, columns: &[String]) -> Option<Line> {
        let shown_by = match self.report {
            Some(_) => "a wider terminal and the report below have all",
            None => "a wider terminal has all",
        };
        let names = columns.join(", ");
        let line = || Line::text(format!("Not shown at this width: {names}; {shown_by}"));
        (!columns.is_empty()).then(line)
    }

    /// The same of the columns with these places among `heads`.
    pub(super) fn not_shown(&self, columns: Vec<usize>, heads: &[&str]) -> Option<Line> {
        let name = |column: usize| heads.get(column).map(|head| (*head).to_owned());
        let names: Vec<String> = columns.into_iter().filter_map(name).collect();
        self.lacks(&names)
    }
}

impl Shown<'_, SweepReport> {
    /// What the marks in the tables of levels mean, of which these columns had no room.
    pub(super) fn say_marks(&self, left_out: &[String], out: &mut Vec<Line>) {
        let marks = match self.operating_point().level() {
            Some(_) => "+ on the frontier, > on it and the operating point",
            None => "+ on the frontier",
        };
        out.push(Line::text(marks.to_owned()));
        if self.has_intervals() && !left_out.iter().any(|name| name == INTERVALS) {
            out.push(Line::text(PLUS_MINUS_NOTE.to_owned()));
        }
        if self.has_stand_in() {
            out.push(Line::text(format!("* {STAND_IN_NOTE}")));
        }
        if self.levels().iter().any(LevelReport::is_saturated) {
            out.push(Line::text(format!("! {SATURATED_NOTE}")));
        }
        if self.levels().iter().any(|level| level.speed_of_light.output_share().is_some()) {
            let note = "SoL: output tokens/s as a share of the speed of light, the bound that the hardware sets";
            out.push(Line::text(note.to_owned()));
        }
        if !self.repeats().is_empty() {
            out.push(Line::text(ONE_RUN_NOTE.to_owned()));
        }
    }

    /// Whether a column of intervals belongs to the tables.
    fn has_intervals(&self) -> bool {
        let levels: Vec<&LevelReport> = self.levels().iter().collect();
        columns(&levels).iter().any(|column| column.head == PLUS_MINUS)
    }
}
