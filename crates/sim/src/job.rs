//! What an engine is given, and what it gives back.

use fizeau_core::{Nanos, Stamp, Tokens};

/// The number of a job; whoever submits chooses it. No two live jobs of an engine share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// One request, as an engine sees it: lengths and an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// Length of the prompt, at least 1.
    pub prompt_tokens: Tokens,
    /// How many of them, from the first, need not be read, because a prefix cache holds them. The last is always read, so
    /// that all of them means all but one.
    pub cached_tokens: Tokens,
    /// How many tokens to generate, at least 1. A simulated model never stops by itself.
    pub output_tokens: Tokens,
    /// When it arrived. May lie ahead of the engine; jobs are served in the order of these instants.
    pub at: Stamp,
}

impl Job {
    /// Prompt and output together: what the job needs of the key-value cache at its end.
    #[must_use]
    pub fn total_tokens(&self) -> Tokens {
        self.prompt_tokens + self.output_tokens
    }

    /// Whether an engine that takes jobs of up to `limit` tokens can take this one.
    pub(crate) fn check(&self, limit: Option<Tokens>) -> Result<(), SubmitError> {
        let (prompt, output) = (self.prompt_tokens, self.output_tokens);
        if prompt == Tokens::ZERO || output == Tokens::ZERO {
            return Err(SubmitError::Empty { prompt, output });
        }
        match limit {
            Some(limit) if self.total_tokens() > limit => {
                Err(SubmitError::TooLong { prompt, output, limit })
            }
            _ => Ok(()),
        }
    }
}

/// One token leaving an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// Whose token it is.
    pub job: JobId,
    /// When it left.
    pub at: Stamp,
    /// Its number within the job, from 0.
    pub index: u64,
    /// Whether it was the job's last; the job is then over and its place is free.
    pub last: bool,
    /// What the job went through before.
    pub timing: JobTiming,
}

/// The stations of a job up to its first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTiming {
    /// When the job arrived.
    pub submitted: Stamp,
    /// When it was given a slot: the start of the step with the first chunk of its prompt.
    pub admitted: Stamp,
    /// When its first token left.
    pub first_token: Stamp,
}

impl JobTiming {
    /// Time spent waiting for a slot.
    #[must_use]
    pub const fn queue(&self) -> Nanos {
        self.admitted.saturating_since(self.submitted)
    }

    /// Time spent on the prompt, first token included.
    #[must_use]
    pub const fn prefill(&self) -> Nanos {
        self.first_token.saturating_since(self.admitted)
    }
}

/// Why an engine refused a job. Nothing was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// A live job has the same number.
    #[error("job {} is already in the engine: give each live job a number of its own", .0.0)]
    DuplicateId(JobId),
    /// There is nothing to read or nothing to write.
    #[error(
        "a job needs at least one prompt token and one output token, not {prompt} and {output}"
    )]
    Empty {
        /// Prompt length asked for.
        prompt: Tokens,
        /// Output length asked for.
        output: Tokens,
    },
    /// It could never be served.
    #[error(
        "{prompt} prompt tokens and {output} output tokens are {} together, more than the {limit} that one \
         request may have",
        *.prompt + *.output
    )]
    TooLong {
        /// Prompt length asked for.
        prompt: Tokens,
        /// Output length asked for.
        output: Tokens,
        /// The most that prompt and output may have together.
        limit: Tokens,
    },
}
