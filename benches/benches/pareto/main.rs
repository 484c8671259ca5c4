//! Frontiers and hypervolumes of many points, ours and those of the Python package moocore in the same run.
//!
//! `cargo xtask bench pareto`. Both get the same points, made up by a generator of ours, and take turns; the median of each
//! counts, and the answers must agree. Ours is timed from a [`fizeau::pareto::Points`], moocore's from an array of numpy. moocore is
//! installed once below `target/`, which needs Python and the network; without it ours are printed alone.

mod frontiers;
mod made_up;
mod rival;
mod table;
mod volumes;

use anyhow::Result;

use rival::Rival;
use table::Table;

fn main() -> Result<()> {
    let rival = Rival::start();
    if let Err(error) = &rival {
        eprintln!("WARNING: NO COMPARISON WITH MOOCORE: {error:#}. What follows is ours alone.");
    }
    let mut table = Table::new(rival.ok());
    frontiers::run(&mut table)?;
    volumes::run(&mut table)
}
