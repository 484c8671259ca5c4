//! Work that may not move between threads, as a future that may.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::input::ExperimentError;

/// What the future of `make` comes to, on a thread with an event loop of its own: connections stay on one thread, while whoever
/// waits may move, and needs no event loop. Where nobody waits any more the work is given up.
pub(crate) fn on_own_thread<T, F, M>(
    make: M,
) -> impl Future<Output = Result<T, ExperimentError>> + Send + use<T, F, M>
where
    T: Send + 'static,
    F: Future<Output = Result<T, ExperimentError>>,
    M: FnOnce() -> F + Send + 'static,
{
    let (mut tell, told) = oneshot::channel();
    let work = move || {
        let refused = |error| format!("the system refuses an event loop: {error}");
        let runtime = match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(tell.send(Err(ExperimentError::Broken(refused(error))))),
        };
        let done = runtime.block_on(async {
            let mut work = pin!(make());
            let until_done = poll_fn(|context| match tell.poll_closed(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => work.as_mut().poll(context).map(Some),
            });
            until_done.await
        });
        // Nobody may be waiting any more.
        done.map_or((), |done| drop(tell.send(done)))
    };
    let spawned = std::thread::Builder::new().spawn(work).map(drop);
    async move {
        let refused = |error| format!("the system refuses a thread: {error}");
        spawned.map_err(|error| ExperimentError::Broken(refused(error)))?;
        let ended = |_| ExperimentError::Broken("a thread of the client's ended early".to_owned());
        told.await.map_err(ended)?
    }
}
