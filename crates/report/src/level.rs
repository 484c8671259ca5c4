//! A level as a block of named figures.

mod block;
mod goodput;
mod proof;
mod stored;
mod until;
mod window;
mod workload;

pub(crate) use goodput::counted_of;
pub(crate) use proof::tail;
pub(crate) use window::{PLATEAU_NOTE, not_steady, part_cells, part_name};
