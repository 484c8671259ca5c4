//! How each client of a level fared that several measured together.

use fizeau_record::{LevelReport, ShardHealth};

use crate::Shown;
use crate::block::line;
use crate::text::plain;

impl Shown<'_, LevelReport> {
    /// A line for each shard; none where one client measured alone.
    pub(super) fn shard_lines(&self) -> Vec<String> {
        let Some(shards) = &self.shards else { return Vec::new() };
        let each = |one: &ShardHealth| {
            let name = format!("Shard {} ({}):", one.shard, plain(&one.host));
            line(&name, words(one))
        };
        shards.health.iter().map(each).collect()
    }
}

/// What it sent, how late it was, how busy, and what it has of the tail.
fn words(one: &ShardHealth) -> String {
    let mut words = vec![format!("{} sent", one.sent)];
    if one.failed > 0 {
        words.push(format!("{} failed", one.failed));
    }
    let ms = |name: &str, value: Option<f64>| value.map(|ms| format!("{name} {ms:.2} ms"));
    let share = |name: &str, value: Option<f64>| {
        value.map(|share| format!("{name} {:.0} %", 100.0 * share))
    };
    words.extend(ms("began", one.start_late_ms));
    words.extend(ms("late p99", one.send_lateness_p99_ms));
    words.extend(share("CPU", one.cpu_share));
    words.extend(share("stolen", one.steal_share.filter(|share| *share >= 0.005)));
    words.extend(share("tail", one.tail_share));
    words.join(", ")
}
