//! Who measures a run.

use fizeau_core::Nanos;
use fizeau_record::MissingShards;
use fizeau_workload::Shard;
use thiserror::Error;

use super::identity::{EnvironmentVariables, ShardIdentity, ShardIdentityError};
use super::meeting::{MeetingPoint, MeetingPointError};
use super::secret::ShardSecret;
use super::spec::ShardSpec;

/// Who measures a run.
#[derive(Debug, Clone)]
pub enum RunShards {
    /// This client alone.
    Alone,
    /// This one measures a share, and others theirs whenever they do; their folders are merged later.
    Apart(Shard),
    /// Several, together, who meet once each has found nothing wrong with what it is to measure.
    Together(Box<ShardSpec>),
}

impl RunShards {
    /// How this one takes part with others.
    #[must_use]
    pub const fn spec(&self) -> Option<&ShardSpec> {
        match self {
            Self::Together(spec) => Some(spec),
            Self::Alone | Self::Apart(_) => None,
        }
    }

    /// Whether this client has the run's report and folder.
    #[must_use]
    pub fn has_report(&self) -> bool {
        self.spec().is_none_or(|spec| spec.shard.index() == 0)
    }
}

/// What somebody says of the shards of a run, beside what launchers say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardRequest {
    /// Which of them this is; none for what variables say.
    pub shard: Option<Shard>,
    /// Where they meet; none for what variables say.
    pub meeting: Option<MeetingPoint>,
    /// How long they wait for one another: by default a minute.
    pub patience: Nanos,
    /// Whether some may be missing: by default not.
    pub missing: MissingShards,
}

impl Default for ShardRequest {
    fn default() -> Self {
        let patience = ShardSpec::PATIENCE;
        Self { shard: None, meeting: None, patience, missing: MissingShards::Refused }
    }
}

/// Why nobody knows who measures a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ShardRequestError {
    /// It is not known which shard this is.
    Identity(#[from] ShardIdentityError),
    /// It is not known where they meet.
    Meeting(#[from] MeetingPointError),
}

impl ShardRequest {
    /// Who measures the run, by this and by the `variables`. Nobody is waited for.
    ///
    /// # Errors
    /// If they do not say which shard this is, or where all meet.
    pub fn find(self, variables: &EnvironmentVariables) -> Result<RunShards, ShardRequestError> {
        let found = ShardIdentity::find(self.shard, variables)?;
        if !found.is_part() {
            return Ok(RunShards::Alone);
        }
        let Some(meeting) = MeetingPoint::find(self.meeting, variables)? else {
            return Ok(RunShards::Apart(found.shard));
        };
        let mut spec = ShardSpec::new(found.shard, meeting);
        (spec.source, spec.patience, spec.missing) = (found.source, self.patience, self.missing);
        spec.secret = ShardSecret::find(variables);
        Ok(RunShards::Together(Box::new(spec)))
    }
}
