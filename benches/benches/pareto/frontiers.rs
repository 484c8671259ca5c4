//! Which of many points no other dominates, and in which layer each lies.

use anyhow::Result;
use fizeau::pareto::Points;
use serde_json::json;

use crate::made_up::{random, sphere};
use crate::table::{Case, Table};

pub(crate) fn run(table: &mut Table) -> Result<()> {
    table.row(&case("frontier of 1,000,000 random, 2-d", random(1_000_000, 2), 2, Some(2.0)))?;
    table.row(&case("frontier of 1,000,000 random, 3-d", random(1_000_000, 3), 3, Some(2.0)))?;
    table.row(&case("frontier of 100,000 random, 4-d", random(100_000, 4), 4, Some(1.0)))?;
    // All of them are on it.
    table.row(&case("frontier of 1,000,000 on a sphere, 2-d", sphere(1_000_000, 2), 2, None))?;
    table.row(&case("frontier of 1,000,000 on a sphere, 3-d", sphere(1_000_000, 3), 3, None))?;
    table.row(&case("frontier of 100,000 on a sphere, 4-d", sphere(100_000, 4), 4, None))?;
    table.row(&layers("layers of 200,000 random, 2-d", random(200_000, 2), 2))?;
    table.row(&layers("layers of 200,000 random, 3-d", random(200_000, 3), 3))
}

fn case(what: &str, figures: Vec<f64>, axes: usize, asked: Option<f64>) -> Case<'_> {
    let theirs = ("is_nondominated", json!({ "keep_weakly": true }));
    Case { what, figures, axes, ours: kept, theirs, agreement: 0.0, asked }
}

fn kept(points: &Points) -> Result<f64> {
    Ok(points.frontier().len() as f64)
}

fn layers(what: &str, figures: Vec<f64>, axes: usize) -> Case<'_> {
    let theirs = ("pareto_rank", json!({}));
    Case { what, figures, axes, ours: ranks, theirs, agreement: 0.0, asked: None }
}

/// The sum of all ranks, which moocore counts from 0.
fn ranks(points: &Points) -> Result<f64> {
    let ranks = points.layers().into_iter().map(|layer| layer - 1);
    Ok(ranks.sum::<usize>() as f64)
}
