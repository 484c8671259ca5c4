//! One request before the first, so that a dead endpoint is one clear line and not a thousand failures.

use std::error::Error;

use fizeau_core::{Failure, Outcome, Release, Request, Tape, Timer, Transport};

/// Why a run should not begin.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError<E: Error> {
    /// The request cannot be expressed for the endpoint.
    #[error(transparent)]
    Unsendable(E),
    /// The endpoint failed the request.
    #[error("{0}")]
    Failed(Failure),
}

/// Sends one request and gives its tape if the endpoint carried it out by the strict rule.
///
/// The future is [`Send`] if the transport's are; that of an HTTP transport is not, see
/// [`on_own_thread`](crate::on_own_thread). The request counts nowhere. It also shows what to expect of the endpoint: where token counts come from, how long the
/// server finds the prompt.
///
/// # Errors
/// If the request cannot be expressed, or fails in any way.
pub async fn preflight<T: Transport, C: Timer>(
    transport: &T,
    timer: &C,
    request: &Request,
) -> Result<Tape, PreflightError<T::Error>> {
    let sent = transport.send(request, Release::at(timer.now())).await;
    let tape = sent.map_err(PreflightError::Unsendable)?;
    match tape.outcome {
        Outcome::Failed(failure) => Err(PreflightError::Failed(failure)),
        Outcome::Complete(_) => Ok(tape),
    }
}
