//! The sides of a stored run: of an A/B run both, of any other the one.

use super::{ReadLevel, RunReader, is_level_folder};
use crate::{StoredError, SweepReport};

impl RunReader<'_> {
    /// The levels of the run side by side, by the names of its sides. Of an A/B run these are A and B, each turn a run of the one load;
    /// any other run is one, without a name.
    ///
    /// # Errors
    /// If `sweep.json` cannot be read or is of another schema.
    pub fn sides(&self, levels: Vec<ReadLevel>) -> Result<Vec<(String, SweepReport)>, StoredError> {
        if levels.len() == 1 || levels.iter().all(|level| is_level_folder(&level.name)) {
            return Ok(vec![(String::new(), self.together(levels)?.report())]);
        }
        let setup = self.run.document().setup.clone();
        let reports =
            |levels: Vec<ReadLevel>| levels.into_iter().map(|level| level.report).collect();
        if self.run.document().ab.is_none() {
            return Ok(vec![(String::new(), SweepReport::new(setup, reports(levels), None))]);
        }
        let (b, a): (Vec<ReadLevel>, Vec<ReadLevel>) =
            levels.into_iter().partition(|level| level.name.starts_with("b-"));
        let side = |name: &str, levels: Vec<ReadLevel>| {
            let setup = levels.first().map_or_else(|| setup.clone(), |level| level.setup.clone());
            (name.to_owned(), SweepReport::of_runs(setup, reports(levels), None))
        };
        Ok(vec![side("A", a), side("B", b)])
    }
}
