//! Which rows no other beats, and what else was asked of them.

use fizeau::pareto::{Draws, FrontierKnee, Verdict};

use super::asked::Asked;
use super::sample::{Sample, Set};
use crate::exit::{Fail, Named};

/// What came of a table. All numbers are those of rows, from 0 and rising.
#[derive(Debug)]
pub(super) struct Answer {
    /// The rows that were compared.
    pub(super) rows: Vec<usize>,
    /// The rows that no other beats.
    pub(super) frontier: Vec<usize>,
    /// Those of them that another beats by the figures themselves, but not for certain; none where nobody asked.
    pub(super) undecided: Option<Vec<usize>>,
    /// The layer of each row that was compared.
    pub(super) layers: Option<Vec<usize>>,
    pub(super) hypervolume: Option<f64>,
    /// The knee, whose index is that of its row; or why there is none.
    pub(super) knee: Option<Result<FrontierKnee, String>>,
    /// Each value of a column, with the rows that no other of the same value beats.
    pub(super) by: Option<Vec<(String, Vec<usize>)>>,
}

/// The seed of the draws behind a knee's confidence: the same table gives the same answer.
const SEED: u64 = 0;

impl Answer {
    pub(super) fn of(sample: &Sample, asked: &Asked) -> Result<Self, Fail> {
        let rows = |points: &[usize]| -> Vec<usize> {
            points.iter().filter_map(|&point| sample.rows.get(point).copied()).collect()
        };
        let points = sample.set.values();
        let (frontier, undecided) = match &asked.epsilons {
            Some(epsilons) => (points.epsilon_frontier(epsilons).named("--epsilon")?, Vec::new()),
            None => best(&sample.set, asked.significant),
        };
        let hypervolume = asked.reference.as_ref().map(|reference| points.hypervolume(reference));
        let knee = asked.knee.map(|method| {
            let found = match &sample.set {
                Set::Exact(points) => points.knee(method),
                Set::Uncertain(points) => points.knee(method, Draws::new(SEED)),
            };
            let row = |index: usize| sample.rows.get(index).copied().unwrap_or(index);
            found
                .map(|knee| FrontierKnee { index: row(knee.index), ..knee })
                .map_err(|error| error.to_string())
        });
        let own = |(value, points): &(String, Vec<usize>)| {
            let (own, _) = best(&sample.set.part(points)?, asked.significant);
            let own: Vec<usize> = own.iter().filter_map(|&at| points.get(at).copied()).collect();
            Ok::<_, Fail>((value.clone(), rows(&own)))
        };
        let by = sample.groups.as_ref().map(|groups| groups.iter().map(own).collect());
        Ok(Self {
            rows: sample.rows.clone(),
            frontier: rows(&frontier),
            undecided: asked.significant.then(|| rows(&undecided)),
            layers: asked.layers.then(|| points.layers()),
            hypervolume: hypervolume.transpose().named("--hypervolume")?,
            knee,
            by: by.transpose()?,
        })
    }

    /// The rows of each layer, the frontier first.
    pub(super) fn layer_lists(&self) -> Option<Vec<Vec<usize>>> {
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
    pub(super) fn on_any(&self) -> Vec<usize> {
        let own = self.by.iter().flatten().flat_map(|(_, rows)| rows);
        let mut rows: Vec<usize> = self.frontier.iter().chain(own).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The rows that are shown: with layers all that were compared, else those on any frontier.
    pub(super) fn shown(&self) -> Vec<usize> {
        match self.layers {
            Some(_) => self.rows.clone(),
            None => self.on_any(),
        }
    }

    /// The layer of a row; none where nobody asked, or where it was not compared.
    pub(super) fn layer_of(&self, row: usize) -> Option<usize> {
        let at = self.rows.binary_search(&row).ok()?;
        self.layers.as_ref()?.get(at).copied()
    }

    /// Whether a row is on the frontier of all.
    pub(super) fn is_on_frontier(&self, row: usize) -> bool {
        self.frontier.binary_search(&row).is_ok()
    }

    /// Whether a row is beaten, but not for certain.
    pub(super) fn is_undecided(&self, row: usize) -> bool {
        self.undecided.as_ref().is_some_and(|undecided| undecided.binary_search(&row).is_ok())
    }
}

/// The points that no other beats, and those of them for which that is not decided.
fn best(set: &Set, is_significant: bool) -> (Vec<usize>, Vec<usize>) {
    match set {
        Set::Uncertain(points) if is_significant => {
            let verdicts = points.verdicts();
            let all = |wanted: fn(&Verdict) -> bool| {
                let of = verdicts.iter().enumerate().filter(|(_, verdict)| wanted(verdict));
                of.map(|(point, _)| point).collect::<Vec<_>>()
            };
            (
                all(|verdict| !matches!(verdict, Verdict::Dominated { .. })),
                all(|verdict| *verdict == Verdict::Undecided),
            )
        }
        set => (set.values().frontier(), Vec::new()),
    }
}
