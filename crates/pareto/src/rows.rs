//! The rows of a table as points.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{
    Axis, FigureEstimate, FigureEstimateError, FrontierQuery, Points, PointsError, QueryError,
    UncertainPoints,
};

/// What a field of a row says, by the name of its column; none where there is no such column or the field is empty.
type RowFields<'a> = dyn Fn(&str) -> Option<Cow<'a, str>> + 'a;

/// The rows of a table as points, for a [`FrontierQuery`].
#[derive(Debug, Clone)]
pub struct RowPoints {
    pub(crate) query: FrontierQuery,
    /// The row of each point.
    pub(crate) rows: Vec<usize>,
    pub(crate) set: PointSet,
    /// The points of each value of a column, in the order in which values first come.
    pub(crate) groups: Vec<(String, Vec<usize>)>,
    places: HashMap<String, usize>,
    /// Of each axis the columns of its interval's ends, where there are such.
    ends: Vec<Option<[String; 2]>>,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// It has no figure on an axis.
    #[error("`{axis}` is empty")]
    Absent {
        /// The axis.
        axis: String,
    },
    /// What it has there is no number.
    #[error("`{axis}` is `{text}`, which is not a number")]
    NotANumber {
        /// The axis.
        axis: String,
        /// What it has.
        text: String,
    },
    /// A figure lies outside of its interval.
    #[error("`{axis}`: {error}")]
    Interval {
        /// The axis.
        axis: String,
        /// What is wrong.
        error: FigureEstimateError,
    },
}

impl RowError {
    /// Whether it lacks a number on an axis, so that it can be left out.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        !matches!(self, Self::Interval { .. })
    }
}

impl RowPoints {
    /// No rows yet, of a table with columns of these names.
    ///
    /// # Errors
    /// If the axes are none, or intervals are to count and the table has none.
    pub fn new(query: FrontierQuery, heads: &[impl AsRef<str>]) -> Result<Self, QueryError> {
        let has = |name: &String| heads.iter().any(|head| head.as_ref() == name);
        let wants_intervals = query.significant || query.knee.is_some();
        let ends = |axis: &Axis| {
            let both = ["low", "high"].map(|end| format!("{}_{end}", axis.name()));
            (wants_intervals && both.iter().all(has)).then_some(both)
        };
        let ends: Vec<Option<[String; 2]>> = query.axes.iter().map(ends).collect();
        let has_intervals = ends.iter().any(Option::is_some);
        if query.significant && !has_intervals {
            let axis = query.axes.first().map_or("", Axis::name).to_owned();
            return Err(QueryError::NoInterval { axis });
        }
        let set = PointSet::new(query.axes.clone(), has_intervals)?;
        let (rows, groups, places) = (Vec::new(), Vec::new(), HashMap::new());
        Ok(Self { query, rows, set, groups, places, ends })
    }

    /// The columns that it reads.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let axes = self.query.axes.iter().map(Axis::name);
        let ends = self.ends.iter().flatten().flatten().map(String::as_str);
        axes.chain(ends).chain(self.query.by.as_deref()).collect()
    }

    /// Whether there is no row with a number on each axis.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes in the row of this number, which must be above those before it.
    ///
    /// # Errors
    /// If it lacks a figure, or one lies outside of its interval.
    pub fn add(&mut self, row: usize, fields: &RowFields<'_>) -> Result<(), RowError> {
        let figure = |axis: &Axis| {
            let text = fields(axis.name());
            let number = text.as_deref().and_then(number);
            let axis = axis.name().to_owned();
            number.ok_or_else(|| match text {
                None => RowError::Absent { axis },
                Some(text) => RowError::NotANumber { axis, text: text.into_owned() },
            })
        };
        let figures: Vec<f64> = self.query.axes.iter().map(figure).collect::<Result<_, _>>()?;
        // As many figures as axes, none of them NaN: they are points.
        match &mut self.set {
            PointSet::Exact(points) => drop(points.push(&figures)),
            PointSet::Uncertain(points) => {
                let all = self.query.axes.iter().zip(&self.ends).zip(figures);
                let estimates =
                    all.map(|((axis, ends), value)| estimate(axis, ends, value, fields));
                drop(points.push(&estimates.collect::<Result<Vec<_>, _>>()?));
            }
        }
        if let Some(by) = &self.query.by {
            let value = fields(by).unwrap_or_default();
            let place = *self.places.entry(value.to_string()).or_insert(self.groups.len());
            if place == self.groups.len() {
                self.groups.push((value.into_owned(), Vec::new()));
            }
            self.groups[place].1.push(self.rows.len());
        }
        self.rows.push(row);
        Ok(())
    }
}

/// With its interval; where an end is missing the figure is exact.
fn estimate(
    axis: &Axis,
    ends: &Option<[String; 2]>,
    value: f64,
    fields: &RowFields<'_>,
) -> Result<FigureEstimate, RowError> {
    let end = |name: &String| number(&fields(name)?);
    let found = ends.as_ref().and_then(|[low, high]| Some((end(low)?, end(high)?)));
    let (low, high) = found.unwrap_or((value, value));
    let wrong = |error| RowError::Interval { axis: axis.name().to_owned(), error };
    FigureEstimate::new(value, low, high).map_err(wrong)
}

/// What a field says; none for NaN, which cannot be compared.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| !number.is_nan())
}

/// Points, with intervals or without.
#[derive(Debug, Clone)]
pub(crate) enum PointSet {
    Exact(Points),
    Uncertain(UncertainPoints),
}

impl PointSet {
    fn new(axes: Vec<Axis>, has_intervals: bool) -> Result<Self, PointsError> {
        Ok(match has_intervals {
            true => Self::Uncertain(UncertainPoints::new(axes)?),
            false => Self::Exact(Points::new(axes)?),
        })
    }

    /// The figures themselves.
    pub(crate) const fn values(&self) -> &Points {
        match self {
            Self::Exact(points) => points,
            Self::Uncertain(points) => points.values(),
        }
    }

    /// The points of these indices.
    pub(crate) fn part(&self, indices: &[usize]) -> Result<Self, PointsError> {
        let axes = self.values().axes().to_vec();
        Ok(match self {
            Self::Exact(all) => {
                let mut part = Points::new(axes)?;
                let own = indices.iter().filter_map(|&index| all.point(index));
                own.into_iter().try_for_each(|point| part.push(point))?;
                Self::Exact(part)
            }
            Self::Uncertain(all) => {
                let mut part = UncertainPoints::new(axes)?;
                let own = indices.iter().filter_map(|&index| all.point(index));
                own.into_iter().try_for_each(|point| part.push(point))?;
                Self::Uncertain(part)
            }
        })
    }
}
