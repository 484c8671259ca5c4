//! Requests that cannot be answered, in the form of vLLM's error object.

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
    pub(super) const TOO_MANY_REQUESTS: Self = Self(429, "Too Many Requests");
    pub(super) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(super) const INTERNAL: Self = Self(500, "Internal Server Error");
    pub(super) const NOT_IMPLEMENTED: Self = Self(501, "Not Implemented");

    pub(super) const fn code(self) -> u16 {
        self.0
    }

    pub(super) const fn reason(self) -> &'static str {
        self.1
    }
}

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) param: Option<&'static str>,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn bad_request(param: Option<&'static str>, message: impl Into<String>) -> Self {
        Self {
            status: Status::BAD_REQUEST,
            kind: "BadRequestError",
            param,
            message: message.into(),
        }
    }

    /// What an engine says to a job that it does not take.
    pub(super) fn of(error: &SubmitError) -> Self {
        let refusal = Self::bad_request(None, error.to_string());
        match error {
            SubmitError::QueueFull { .. } => {
                Self { status: Status::TOO_MANY_REQUESTS, kind: "RateLimitError", ..refusal }
            }
            _ => refusal,
        }
    }

    /// The body to send.
    pub(super) fn to_json(&self) -> String {
        serde_json::json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.status.code(),
        }})
        .to_string()
    }
}
