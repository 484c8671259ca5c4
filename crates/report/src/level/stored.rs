//! A level that was read again.

use fizeau_record::{NOT_RECORDED, ReadLevel, RunSetup, SweepReport};

use super::block::goal_lines;
use crate::Shown;
use crate::text::{Verbosity, plain};

impl Shown<'_, ReadLevel> {
    /// A level that was read again as it was shown when it was measured: what was asked and when, the block `vllm` of vLLM's client, and its own,
    /// with the goals of `run` where it is the only level of that. Without a newline after the last line.
    #[must_use]
    pub fn text(&self, vllm: &str, run: Option<&SweepReport>, verbosity: Verbosity) -> String {
        let ReadLevel { name, setup: RunSetup { endpoint, started, .. }, report, .. } = self.0;
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let at = match endpoint.base_url == NOT_RECORDED {
            true => "an endpoint that is not recorded".to_owned(),
            false => format!("{}{}", endpoint.base_url, endpoint.path),
        };
        let asked = format!("{name}{} at {at}", endpoint.model);
        let of_run = if name.is_empty() { "begun" } else { "in a run begun" };
        let when = format!("  {}, {of_run} {started}", endpoint.backend);
        let goals = run.map(goal_lines).unwrap_or_default();
        let block = Shown(report).lines(goals, verbosity);
        format!("{}\n{}\n{vllm}\n{block}", plain(&asked), plain(&when))
    }
}
