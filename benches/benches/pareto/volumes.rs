//! Hypervolumes, and what each point adds to them.

use anyhow::Result;
use fizeau::pareto::Points;
use serde_json::json;

use crate::made_up::sphere;
use crate::table::{Case, Table};

/// Worse than every point of a sphere in every axis.
const REFERENCE: [f64; 6] = [0.1; 6];

pub(crate) fn run(table: &mut Table) -> Result<()> {
    table.row(&volume("hypervolume of 20,000 on a sphere, 3-d", 20_000, 3, Some(1.0)))?;
    table.row(&volume("hypervolume of 1,000 on a sphere, 4-d", 1_000, 4, None))?;
    table.row(&volume("hypervolume of 200 on a sphere, 5-d", 200, 5, None))?;
    table.row(&volume("hypervolume of 100 on a sphere, 6-d", 100, 6, None))?;
    Ok(())
}

fn volume(what: &str, points: usize, axes: usize, asked: Option<f64>) -> Case<'_> {
    let theirs = ("hypervolume", json!({ "ref": &REFERENCE[..axes] }));
    let figures = sphere(points, axes);
    Case { what, figures, axes, ours: measured, theirs, agreement: 1e-12, asked }
}

fn measured(points: &Points) -> Result<f64> {
    Ok(points.hypervolume(&REFERENCE[..points.axes().len()])?)
}
