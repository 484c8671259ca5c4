//! Requests that cannot be answered, in the form of vLLM's error object or, on its route, Anthropic's.

use std::time::Duration;

use serde_json::{Value, json};

use crate::job::SubmitError;

/// A status of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(u16, &'static str);

impl Status {
    pub(super) const OK: Self = Self(200, "OK");
    pub(super) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(super) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(super) const METHOD_NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(super) const BODY_TOO_LARGE: Self = Self(413, "Content Too Large");
    pub(super) const TOO_MANY: Self = Self(429, "Too Many Requests");
    pub(super) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(super) const INTERNAL: Self = Self(500, "Internal Server Error");
    pub(super) const NOT_IMPLEMENTED: Self = Self(501, "Not Implemented");
    pub(super) const UNAVAILABLE: Self = Self(503, "Service Unavailable");

    pub(super) const fn code(self) -> u16 {
        self.0
    }

    pub(super) const fn reason(self) -> &'static str {
        self.1
    }
}

/// How long a client is asked to stay away while the queue is full: the shortest that whole seconds can say.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) param: Option<&'static str>,
    pub(super) message: String,
    /// How long to stay away, where that is told.
    pub(super) retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn bad_request(param: Option<&'static str>, message: impl Into<String>) -> Self {
        Self {
            status: Status::BAD_REQUEST,
            kind: "BadRequestError",
            param,
            message: message.into(),
            retry_after: None,
        }
    }

    /// Of a body that is not what the route takes.
    pub(super) fn body(error: &serde_json::Error) -> Self {
        Self::bad_request(None, format!("the body is not a request: {error}"))
    }

    pub(super) fn no_model(model: &str) -> Self {
        Self {
            status: Status::NOT_FOUND,
            kind: "NotFoundError",
            param: Some("model"),
            message: format!("The model `{model}` does not exist."),
            retry_after: None,
        }
    }

    /// The body to send on OpenAI's routes and SGLang's.
    pub(super) fn to_json(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.status.code(),
        }})
    }

    /// The body to send on Anthropic's. The types are those of Anthropic's API reference, "Errors".
    pub(super) fn to_anthropic_json(&self) -> Value {
        let kind = match self.status {
            Status::NOT_FOUND => "not_found_error",
            Status::BODY_TOO_LARGE => "request_too_large",
            Status::TOO_MANY => "rate_limit_error",
            Status::INTERNAL => "api_error",
            Status::UNAVAILABLE => "overloaded_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": self.message}})
    }
}

/// An engine that does not take a job.
impl From<SubmitError> for Refusal {
    fn from(error: SubmitError) -> Self {
        let refusal = Self::bad_request(None, error.to_string());
        match error {
            SubmitError::QueueFull { .. } => {
                let (status, kind) = (Status::TOO_MANY, "TooManyRequestsError");
                Self { status, kind, retry_after: Some(RETRY_AFTER), ..refusal }
            }
            _ => refusal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_says_when_to_come_back() {
        let refusal = Refusal::from(SubmitError::QueueFull { waiting: 7 });
        assert_eq!(refusal.status.code(), 429);
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(1)));
        let message = "7 requests wait already, and no more may: try again later";
        assert_eq!(refusal.to_json()["error"]["message"], message);
        assert_eq!(refusal.to_anthropic_json()["error"]["type"], "rate_limit_error");

        let refusal = Refusal::bad_request(None, "no");
        assert_eq!(refusal.retry_after, None);
    }
}
