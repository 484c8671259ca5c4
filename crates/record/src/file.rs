//! What the files of a run's folder are called.

/// What was asked, and of whom.
pub(crate) const RUN: &str = "run.json";
/// What a level is to be.
pub(crate) const LEVEL: &str = "level.json";
/// The requests of a level.
pub(crate) const TAPES: &str = "tapes.jsonl";
/// The pages that servers gave while a level lasted.
pub(crate) const TELEMETRY: &str = "telemetry.jsonl";
/// What engines told of their forward passes while a level lasted.
pub(crate) const FORWARD_PASSES: &str = "forward-pass.jsonl";
/// What a level came to.
pub(crate) const SUMMARY: &str = "summary.json";
/// One client's part of a level.
pub(crate) const SHARD: &str = "shard.json";
/// A level of another tool.
pub(crate) const IMPORTED: &str = "imported.json";
/// What levels came to side by side.
pub(crate) const SWEEP: &str = "sweep.json";
/// What a search came to.
pub(crate) const SEARCH: &str = "search.json";
/// Its text.
pub(crate) const SEARCH_TEXT: &str = "search.txt";
/// What an A/B run came to.
pub(crate) const AB: &str = "ab.json";
/// What several configurations came to.
pub(crate) const WHATIF: &str = "whatif.json";
