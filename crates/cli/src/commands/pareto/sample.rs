//! The rows of a table as points.

use std::collections::HashMap;

use fizeau::interop::{Table, TableField as Field};
use fizeau::pareto::{Axis, Estimate, Points, UncertainPoints};

use super::asked::Asked;
use crate::exit::{Fail, Named};

/// Rows as points: all that can be compared.
#[derive(Debug)]
pub(super) struct Sample {
    /// The row of each point.
    pub(super) rows: Vec<usize>,
    pub(super) set: Set,
    /// The points of each value of a column, in the order in which values first come.
    pub(super) groups: Option<Vec<(String, Vec<usize>)>>,
    /// The rows that lack a number on an axis.
    pub(super) skipped: Vec<usize>,
}

/// Points, with intervals or without.
#[derive(Debug)]
pub(super) enum Set {
    Exact(Points),
    Uncertain(UncertainPoints),
}

impl Set {
    pub(super) fn new(axes: Vec<Axis>, has_intervals: bool) -> Result<Self, Fail> {
        Ok(match has_intervals {
            true => Self::Uncertain(UncertainPoints::new(axes).map_err(Fail::usage)?),
            false => Self::Exact(Points::new(axes).map_err(Fail::usage)?),
        })
    }

    /// The figures themselves.
    pub(super) const fn values(&self) -> &Points {
        match self {
            Self::Exact(points) => points,
            Self::Uncertain(points) => points.values(),
        }
    }

    /// The points of these indices.
    pub(super) fn part(&self, indices: &[usize]) -> Result<Self, Fail> {
        let mut part =
            Self::new(self.values().axes().to_vec(), matches!(self, Self::Uncertain(_)))?;
        for &index in indices {
            match (&mut part, self) {
                (Self::Exact(part), Self::Exact(all)) => {
                    part.push(all.point(index).unwrap_or_default())
                }
                (Self::Uncertain(part), Self::Uncertain(all)) => {
                    part.push(all.point(index).unwrap_or_default())
                }
                _ => Ok(()),
            }
            .map_err(Fail::broken)?;
        }
        Ok(part)
    }
}

/// Where the fields of a row are, as they are read.
struct Places<'a> {
    names: Vec<String>,
    axes: &'a [Axis],
    /// Of each axis where its interval's ends are.
    ends: Vec<Option<[usize; 2]>>,
    by: Option<usize>,
}

impl<'a> Places<'a> {
    fn new(table: &Table, asked: &'a Asked) -> Result<Self, Fail> {
        let axes = &*asked.axes;
        let mut names: Vec<String> = axes.iter().map(|axis| axis.name().to_owned()).collect();
        let mut ends = vec![None; axes.len()];
        if asked.wants_intervals() {
            let heads = table.heads();
            for (axis, ends) in axes.iter().zip(&mut ends) {
                let both = ["low", "high"].map(|end| format!("{}_{end}", axis.name()));
                if both.iter().all(|name| heads.contains(name)) {
                    *ends = Some([names.len(), names.len() + 1]);
                    names.extend(both);
                }
            }
            if asked.significant && ends.iter().all(Option::is_none) {
                let wanted = axes.first().map_or("", Axis::name);
                return Err(Fail::usage(format!(
                    "--significant: no axis has an interval; the table needs columns such as `{wanted}_low` and `{wanted}_high`"
                )));
            }
        }
        let by = asked.by.as_ref().map(|by| {
            names.push(by.clone());
            names.len() - 1
        });
        Ok(Self { names, axes, ends, by })
    }

    /// The figures of a row, or what is wrong with it.
    fn figures(&self, fields: &[Field<'_>]) -> Result<Vec<f64>, String> {
        let figure = |(axis, field): (&Axis, &Field<'_>)| {
            field.number().ok_or_else(|| match field {
                Field::Absent => format!("`{}` is empty", axis.name()),
                field => format!("`{}` is `{}`, which is not a number", axis.name(), field.words()),
            })
        };
        self.axes.iter().zip(fields).map(figure).collect()
    }

    /// The same with intervals; where an end is missing a figure is exact.
    fn estimates(&self, figures: &[f64], fields: &[Field<'_>]) -> Result<Vec<Estimate>, String> {
        let estimate = |((axis, &value), ends): ((&Axis, &f64), &Option<[usize; 2]>)| {
            let number = |at: usize| fields.get(at).and_then(Field::number);
            let found = ends.and_then(|[low, high]| Some((number(low)?, number(high)?)));
            let (low, high) = found.unwrap_or((value, value));
            Estimate::new(value, low, high).map_err(|error| format!("`{}`: {error}", axis.name()))
        };
        self.axes.iter().zip(figures).zip(&self.ends).map(estimate).collect()
    }
}

impl Sample {
    /// All rows of `table` that have a number on each axis.
    ///
    /// # Errors
    /// If there is no such column, or a row lacks a number and that is not to be passed over.
    pub(super) fn read(table: &Table, asked: &Asked) -> Result<Self, Fail> {
        let places = Places::new(table, asked)?;
        let has_intervals = places.ends.iter().any(Option::is_some);
        let mut set = Set::new(asked.axes.clone(), has_intervals)?;
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        let mut groups = Groups::default();
        let names: Vec<&str> = places.names.iter().map(String::as_str).collect();
        table.each::<Fail>(&names, |row, fields| {
            let figures = match places.figures(fields) {
                Ok(figures) => figures,
                Err(_) if asked.skip_incomplete => {
                    skipped.push(row);
                    return Ok(());
                }
                Err(what) => {
                    let remedy = "--skip-incomplete leaves such rows out";
                    return Err(table.wrong(row, format!("{what}; {remedy}")).into());
                }
            };
            if let Some(field) = places.by.and_then(|by| fields.get(by)) {
                groups.add(&field.words(), rows.len());
            }
            rows.push(row);
            match &mut set {
                Set::Exact(points) => points.push(&figures).map_err(Fail::usage),
                Set::Uncertain(points) => {
                    let estimates = places.estimates(&figures, fields);
                    let estimates = estimates.map_err(|what| table.wrong(row, what))?;
                    points.push(&estimates).named(table.name())
                }
            }
        })?;
        Ok(Self { rows, set, groups: places.by.map(|_| groups.all), skipped })
    }
}

/// Points by the value of a column.
#[derive(Default)]
struct Groups {
    all: Vec<(String, Vec<usize>)>,
    places: HashMap<String, usize>,
}

impl Groups {
    fn add(&mut self, value: &str, point: usize) {
        let place = match self.places.get(value) {
            Some(&place) => place,
            None => {
                self.places.insert(value.to_owned(), self.all.len());
                self.all.push((value.to_owned(), Vec::new()));
                self.all.len() - 1
            }
        };
        if let Some((_, points)) = self.all.get_mut(place) {
            points.push(point);
        }
    }
}
