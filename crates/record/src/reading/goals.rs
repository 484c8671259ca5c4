//! The goals that the files of a run have.

use fizeau_metrics::{Slo, SloError};

use super::sweep;
use crate::{StoredError, StoredRun};

/// The goals of a stored run.
#[derive(Debug, Default)]
pub(crate) struct StoredGoals {
    /// None where there are none, or all are set aside.
    pub(crate) slo: Option<Slo>,
    /// Which of them are set aside, and why, in a sentence each.
    pub(crate) set_aside: Vec<String>,
}

impl StoredGoals {
    /// Those that are written in `text`. One whose sign is the wrong way round was taken once, and refuses no run; what is no goal does.
    fn read(text: &str) -> Result<Self, SloError> {
        let (mut kept, mut set_aside) = (Vec::new(), Vec::new());
        for piece in text.split(',') {
            match (piece.parse::<Slo>(), turned(piece).parse::<Slo>()) {
                (Ok(_), _) => kept.push(piece),
                (Err(error), Ok(_)) => set_aside.push(format!("set aside: {error}")),
                (Err(error), Err(_)) => return Err(error),
            }
        }
        let slo = (!kept.is_empty()).then(|| kept.join(",").parse()).transpose()?;
        Ok(Self { slo, set_aside })
    }
}

impl StoredRun {
    /// The goals of its levels, by `sweep.json` if that is there. One level of a sweep or of an A/B run has none by itself.
    pub(crate) fn goals(&self) -> Result<StoredGoals, StoredError> {
        let is_whole = self.document_path().parent() == Some(self.path());
        let read = |text: Option<&str>| text.map(StoredGoals::read).transpose();
        let goals = match sweep::read(self)? {
            Some(sweep) => {
                read(sweep.slo.as_deref()).map_err(|error| sweep::wrong(self, "slo", error))
            }
            None => read(self.document().slo.as_deref().filter(|_| is_whole))
                .map_err(|error| self.wrong("slo", error)),
        };
        Ok(goals?.unwrap_or_default())
    }
}

/// A goal with its sign the other way round.
fn turned(goal: &str) -> String {
    let turn = |sign| match sign {
        '<' => '>',
        '>' => '<',
        other => other,
    };
    goal.chars().map(turn).collect()
}
