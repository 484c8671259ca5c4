//! Emptying a server's prefix cache.

use crate::clock::MonotonicClock;
use crate::http::{HttpTransport, NoReply, PreconnectError};
use crate::target::Target;

/// Why a prefix cache was not emptied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResetCacheError {
    /// No connection can be made.
    #[error("{url}: the prefix cache was not emptied: {error}")]
    Unreachable {
        /// The server.
        url: String,
        /// Why not.
        error: PreconnectError,
    },
    /// The server does not do it.
    #[error(
        "{url}: the prefix cache was not emptied ({status}); vLLM does it at /reset_prefix_cache where VLLM_SERVER_DEV_MODE=1 is set, \
         SGLang at /flush_cache where no request runs"
    )]
    Refused {
        /// The server.
        url: String,
        /// The status of the last that was tried, or that there was no reply.
        status: String,
    },
}

/// What empties the cache: of vLLM, of SGLang.
const PATHS: [&str; 2] = ["/reset_prefix_cache", "/flush_cache"];

/// Empties the prefix caches of all servers of `target`, by a POST that vLLM or SGLang understands.
///
/// # Errors
/// If one of them cannot be reached, or does not do it.
pub async fn reset_cache(target: &Target) -> Result<(), ResetCacheError> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    for (number, url) in target.urls().enumerate() {
        let mut status = "no reply".to_owned();
        let mut is_done = false;
        for path in PATHS {
            match transport.post_to(number, path).await {
                Ok(200) => is_done = true,
                Ok(other) => status = format!("status {other}"),
                Err(NoReply::Unreachable(error)) => {
                    return Err(ResetCacheError::Unreachable { url, error });
                }
                Err(NoReply::Other) => {}
            }
            if is_done {
                break;
            }
        }
        if !is_done {
            return Err(ResetCacheError::Refused { url, status });
        }
    }
    Ok(())
}
