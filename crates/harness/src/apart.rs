//! What cannot move between threads, for runtimes that move their tasks.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::resume_unwind;
use std::pin::pin;
use std::task::Poll;

use tokio::sync::oneshot;

/// Carries `work` out on a thread and an event loop of its own. The future that waits for its end is [`Send`], whatever `work`
/// awaits: an [`HttpTransport`](fizeau_transport::HttpTransport), and what is done with one, such as
/// [`preflight`](crate::preflight) and [`probe`](fizeau_transport::probe), are not.
///
/// ```
/// use fizeau_core::{Prompt, Request, RequestId, Tokens};
/// use fizeau_harness::{Pacer, on_own_thread, preflight};
/// use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};
///
/// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
/// let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m")?;
/// let asked = runtime.spawn(on_own_thread(async move || {
///     let clock = MonotonicClock::new();
///     let request = Request::new(RequestId(0), Prompt::Text("Once".to_owned()), Tokens::new(4));
///     preflight(&HttpTransport::new(target, clock), &Pacer::new(clock), &request).await
/// }));
/// let sent = runtime.block_on(asked)??;
/// assert!(sent.is_err(), "nothing listens there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancel safety
/// Dropping the future drops `work` at its next halt, on its own thread.
///
/// # Errors
/// If the system refuses a thread or an event loop.
///
/// # Panics
/// If `work` does: with its panic.
pub async fn on_own_thread<R: Send + 'static>(
    work: impl AsyncFnOnce() -> R + Send + 'static,
) -> io::Result<R> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut answer, answered) = oneshot::channel();
    let carry_out = move || {
        let done = runtime.block_on(async {
            let mut work = pin!(work());
            poll_fn(|cx| match work.as_mut().poll(cx) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending => answer.poll_closed(cx).map(|()| None),
            })
            .await
        });
        // Where nobody waits any more, nobody wants it.
        done.map(|done| answer.send(done).ok());
    };
    let thread = std::thread::Builder::new().name("fizeau-apart".to_owned()).spawn(carry_out)?;
    match answered.await {
        Ok(done) => Ok(done),
        Err(_) => match thread.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => Err(io::Error::other("the thread ended before its work")),
        },
    }
}
