//! Connections before the clock starts.

use std::future::{Future, ready};

use fizeau_core::{Clock, Failure, TokenCounter, Transport};
use fizeau_transport::HttpTransport;

use crate::Recounted;

/// A transport that can open connections ahead of the requests that will use them.
///
/// One without connections has nothing to do and implements it with an empty body:
///
/// ```
/// # use fizeau_core::{Release, Request, Tape, Transport};
/// struct InProcess;
/// # impl Transport for InProcess {
/// #     type Error = std::convert::Infallible;
/// #     async fn send(&self, _: &Request, release: Release) -> Result<Tape, Self::Error> {
/// #         Ok(Tape::sent_at(release.released))
/// #     }
/// # }
/// impl fizeau_harness::Preconnect for InProcess {}
/// ```
pub trait Preconnect: Transport {
    /// Opens connections until `count` are idle.
    ///
    /// # Errors
    /// If one of them cannot be made; those that could stay.
    fn preconnect(&self, count: usize) -> impl Future<Output = Result<(), Failure>> {
        let _ = count;
        ready(Ok(()))
    }
}

impl<C: Clock + Clone + Send + 'static> Preconnect for HttpTransport<C> {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        Self::preconnect(self, count).await.map_err(|error| error.failure().clone())
    }
}

impl<T: Preconnect, K: TokenCounter> Preconnect for Recounted<T, K> {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        self.transport.preconnect(count).await
    }
}
