//! A server's own profiler.

use crate::clock::MonotonicClock;
use crate::http::{HttpTransport, NoReply, PreconnectError};
use crate::target::Target;

/// What a profiler is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfilerOrder {
    /// Begin.
    Start,
    /// End, and write what it has seen.
    Stop,
}

fizeau_core::words! {
    /// Of vLLM and of SGLang.
    ProfilerOrder::path {
        Start = "/start_profile", Stop = "/stop_profile",
    }
}

/// Why a profiler does not do as it is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfilerError {
    /// No connection can be made.
    #[error("{url}: {path} cannot be asked for: {error}")]
    Unreachable {
        /// The server.
        url: String,
        /// What was asked for.
        path: &'static str,
        /// Why not.
        error: PreconnectError,
    },
    /// The server does not do it.
    #[error(
        "{url}: {path} was refused ({status}); vLLM offers it where it was started with a profiler, SGLang always"
    )]
    Refused {
        /// The server.
        url: String,
        /// What was asked for.
        path: &'static str,
        /// The status, or that there was no reply.
        status: String,
    },
}

/// Tells the profilers of all servers of `target` to start or to stop, by a POST that vLLM and SGLang understand.
///
/// # Errors
/// If one of them cannot be reached, or does not do it. Those before it have done it then.
pub async fn order_profiler(target: &Target, order: ProfilerOrder) -> Result<(), ProfilerError> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    let path = order.path();
    for (number, url) in target.urls().enumerate() {
        let status = match transport.post_to(number, path).await {
            Ok(200) => continue,
            Ok(other) => format!("status {other}"),
            Err(NoReply::Unreachable(error)) => {
                return Err(ProfilerError::Unreachable { url, path, error });
            }
            Err(NoReply::Other) => "no reply".to_owned(),
        };
        return Err(ProfilerError::Refused { url, path, status });
    }
    Ok(())
}
