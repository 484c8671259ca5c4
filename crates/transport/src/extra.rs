//! Fields of the body beyond those that we write ourselves.

use serde_json::{Map, Value};

/// Further fields of a request's body: sampling parameters (`temperature`, `top_p`, `top_k`, ...) and
/// whatever else a server understands. They are sent as given; a field that we would otherwise set, such as
/// `ignore_eos`, is theirs.
///
/// On routes that keep sampling parameters in an object of their own (SGLang's `sampling_params`, TGI's
/// `parameters`, Ollama's `options`, Gemini's `generationConfig`), those named as on the OpenAI routes are moved
/// into it under the name that they have there, and such an object is laid over ours.
///
/// ```
/// use fizeau_transport::ExtraBody;
/// let sampling = ExtraBody::parse(r#"{"temperature": 0.0, "top_p": 0.9}"#)?;
/// let all = sampling.merge(ExtraBody::parse(r#"{"top_p": 0.5}"#)?);
/// assert_eq!(all.to_string(), r#"{"temperature":0.0,"top_p":0.5}"#);
/// assert!(ExtraBody::parse(r#"{"stream": false}"#).is_err());
/// # Ok::<(), fizeau_transport::ExtraBodyError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraBody(Map<String, Value>);

/// Fields that make a request what it is, by the names of the OpenAI routes: the measurement relies on them.
const RESERVED: [&str; 9] = [
    "best_of",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "prompt",
    "stream",
    "stream_options",
];

/// Why a text is no extra body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtraBodyError {
    /// The text is not a JSON object.
    #[error("the extra body must be a JSON object such as {{\"temperature\": 0.0}}: {0}")]
    NotAnObject(String),
    /// A field that is set for each request.
    #[error(
        "the extra body must not set `{0}`: it is set for each request from the workload and the target"
    )]
    Reserved(String),
}

impl ExtraBody {
    /// The fields of the JSON object `json`.
    ///
    /// # Errors
    /// If `json` is not a JSON object, or names a field that is set for each request (`model`, `prompt`,
    /// `messages`, `max_tokens`, `max_completion_tokens`, `stream`, `stream_options`), or asks for several replies
    /// in one (`n`, `best_of`), whose tokens would mix on one tape. Other routes have further names for these: see
    /// [`ExtraBody::check`].
    pub fn parse(json: &str) -> Result<Self, ExtraBodyError> {
        let fields: Map<String, Value> = serde_json::from_str(json)
            .map_err(|error| ExtraBodyError::NotAnObject(error.to_string()))?;
        match RESERVED.iter().find(|name| fields.contains_key(**name)) {
            Some(name) => Err(ExtraBodyError::Reserved((*name).to_owned())),
            None => Ok(Self(fields)),
        }
    }

    /// The first of `names` that is set; one within an object is written with a dot.
    pub(crate) fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        let is_set = |name: &str| match name.split_once('.') {
            Some((outer, inner)) => self.0.get(outer).is_some_and(|of| of.get(inner).is_some()),
            None => self.0.contains_key(name),
        };
        names.iter().copied().find(|name| is_set(name))
    }

    /// These fields and those of `over`, which win.
    #[must_use]
    pub fn merge(mut self, over: Self) -> Self {
        self.0.extend(over.0);
        self
    }

    pub(crate) const fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl std::fmt::Display for ExtraBody {
    /// The fields as one JSON object, names in order.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).unwrap_or_default())
    }
}
