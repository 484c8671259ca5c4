//! What one request asks of a target: its body, and its path where that is not the target's own.

use std::borrow::Cow;

use fizeau_core::Request;

use super::Target;
use crate::dialect::{Ask, RequestError};
use crate::extra::ExtraBody;
use crate::route::{ModelPlace, renamed};

impl Target {
    /// The body of `request`.
    pub(crate) fn body(&self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let extra = self.extra_for(request)?;
        let model = request.model.as_deref().unwrap_or(&self.model);
        let ask = Ask { model, request, backend: self.backend, extra: &extra };
        self.route.dialect().body(&ask)
    }

    /// Path and query of `request` behind a base URL, where they are not those of all requests: the path names the model,
    /// and this request's is another.
    pub(crate) fn path_for(&self, request: &Request) -> Result<Option<String>, RequestError> {
        let Some(model) = request.model.as_deref().filter(|model| *model != self.model) else {
            return Ok(None);
        };
        let path = renamed(&self.path, &self.model, model);
        match self.route.model_place() {
            ModelPlace::Body => Ok(path),
            ModelPlace::Path if path.is_some() => Ok(path),
            ModelPlace::Nowhere | ModelPlace::Path => {
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
