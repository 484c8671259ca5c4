//! Which rows no other beats, and what else was asked of them.

use crate::rows::{PointSet, RowPoints};
use crate::{FrontierKnee, FrontierMembership, NoKnee, QueryError, ResamplingSpec};

/// The answer to a [`FrontierQuery`](crate::FrontierQuery). All numbers are row numbers, in rising order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrontierAnswer {
    /// The rows that were compared.
    pub rows: Vec<usize>,
    /// The rows that no other beats.
    pub frontier: Vec<usize>,
    /// Those of them that another beats by the figures themselves, but not for certain; none where nobody asked.
    pub undecided: Option<Vec<usize>>,
    /// The layer of each row that was compared, from 1; none where nobody asked.
    pub layers: Option<Vec<usize>>,
    /// What the rows dominate, up to the reference point; none where nobody asked.
    pub hypervolume: Option<f64>,
    /// The knee, whose index is that of its row; or why there is none. None where nobody asked.
    pub knee: Option<Result<FrontierKnee, NoKnee>>,
    /// Each value of a column, with the rows that no other of the same value beats; none where nobody asked.
    pub by: Option<Vec<(String, Vec<usize>)>>,
}

/// The seed of the draws behind a knee's confidence: the same table gives the same answer.
const SEED: u64 = 0;

impl RowPoints {
    /// What comes of the rows that were taken in.
    ///
    /// # Errors
    /// If epsilons or reference point cannot be meant.
    pub fn answer(&self) -> Result<FrontierAnswer, QueryError> {
        let query = &self.query;
        let row = |point: &usize| self.rows.get(*point).copied();
        let rows = |points: &[usize]| -> Vec<usize> { points.iter().filter_map(row).collect() };
        let points = self.set.values();
        let (frontier, undecided) = match &query.epsilons {
            Some(epsilons) => (points.epsilon_frontier(epsilons)?, Vec::new()),
            None => best(&self.set, query.significant),
        };
        let reference = query.reference.as_ref();
        let knee = query.knee.map(|method| {
            let found = match &self.set {
                PointSet::Exact(points) => points.knee(method),
                PointSet::Uncertain(points) => points.knee(method, ResamplingSpec::new(SEED)),
            };
            found.map(|knee| FrontierKnee { index: row(&knee.index).unwrap_or(knee.index), ..knee })
        });
        let own = |(value, points): &(String, Vec<usize>)| {
            let (own, _) = best(&self.set.part(points)?, query.significant);
            let own: Vec<usize> = own.iter().filter_map(|&at| points.get(at).copied()).collect();
            Ok::<_, QueryError>((value.clone(), rows(&own)))
        };
        let by = query.by.as_ref().map(|_| self.groups.iter().map(own).collect());
        Ok(FrontierAnswer {
            rows: self.rows.clone(),
            frontier: rows(&frontier),
            undecided: query.significant.then(|| rows(&undecided)),
            layers: query.layers.then(|| points.layers()),
            hypervolume: reference.map(|reference| points.hypervolume(reference)).transpose()?,
            knee,
            by: by.transpose()?,
        })
    }
}

impl FrontierAnswer {
    /// The rows of each layer, the frontier first.
    #[must_use]
    pub fn layer_lists(&self) -> Option<Vec<Vec<usize>>> {
        let layers = self.layers.as_ref()?;
        let mut lists = vec![Vec::new(); layers.iter().copied().max().unwrap_or(0)];
        for (&row, &layer) in self.rows.iter().zip(layers) {
            if let Some(list) = layer.checked_sub(1).and_then(|at| lists.get_mut(at)) {
                list.push(row);
            }
        }
        Some(lists)
    }

    /// The rows on any frontier: of all together, or of one value of a column.
    #[must_use]
    pub fn on_any(&self) -> Vec<usize> {
        let own = self.by.iter().flatten().flat_map(|(_, rows)| rows);
        let mut rows: Vec<usize> = self.frontier.iter().chain(own).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The rows that are shown: with layers all that were compared, else those on any frontier.
    #[must_use]
    pub fn shown(&self) -> Vec<usize> {
        match self.layers {
            Some(_) => self.rows.clone(),
            None => self.on_any(),
        }
    }

    /// The layer of a row; none where nobody asked, or where it was not compared.
    #[must_use]
    pub fn layer_of(&self, row: usize) -> Option<usize> {
        let at = self.rows.binary_search(&row).ok()?;
        self.layers.as_ref()?.get(at).copied()
    }

    /// Whether a row is on the frontier of all.
    #[must_use]
    pub fn is_on_frontier(&self, row: usize) -> bool {
        self.frontier.binary_search(&row).is_ok()
    }

    /// Whether a row is beaten, but not for certain.
    #[must_use]
    pub fn is_undecided(&self, row: usize) -> bool {
        self.undecided.as_ref().is_some_and(|undecided| undecided.binary_search(&row).is_ok())
    }

    /// The columns that say in a table of the rows that are [shown](Self::shown) what came of each, beside those of these names: a
    /// name, and a field for each row.
    #[must_use]
    pub fn columns(&self, heads: &[impl AsRef<str>]) -> Vec<(String, Vec<String>)> {
        let rows = self.shown();
        let mut columns = Vec::new();
        let mut add = |name: &str, fields: Vec<String>| {
            // A column of the table itself keeps its name.
            let is_taken = heads.iter().any(|head| head.as_ref() == name);
            columns.push((format!("{}{name}", if is_taken { "pareto_" } else { "" }), fields));
        };
        if let Some(layers) = &self.layers {
            add("layer", layers.iter().map(ToString::to_string).collect());
        }
        if self.by.is_some() {
            let own = self.on_any();
            let place = |row: &usize| match self.is_on_frontier(*row) {
                true => "all".to_owned(),
                false if own.binary_search(row).is_ok() => "own".to_owned(),
                false => String::new(),
            };
            add("frontier", rows.iter().map(place).collect());
        }
        if self.undecided.is_some() {
            let place = |row: &usize| match self.is_on_frontier(*row) {
                true if self.is_undecided(*row) => "undecided".to_owned(),
                true => "frontier".to_owned(),
                false => "dominated".to_owned(),
            };
            add("membership", rows.iter().map(place).collect());
        }
        columns
    }
}

/// The points that no other beats, and those of them for which that is not decided.
fn best(set: &PointSet, is_significant: bool) -> (Vec<usize>, Vec<usize>) {
    match set {
        PointSet::Uncertain(points) if is_significant => {
            let verdicts = points.verdicts();
            let all = |wanted: fn(&FrontierMembership) -> bool| {
                let of = verdicts.iter().enumerate().filter(|(_, verdict)| wanted(verdict));
                of.map(|(point, _)| point).collect::<Vec<_>>()
            };
            (
                all(|verdict| !matches!(verdict, FrontierMembership::Dominated { .. })),
                all(|verdict| *verdict == FrontierMembership::Undecided),
            )
        }
        set => (set.values().frontier(), Vec::new()),
    }
}
