//! How this client fared in its part of a level.

use fizeau_core::{Stamp, Tape};
use fizeau_harness::{DriveNotice, LevelRun, Observer};
use fizeau_record::{LevelReport, ShardHealth, host_name};
use fizeau_transport::wall_clock_error;
use fizeau_workload::Shard;

/// Notes when the first request was to leave, and when it left.
#[derive(Debug, Default)]
pub(crate) struct FirstRelease(pub(crate) Option<(Stamp, Stamp)>);

impl FirstRelease {
    pub(crate) fn add(&mut self, tape: &Tape) {
        let (intended, released) = (tape.marks.intended, tape.marks.released);
        if self.0.is_none_or(|(first, _)| intended < first) {
            self.0 = Some((intended, released));
        }
    }
}

impl Observer for FirstRelease {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.add(tape);
        }
    }
}

/// What is known of a shard by itself, from its own part of the level.
pub(crate) fn of_part(shard: Shard, run: &LevelRun, report: &LevelReport) -> ShardHealth {
    let mut health = ShardHealth::of(shard.to_string());
    health.host = host_name();
    health.wall_clock_error_ms = wall_clock_error().map(|error| error.to_millis().get());
    health.of_level(&run.summary, &run.client.watch, &report.validity)
}
