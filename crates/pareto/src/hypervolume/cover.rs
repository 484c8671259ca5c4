//! How much of a plane is covered, corner by corner.

use super::ranks::Ranks;

/// What corners cover of a plane, less being better in both dimensions: a staircase of those that no other dominates.
///
/// All that will ever come is known beforehand by its x, so that a corner is named by its rank in x and finding
/// its neighbours needs no search through floats.
#[derive(Debug)]
pub(crate) struct Cover {
    /// By rank; a wall before the first rank and one after the last spare all questions of ends.
    x: Vec<f64>,
    y: Vec<f64>,
    standing: Ranks,
}

impl Cover {
    /// No corners yet, of those at `x`, lowest first, counted from rank 1. What is beyond `reference` is not covered.
    pub(crate) fn new(x: impl IntoIterator<Item = f64>, reference: [f64; 2]) -> Self {
        let mut x: Vec<f64> = std::iter::once(f64::NEG_INFINITY).chain(x).collect();
        x.push(reference[0]);
        let mut y = vec![f64::NEG_INFINITY; x.len()];
        y[0] = reference[1];
        let mut cover = Self { standing: Ranks::below(x.len()), x, y };
        cover.clear();
        cover
    }

    /// Takes all corners away.
    pub(crate) fn clear(&mut self) {
        self.standing.clear();
        self.standing.insert(0);
        self.standing.insert(self.x.len() - 1);
    }

    /// Adds the corner at the x of `rank`, not left of any other, and at `y`, which is below `lowest`, the lowest so far;
    /// gives the area that only it covers.
    pub(crate) fn append(&mut self, rank: usize, y: f64, lowest: f64) -> f64 {
        self.y[rank] = y;
        self.standing.insert(rank);
        (self.x[self.x.len() - 1] - self.x[rank]) * (lowest - y)
    }

    /// Adds the corner at the x of `rank` and at `y`; gives the area that only it covers, 0 if it is dominated.
    pub(crate) fn add(&mut self, rank: usize, y: f64) -> f64 {
        let wall = self.x.len() - 1;
        let mut height = self.y[self.standing.at_most(rank).unwrap_or(0)];
        if height <= y {
            return 0.0;
        }
        let (mut left, mut area) = (self.x[rank], 0.0);
        loop {
            let next = self.standing.after(rank).unwrap_or(wall);
            area += (self.x[next] - left) * (height - y);
            // The wall is lower than all.
            if self.y[next] < y {
                break;
            }
            (left, height) = (self.x[next], self.y[next]);
            self.standing.remove(next);
        }
        self.y[rank] = y;
        self.standing.insert(rank);
        area
    }
}
