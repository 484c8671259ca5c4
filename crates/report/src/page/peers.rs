//! What each other tool would have reported of the same tapes.

use crate::Shown;
use fizeau_record::SweepReport;
use serde::Serialize;

/// Other tools' figures, level by level.
#[derive(Debug, Serialize)]
pub(super) struct Peers {
    levels: Vec<Level>,
    /// Why there is nothing, or not of each level; empty where all is there.
    absent: Vec<String>,
}

/// Those of a level.
#[derive(Debug, Serialize)]
struct Level {
    load: String,
    tools: Vec<Tool>,
}

/// Those of a tool.
#[derive(Debug, Serialize)]
struct Tool {
    version: String,
    /// Name, unit, theirs, ours, difference, of what differs from ours or has no counterpart.
    rows: Vec<[String; 5]>,
    /// The names of figures that are as ours; empty where none is.
    same: String,
    /// Why some are absent.
    absences: Vec<String>,
}

impl Peers {
    pub(super) fn of(report: &SweepReport) -> Self {
        let (mut levels, mut unread, mut many, mut made_up) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for level in report.levels() {
            let load = level.load.to_string();
            if level.unseen.as_ref().is_some_and(|unseen| unseen.has_no_gaps()) {
                made_up.push(Shown(report).label(level.load));
                continue;
            }
            match level.detail.as_deref() {
                None => unread.push(Shown(report).label(level.load)),
                Some(detail) if detail.peers.is_empty() => {
                    many.push(Shown(report).label(level.load))
                }
                Some(detail) => {
                    let tool = |peer: &fizeau_record::PeerComparison| {
                        // Most figures of most tools are as ours: named once, they would fill half of the page as rows.
                        let (rows, same) = Shown(peer).parted();
                        let (version, absences) = (peer.version.clone(), Shown(peer).absences());
                        Tool { version, rows, same: same.join(", "), absences }
                    };
                    levels.push(Level { load, tools: detail.peers.iter().map(tool).collect() });
                }
            }
        }
        let absent = [
            ("no tapes were read", unread),
            ("there are no tapes of requests, or too many to hold at once", many),
            ("their figures need the time of each token, which is not known", made_up),
        ];
        let absent = absent.into_iter().filter(|(_, loads)| !loads.is_empty());
        let absent = absent.map(|(why, loads)| format!("None at {}: {why}.", loads.join(", ")));
        Self { levels, absent: absent.collect() }
    }
}
