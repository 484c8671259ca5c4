//! Closed and open loops in one sweep: which levels are of one kind, and what their loads are called beside one another.
use crate::Shown;
use fizeau_core::LevelLoad;
use fizeau_record::SweepReport;

impl Shown<'_, SweepReport> {
    /// The indices of the levels, those of each kind of load by themselves.
    pub(crate) fn kinds(&self) -> Vec<Vec<usize>> {
        let mut kinds: Vec<(LevelLoad, Vec<usize>)> = Vec::new();
        for (i, level) in self.levels().iter().enumerate() {
            match kinds.iter_mut().find(|(kind, _)| kind.kind() == level.load.kind()) {
                Some((_, levels)) => levels.push(i),
                None => kinds.push((level.load, vec![i])),
            }
        }
        // Without a level there is a table anyway, of which only the heads are shown.
        if kinds.is_empty() { vec![Vec::new()] } else { kinds.into_iter().map(|k| k.1).collect() }
    }

    /// Whether it has both closed and open loops.
    pub(crate) fn is_mixed(&self) -> bool {
        self.kinds().len() > 1
    }

    /// A load in a list: the number alone, but for a rate beside concurrencies, `12.5/s`.
    pub(crate) fn label(&self, load: LevelLoad) -> String {
        match load {
            LevelLoad::Rate(_) if self.is_mixed() => format!("{}/s", load.number()),
            _ => load.number(),
        }
    }

    /// The load of the level with this index, in a list.
    pub(crate) fn label_of(&self, level: usize) -> String {
        self.levels().get(level).map_or_else(String::new, |level| self.label(level.load))
    }
}
