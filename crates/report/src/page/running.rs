//! The load to run at, with everything that is known of it.

use super::answers::{most_throughput, rates};
use crate::ChartRun;
use crate::Shown;
use fizeau_record::{OperatingPoint, SweepReport};

/// The operating point in a sentence, its goals, the highest load within them, the knee, the sustained run. Each is a line.
pub(super) fn lines(report: &SweepReport) -> Vec<String> {
    let mut lines = Vec::new();
    if *report.operating_point() != OperatingPoint::NoGoal {
        lines.push(format!("Operating point: {}", report.operating_words()));
        lines.extend(report.goal_words());
        lines.extend(
            Shown(report).decision_lines().into_iter().map(|line| line.trim_start().to_owned()),
        );
    }
    let most = most_throughput(report).and_then(|index| {
        let run = ChartRun::of(report, "");
        run.levels.get(index).map(|level| format!("{} at {}", rates(level), level.load))
    });
    lines.extend(most.map(|most| format!("Most throughput: {most}")));
    lines.extend(report.knee().map(|knee| format!("Knee at {knee}")));
    lines.extend(
        Shown(report).sustained_words().into_iter().map(|line| line.trim_start().to_owned()),
    );
    lines.extend(Shown(report).until_lines());
    lines
}
