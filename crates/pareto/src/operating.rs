//! Choosing among candidates: the best within limits, or the one that misses them least.

use crate::{Axis, Points};

/// On which side of its limit a value must lie. The limit itself is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitRelation {
    /// The value must not fall below the limit.
    AtLeast,
    /// The value must not exceed the limit.
    AtMost,
}

/// A value and the limit that it must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// The value; none where it is not known, which does not meet any limit. NaN counts as not known.
    pub value: Option<f64>,
    /// On which side of the limit it must lie.
    pub relation: LimitRelation,
    /// The limit, in the value's unit. NaN is a limit that nothing meets.
    pub limit: f64,
}

impl Constraint {
    /// How far the value is inside its limit, relative to the limit: 0.2 is a fifth of the limit to spare,
    /// -0.1 a tenth beyond it. None if the value is not known.
    ///
    /// A limit of 0 leaves nothing to be relative to: then the margin is 1 inside it, 0 on it and -1 beyond it.
    ///
    /// ```
    /// use fizeau_pareto::{Constraint, LimitRelation};
    /// let latency = Constraint { value: Some(400.0), relation: LimitRelation::AtMost, limit: 500.0 };
    /// assert_eq!(latency.margin(), Some(0.2));
    /// ```
    #[must_use]
    pub fn margin(&self) -> Option<f64> {
        let value = self.value?;
        let room = match self.relation {
            LimitRelation::AtLeast => value - self.limit,
            LimitRelation::AtMost => self.limit - value,
        };
        if value == self.limit {
            // Also where both are infinite, and their difference is no number.
            return Some(0.0);
        }
        let scale = if self.limit == 0.0 { value } else { self.limit };
        let margin = if room.is_infinite() { room } else { room / scale.abs() };
        (!margin.is_nan()).then_some(margin)
    }
}

/// One candidate to choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingCandidate {
    /// What is to be as large as possible. A candidate whose objective is NaN is never chosen.
    pub objective: f64,
    /// All that must be kept; nothing, for a candidate that is always allowed.
    pub constraints: Vec<Constraint>,
}

impl OperatingCandidate {
    /// The least margin of all constraints, infinite without any; none if a value is not known.
    fn margin(&self) -> Option<f64> {
        let mut margins = self.constraints.iter().map(Constraint::margin);
        margins.try_fold(f64::INFINITY, |least, margin| Some(least.min(margin?)))
    }
}

/// The choice among candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperatingChoice {
    /// A candidate meets all its constraints.
    Met {
        /// The candidate.
        index: usize,
        /// Its distance to the nearest limit, relative to that limit: 0.2 is a fifth to spare. Infinite
        /// without limits, never negative.
        margin: f64,
    },
    /// There are no candidates, or none with an objective that is a number.
    NoCandidates,
    /// No candidate meets all its constraints.
    Unmet {
        /// The candidate that misses them least; none if each lacks a value.
        nearest: Option<usize>,
        /// How far that one is beyond the limit that it misses most, relative to that limit: 0.1 is a tenth
        /// too much or too little. Infinite where there is no nearest.
        over_limit: f64,
    },
}

/// The candidate with the highest objective among those that meet all their constraints.
///
/// Of equal objectives the one with the larger margin wins, and of equal margins the one that comes first.
/// If none meets its constraints, the nearest is the one whose worst miss is least; of equal misses the
/// higher objective wins, then the one that comes first. A candidate of which a value is not known can
/// neither meet nor be nearest.
///
/// ```
/// use fizeau_pareto::{OperatingCandidate, OperatingChoice, Constraint, LimitRelation, operating_point};
/// // Requests per second, within 500 ms.
/// let level = |objective, latency| OperatingCandidate {
///     objective,
///     constraints: vec![Constraint { value: latency, relation: LimitRelation::AtMost, limit: 500.0 }],
/// };
/// let levels = [level(4.0, Some(260.0)), level(7.0, Some(480.0)), level(9.0, Some(900.0)), level(11.0, None)];
/// assert_eq!(operating_point(&levels), OperatingChoice::Met { index: 1, margin: 0.04 });
///
/// let choice = operating_point(&levels[2..]);
/// assert_eq!(choice, OperatingChoice::Unmet { nearest: Some(0), over_limit: 0.8 });
/// ```
#[must_use]
pub fn operating_point(candidates: &[OperatingCandidate]) -> OperatingChoice {
    let judged = candidates.iter().enumerate();
    let judged: Vec<JudgedCandidate> = judged
        .filter(|(_, candidate)| !candidate.objective.is_nan())
        .map(|(index, candidate)| JudgedCandidate {
            index,
            objective: candidate.objective,
            margin: candidate.margin(),
        })
        .collect();
    if judged.is_empty() {
        return OperatingChoice::NoCandidates;
    }
    let met = judged.iter().filter_map(JudgedCandidate::met);
    if let Some((best, margin)) = first_greatest(met, |(one, margin)| (one.objective, *margin)) {
        return OperatingChoice::Met { index: best.index, margin };
    }
    let known = judged.iter().filter_map(|one| Some((one, one.margin?)));
    match first_greatest(known, |(one, margin)| (*margin, one.objective)) {
        Some((nearest, margin)) => {
            OperatingChoice::Unmet { nearest: Some(nearest.index), over_limit: -margin }
        }
        None => OperatingChoice::Unmet { nearest: None, over_limit: f64::INFINITY },
    }
}

/// The limit of the figure of an axis.
///
/// ```
/// use fizeau_pareto::AxisLimit;
/// let latency = AxisLimit::at_most("p99_ms", 500.0);
/// assert_eq!((latency.axis(), latency.limit()), ("p99_ms", 500.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AxisLimit {
    axis: String,
    relation: LimitRelation,
    limit: f64,
}

impl AxisLimit {
    /// The axis's figure must not exceed `limit`.
    #[must_use]
    pub fn at_most(axis: impl Into<String>, limit: f64) -> Self {
        Self { axis: axis.into(), relation: LimitRelation::AtMost, limit }
    }

    /// The axis's figure must not fall below `limit`.
    #[must_use]
    pub fn at_least(axis: impl Into<String>, limit: f64) -> Self {
        Self { axis: axis.into(), relation: LimitRelation::AtLeast, limit }
    }

    /// The name of the axis.
    #[must_use]
    pub fn axis(&self) -> &str {
        &self.axis
    }

    /// The limit, in the axis's unit.
    #[must_use]
    pub const fn limit(&self) -> f64 {
        self.limit
    }
}

/// A table has no axis of a name that was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no axis `{axis}`; there are {axes}")]
pub struct UnknownAxis {
    axis: String,
    axes: String,
}

impl Points {
    /// The [`operating_point`] of these points: the best figure of the axis `best` within `limits`. The choice names a point by
    /// its index among these.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, AxisLimit, OperatingChoice, Points};
    /// let mut levels = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for level in [[4.0, 260.0], [7.0, 480.0], [9.0, 900.0]] {
    ///     levels.push(&level)?;
    /// }
    /// let choice = levels.operating_point("rps", &[AxisLimit::at_most("p99_ms", 500.0)])?;
    /// assert_eq!(choice, OperatingChoice::Met { index: 1, margin: 0.04 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no axis of one of the names.
    pub fn operating_point(
        &self,
        best: &str,
        limits: &[AxisLimit],
    ) -> Result<OperatingChoice, UnknownAxis> {
        let objective = self.place(best)?;
        let sign = -self.axes()[objective].direction().sign();
        let places = limits.iter().map(|limit| Ok((self.place(&limit.axis)?, limit)));
        let places: Vec<(usize, &AxisLimit)> = places.collect::<Result<_, UnknownAxis>>()?;
        let candidate = |point: &[f64]| OperatingCandidate {
            objective: point[objective] * sign,
            constraints: places
                .iter()
                .map(|(place, limit)| Constraint {
                    value: Some(point[*place]),
                    relation: limit.relation,
                    limit: limit.limit,
                })
                .collect(),
        };
        let points = self.figures().chunks_exact(self.axes().len());
        Ok(operating_point(&points.map(candidate).collect::<Vec<_>>()))
    }

    /// The place of the axis of that name.
    fn place(&self, name: &str) -> Result<usize, UnknownAxis> {
        let place = self.axes().iter().position(|axis| axis.name() == name);
        place.ok_or_else(|| {
            let axes: Vec<&str> = self.axes().iter().map(Axis::name).collect();
            UnknownAxis { axis: name.to_owned(), axes: axes.join(", ") }
        })
    }
}

struct JudgedCandidate {
    index: usize,
    objective: f64,
    margin: Option<f64>,
}

impl JudgedCandidate {
    fn met(&self) -> Option<(&Self, f64)> {
        let margin = self.margin.filter(|margin| *margin >= 0.0);
        margin.map(|margin| (self, margin))
    }
}

/// The first of those items that have the greatest key. No key holds a NaN.
fn first_greatest<T>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> (f64, f64)) -> Option<T> {
    items.reduce(|best, item| if key(&item) > key(&best) { item } else { best })
}
