//! One request before the first, so that an endpoint that cannot be used is one clear line.

use fizeau_core::{EosRule, RequestId, RequestSource, Tape, Tokens};
use fizeau_harness::{Pacer, PreflightError, preflight as try_one};
use fizeau_transport::{
    Forcing, HttpTransport, MonotonicClock, RequestError, Target, context_limit,
};
use fizeau_workload::Workload;

use crate::hint::{Hint, LimitSource};
use crate::input::{EndpointError, ExperimentError, Field, InputError};
use crate::workload::ContextLimit;

/// What happens as an endpoint is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreflightStep<'a> {
    /// What of the endpoint is not as one might think, in one line.
    Note(&'a str),
    /// The server at this address is asked for a reply.
    Asking(&'a str),
}

/// The most output tokens of a request that only tries.
const SHORT: Tokens = Tokens::new(4);

/// Refuses, by `check`, a workload that is too long for the model as the server says. Not to know is nothing to fail over.
///
/// # Errors
/// What `check` has against the limit.
pub async fn check_context<E>(
    target: &Target,
    check: impl FnOnce(&ContextLimit) -> Result<(), E>,
) -> Result<(), E> {
    match context_limit(target).await {
        Ok(Some(tokens)) => check(&ContextLimit::new(tokens, LimitSource::Server)),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Sends one request of the workload's own shape to each server of `target`, each on a connection of its own. They are warm-up
/// requests: their prompts are none of the run's. `watch` is told each step, and what it gives lives until that is over. Gives
/// the reply of the first server.
///
/// # Errors
/// If the workload has no request, or a server cannot be used, with a hint of what to try.
pub async fn preflight<G>(
    target: &Target,
    clock: MonotonicClock,
    workload: &dyn Workload,
    mut watch: impl FnMut(PreflightStep<'_>) -> G,
) -> Result<Tape, ExperimentError> {
    let wrong = |error: &dyn ToString| InputError::new(Field::Workload, error.to_string());
    let first = workload.warmup(Box::new(std::iter::once(0))).next_request();
    let first = first.map_err(|error| wrong(&error))?;
    let none = || wrong(&"the workload has no request");
    let mut request = first.map(|scheduled| scheduled.request).ok_or_else(none)?;
    request.max_output_tokens = request.max_output_tokens.min(SHORT);
    if request.eos == EosRule::Ignore && target.forcing() == Forcing::CapOnly {
        let backend = target.backend().as_str();
        watch(PreflightStep::Note(&format!(
            "{backend} cannot be told to generate the full length there; outputs may be shorter than asked, and the \
             figures are of what came"
        )));
    }
    let (transport, timer) = (HttpTransport::new(target.clone(), clock), Pacer::new(clock));
    let mut tape = None;
    for (number, url) in (0..).zip(target.urls()) {
        // With nothing else in flight, both ways of balancing send the k-th request to the k-th endpoint.
        request.id = RequestId(number);
        let _asking = watch(PreflightStep::Asking(&url));
        let tried = try_one(&transport, &timer, &request).await;
        let tried = tried.map_err(|error| unusable(&error, &url, target))?;
        tape.get_or_insert(tried);
    }
    for note in transport.notes() {
        watch(PreflightStep::Note(&note.to_string()));
    }
    let none = || InputError::new(Field::BaseUrl, "name at least one server");
    Ok(tape.ok_or_else(none)?)
}

fn unusable(error: &PreflightError<RequestError>, url: &str, target: &Target) -> EndpointError {
    let hint = match error {
        PreflightError::Unsendable(_) => Hint::AnotherRoute,
        PreflightError::Failed(failure) => Hint::Failed {
            class: failure.class,
            status: failure.status,
            model: target.model().to_owned(),
            backend: target.backend().as_str(),
        },
    };
    EndpointError::new(format!("{url}: {error}")).hint(hint)
}
