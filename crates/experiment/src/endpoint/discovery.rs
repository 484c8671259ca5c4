//! What an endpoint speaks, found out before anything is measured.

use fizeau_harness::on_own_thread;
use fizeau_transport::{
    Backend, Findings, Identity, KeepText, ModelNameError, ProbeError, ServerKind, Target,
    candidates, probe,
};
use serde::Serialize;

use super::EndpointSpec;
use crate::hint::InputHint;
use crate::input::{EndpointError, ExperimentError, InputError, InputField};

/// What was found out of an endpoint.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DetectedEndpoint {
    /// The server, where it gives itself away.
    pub server: Option<String>,
    /// The backend that fits.
    pub backend: &'static str,
    #[serde(skip)]
    pub(super) kind: Backend,
    /// Where it is spoken.
    pub url: String,
    /// The model's name, as the server knows it.
    pub model: String,
    /// What the replies were like.
    #[serde(flatten)]
    pub findings: Findings,
}

impl EndpointSpec {
    /// Finds out the backend of the first server, by requests that cost it next to nothing, and the name of its model, where it
    /// has one alone and this one has an empty name. The backend of this specification is not looked at. It is asked from a
    /// thread of its own.
    ///
    /// # Errors
    /// If it does not answer, nothing fits, or it has several models.
    pub fn detect(
        &self,
    ) -> impl Future<Output = Result<DetectedEndpoint, ExperimentError>> + Send + use<> {
        let spec = self.clone();
        let found = on_own_thread(async move || spec.find().await);
        async { found.await.map_err(ExperimentError::broken)? }
    }

    async fn find(&self) -> Result<DetectedEndpoint, ExperimentError> {
        let first = self.base_urls.get(..1).unwrap_or_default();
        let (base_urls, extra_body) = (first.to_vec(), "{}".to_owned());
        let spec = Self { base_urls, extra_body, logprobs: None, ..self.clone() };
        let target = |backend: Backend, model: &str| -> Result<Target, InputError> {
            Ok(spec.called(backend, model, KeepText::No)?.target)
        };
        let any = target(Backend::OpenAi, "")?;
        let any = match ServerKind::of(&any).and_then(|server| server.backends().first()) {
            Some(backend) => target(*backend, "")?,
            None => any,
        };
        let identity = Identity::of(&any).await.map_err(|error| {
            EndpointError::new(format!("{}: {error}", first.concat())).hint(InputHint::IsServerUp)
        })?;
        let model = self.served_model(&identity)?;
        let candidates = candidates(identity.server(), self.route.as_deref());
        let probed = probe(&candidates, |backend| target(backend, &model)).await;
        let probed = probed.map_err(|error| match error {
            ProbeError::Target(error) => ExperimentError::from(error),
            error => EndpointError::new(error).field(InputField::DetectedBackend).into(),
        })?;
        let url = target(probed.backend, &model)?.url();
        let server = identity.server().map(|server| server.to_string());
        let (kind, backend) = (probed.backend, probed.backend.as_str());
        Ok(DetectedEndpoint { server, backend, kind, url, model, findings: probed.findings })
    }

    /// The model as the server knows it: the one that was named, else the only one there is.
    fn served_model(&self, identity: &Identity) -> Result<String, ExperimentError> {
        if !self.model.is_empty() {
            return Ok(self.model.clone());
        }
        identity.only_model().map(str::to_owned).map_err(|error| match error {
            ModelNameError::Several(_) => InputError::new(InputField::Model, error).into(),
            error => EndpointError::new(error).field(InputField::Model).into(),
        })
    }
}
