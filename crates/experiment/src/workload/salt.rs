//! What sets a run's prompts apart from another's.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use fizeau_workload::Salt;

use super::{PromptSource, WorkloadSpec};

/// Which prompts a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptSalt {
    /// Its own, so that no prefix cache of an earlier run helps.
    #[default]
    Fresh,
    /// Those of the runs with this number; of 0, those of [`Reused`](Self::Reused).
    Given(u64),
    /// Those of every other such run with the same seed.
    Reused,
}

impl PromptSalt {
    /// Whether an earlier run's prompts were asked for.
    pub const fn is_reused(self) -> bool {
        matches!(self, Self::Reused | Self::Given(0))
    }

    /// The number that stands for it, drawn where there is none yet.
    fn draw(self) -> Salt {
        match self {
            Self::Reused => Salt::NONE,
            Self::Given(number) => Salt(number),
            Self::Fresh => fresh(),
        }
    }

    /// The salt of the probes beside a load of `salt`. The draws of vLLM's have none, and probes are not among them.
    pub(crate) fn of_probes(self, salt: Salt) -> Salt {
        if salt != Salt::NONE || self.is_reused() { salt } else { self.draw() }
    }
}

impl WorkloadSpec {
    /// The salt that was asked for, or a fresh one. vLLM's draws have none.
    pub(super) fn drawn_salt(&self) -> Salt {
        match self.source {
            PromptSource::VllmRandom(_) => Salt::NONE,
            _ => self.salt.draw(),
        }
    }
}

/// A number that no earlier run had, but for one chance in four thousand million. It is short enough to be typed.
fn fresh() -> Salt {
    let random = RandomState::new().hash_one(SystemTime::now());
    Salt((random >> 32).max(1))
}

#[cfg(test)]
mod tests {
    use fizeau_workload::Salt;

    use super::PromptSalt;

    #[test]
    fn probes_have_the_salt_of_the_load_where_it_has_one() {
        for own in [PromptSalt::Fresh, PromptSalt::Given(7), PromptSalt::Reused] {
            assert_eq!(own.of_probes(Salt(3)), Salt(3));
        }
        assert_eq!(PromptSalt::Given(7).of_probes(Salt::NONE), Salt(7));
        assert_eq!(PromptSalt::Given(0).of_probes(Salt::NONE), Salt::NONE);
        assert_eq!(PromptSalt::Reused.of_probes(Salt::NONE), Salt::NONE);
        assert_ne!(PromptSalt::Fresh.of_probes(Salt::NONE), Salt::NONE);
    }
}
