//! What one request asks of a target: its body, and its path where that is not the target's own.

use std::borrow::Cow;

use fizeau_core::Request;

use super::Target;
use crate::dialect::{BodyInput, ExtraBody, RequestError};
use crate::route::{ModelNameLocation, renamed};

impl Target {
    /// Whether `request` can be expressed here. Nothing is sent.
    ///
    /// ```
    /// use fizeau_core::{Prompt, Request, RequestId, Tokens};
    /// use fizeau_transport::{Backend, Target};
    /// let target = Target::new("http://127.0.0.1:8000", Backend::OpenAiChat, "m")?;
    /// let body = Prompt::Body(r#"{"messages": [], "n": 2}"#.into());
    /// assert!(target.check(&Request::new(RequestId(0), body, Tokens::new(8))).is_err());
    /// # Ok::<(), fizeau_transport::TargetError>(())
    /// ```
    ///
    /// # Errors
    /// If its prompt is in a form that the route or the backend does not take, its own fields set what is set for each
    /// request, or it asks for another model where requests name none.
    pub fn check(&self, request: &Request) -> Result<(), RequestError> {
        self.path_for(request)?;
        self.body(request).map(drop)
    }

    /// The body of `request`.
    pub(crate) fn body(&self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let extra = self.extra_for(request)?;
        let model = request.model.as_deref().unwrap_or(&self.model);
        let ask = BodyInput { model, request, backend: self.backend, extra: &extra };
        self.spoken().body(&ask)
    }

    /// Path and query of `request` behind a base URL, where they are not those of all requests: the path names the model,
    /// and this request's is another.
    pub(crate) fn path_for(&self, request: &Request) -> Result<Option<String>, RequestError> {
        let Some(model) = request.model.as_deref().filter(|model| *model != self.model) else {
            return Ok(None);
        };
        let path = renamed(&self.path, &self.model, model);
        match self.route.model_place() {
            ModelNameLocation::Body => Ok(path),
            ModelNameLocation::Path if path.is_some() => Ok(path),
            ModelNameLocation::Nowhere | ModelNameLocation::Path => {
                Err(RequestError::ModelFixed(model.to_owned()))
            }
        }
    }

    /// The extra fields of `request`: the target's, and over them its own.
    fn extra_for(&self, request: &Request) -> Result<Cow<'_, ExtraBody>, RequestError> {
        let Some(json) = &request.extra else {
            return Ok(Cow::Borrowed(&self.extra));
        };
        let extra = ExtraBody::parse(json).map_err(RequestError::Extra)?;
        extra.check(self.route).map_err(RequestError::Extra)?;
        Ok(Cow::Owned(self.extra.clone().merge(extra)))
    }
}
