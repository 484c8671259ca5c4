//! One request before the first, so that an endpoint that cannot be used is one clear line.

use fizeau_core::{
    EosRule, Failure, FailureClass, Request, RequestId, RequestSource, Tape, Tokens,
};
use fizeau_harness::{Pacer, PreflightError, on_own_thread, preflight as try_one};
use fizeau_transport::{
    Framing, HttpTransport, LengthForcing, MonotonicClock, RequestError, Target,
};
use fizeau_workload::Workload;

use crate::endpoint::PreparedEndpoint;
use crate::event::{RunEvent, RunNote, Watcher};
use crate::hint::InputHint;
use crate::input::{EndpointError, ExperimentError, InputError, InputField};
use crate::workload::PreparedWorkload;

impl PreparedEndpoint {
    /// Whether it answers: sends one request of the workload's own shape to each of its servers, each on a connection of its own. They are
    /// warm-up requests: their prompts are none of a run's. Gives the reply of the first server. It is asked from a thread of its own, so
    /// that any task may wait for it.
    ///
    /// # Errors
    /// If the workload has no request, or a server cannot be used, with a hint of what to try.
    pub fn preflight(
        &self,
        workload: &PreparedWorkload,
    ) -> impl Future<Output = Result<Tape, ExperimentError>> + Send + use<> {
        let (target, workload) = (self.target.clone(), workload.clone());
        let tried = on_own_thread(async move || {
            preflight(&target, MonotonicClock::new(), workload.plan(), &mut ()).await
        });
        async { tried.await.map_err(ExperimentError::broken)? }
    }
}

/// The most output tokens of a request that only tries.
const SHORT: Tokens = Tokens::new(4);

/// As [`PreparedEndpoint::preflight`], on the thread that waits. `watcher` is told each step.
pub(super) async fn preflight(
    target: &Target,
    clock: MonotonicClock,
    workload: &dyn Workload,
    watcher: &mut impl Watcher,
) -> Result<Tape, ExperimentError> {
    let mut request = first_request(workload)?;
    request.max_output_tokens = request.max_output_tokens.min(SHORT);
    let (transport, timer) = (HttpTransport::new(target.clone(), clock), Pacer::new(clock));
    let mut tape = None;
    for (number, url) in (0..).zip(target.urls()) {
        // With nothing else in flight, both ways of balancing send the k-th request to the k-th endpoint.
        request.id = RequestId(number);
        watcher.event(RunEvent::Asking(url.clone()));
        let mut tried = try_one(&transport, &timer, &request).await;
        if let Err(PreflightError::Failed(first)) = &tried
            && is_broken(first)
        {
            let first = first.clone();
            tried = try_one(&transport, &timer, &request).await;
            if tried.is_ok() {
                watcher.event(RunEvent::Note(RunNote::Other(format!(
                    "{url}: the first reply was broken ({first}), but the second was complete"
                ))));
            }
        }
        let tried = tried.map_err(|error| unusable(&error, &url, target))?;
        tape.get_or_insert(tried);
    }
    // Only of a server that can be used: one that cannot may be tried again, in another way.
    if let Some(note) = shorter_outputs(target, request.eos) {
        watcher.event(RunEvent::Note(RunNote::Other(note)));
    }
    for note in transport.notes() {
        watcher.event(RunEvent::Note(RunNote::Other(note.to_string())));
    }
    let none = || InputError::new(InputField::BaseUrl, "name at least one server");
    Ok(tape.ok_or_else(none)?)
}

/// What to know of the outputs of a server that cannot be made to go on behind the model's own end, where that is wanted. An embedding
/// has no length.
fn shorter_outputs(target: &Target, wanted: EosRule) -> Option<String> {
    let has_length = target.route().dialect().framing() != Framing::Whole;
    let is_cap = wanted == EosRule::Ignore && target.forcing() == LengthForcing::CapOnly;
    let backend = target.backend().as_str();
    (has_length && is_cap).then(|| {
        format!(
            "{backend} cannot be told to generate the full length on this route; outputs may be \
             shorter than requested, and the figures count the tokens that came"
        )
    })
}

/// The request that is tried: a warm-up request of the workload.
pub(super) fn first_request(workload: &dyn Workload) -> Result<Request, InputError> {
    let wrong = |error: &dyn ToString| InputError::new(InputField::Workload, error.to_string());
    let first = workload.warmup(Box::new(std::iter::once(0))).next_request();
    let first = first.map_err(|error| wrong(&error))?;
    let none = || wrong(&"the workload has no request");
    first.map(|scheduled| scheduled.request).ok_or_else(none)
}

/// Whether a reply came and was broken, which may be an accident and is worth a second try.
fn is_broken(failure: &Failure) -> bool {
    use FailureClass::{Empty, InStreamError, Malformed, Status, Truncated};
    match failure.class {
        Empty | InStreamError | Malformed | Truncated => true,
        Status => failure.status.is_some_and(|status| status >= 500),
        _ => false,
    }
}

fn unusable(error: &PreflightError<RequestError>, url: &str, target: &Target) -> EndpointError {
    use FailureClass::{Connect, Status, TimeoutConnect, Tls};
    let why = match error {
        // What went wrong says by itself of which kind it is.
        PreflightError::Failed(Failure {
            class: Connect | Status | TimeoutConnect | Tls,
            detail,
            ..
        }) => detail.clone(),
        error => error.to_string(),
    };
    let unusable = EndpointError::new(format!("{url}: {why}"));
    let hint = match error {
        PreflightError::Unsendable(_) => InputHint::AnotherRoute,
        PreflightError::Failed(failure) => InputHint::Failed {
            class: failure.class,
            status: failure.status,
            model: target.model().to_owned(),
            backend: target.backend().as_str(),
        },
        _ => return unusable,
    };
    unusable.hint(hint)
}

#[cfg(test)]
mod tests {
    use fizeau_core::EosRule;
    use fizeau_transport::{Backend, Target};

    use super::shorter_outputs;

    #[test]
    fn only_outputs_with_a_length_can_be_shorter() {
        let note = |backend, wanted| {
            shorter_outputs(&Target::new("http://h", backend, "m").unwrap(), wanted)
        };
        assert!(note(Backend::Anthropic, EosRule::Ignore).is_some());
        assert_eq!(note(Backend::Anthropic, EosRule::Stop), None);
        assert_eq!(note(Backend::Vllm, EosRule::Ignore), None);
        assert_eq!(note(Backend::OpenAiEmbeddings, EosRule::Ignore), None);
    }
}
