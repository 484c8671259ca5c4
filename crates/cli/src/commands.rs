//! One file a command, and what several of them share.

pub(crate) mod ab;
pub(crate) mod bench;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod devices;
pub(crate) mod diagnose;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod models;
pub(crate) mod pareto;
pub(crate) mod plan;
#[cfg(feature = "probe")]
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod shared;
pub(crate) mod simulate;
pub(crate) mod sol;
pub(crate) mod sweep;
pub(crate) mod systems;
pub(crate) mod watch;
pub(crate) mod whatif;
