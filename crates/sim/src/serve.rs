//! The one outward interface of all simulated engines.

use fizeau_core::{Stamp, Tokens};

use crate::job::{Emission, Job, JobId, SubmitError};

/// A serving engine as a state machine: it is told the time and asked when to be told again.
///
/// Driving one is a loop: submit what has arrived, ask [`Serve::next_event`], wait until then by whatever
/// clock, call [`Serve::advance`]. `advance` may stop at an instant of which more is to be done, so that what
/// its emissions set off can be submitted at that same instant; `next_event` then names the instant again,
/// and a repeated call goes on. That happens finitely often for any instant.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{FixedTiming, Job, JobId, Serve};
///
/// let mut engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
/// engine.submit(Job {
///     id: JobId(0),
///     prompt_tokens: Tokens::new(250),
///     cached_tokens: Tokens::ZERO,
///     output_tokens: Tokens::new(3),
///     at: Stamp::EPOCH,
/// })?;
/// let mut left = Vec::new();
/// while let Some(at) = engine.next_event() {
///     engine.advance(at, &mut |emission| left.push(emission.at.as_nanos() / 1_000_000));
/// }
/// assert_eq!(left, [20, 25, 30]);
/// # Ok::<(), fizeau_sim::SubmitError>(())
/// ```
pub trait Serve {
    /// Takes a job.
    ///
    /// # Errors
    /// If the job could never be served, or its number is in use.
    fn submit(&mut self, job: Job) -> Result<(), SubmitError>;

    /// Gives a job up and frees what it held. A number that is not live is ignored: the job may have just ended.
    fn cancel(&mut self, id: JobId);

    /// When something will happen next, if nothing is submitted or cancelled; none if there is nothing to do.
    /// May lie in the past, if the engine has not been advanced for a while.
    fn next_event(&self) -> Option<Stamp>;

    /// Lets time pass until `to`, giving every token that leaves to `emit`, in order of time.
    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission));

    /// The most tokens, prompt and output together, that one job may have; none if there is no limit.
    fn longest_job(&self) -> Option<Tokens>;
}

impl<T: Serve + ?Sized> Serve for Box<T> {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
        (**self).submit(job)
    }

    fn cancel(&mut self, id: JobId) {
        (**self).cancel(id);
    }

    fn next_event(&self) -> Option<Stamp> {
        (**self).next_event()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        (**self).advance(to, emit);
    }

    fn longest_job(&self) -> Option<Tokens> {
        (**self).longest_job()
    }
}
