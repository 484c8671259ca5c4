//! What several commands share.

pub(crate) mod calibrate;
pub(crate) mod checklist;
pub(crate) mod client;
pub(crate) mod endpoint;
pub(crate) mod folder;
pub(crate) mod opening;
pub(crate) mod scenario;
pub(crate) mod shards;
pub(crate) mod speed;
pub(crate) mod workload;
