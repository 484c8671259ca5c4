//! A simulated engine behind a real HTTP server on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau_record::SpeedOfLightReference;
use fizeau_sim::Scenario;
use fizeau_sim::http::{Server, ServerConfig, ServerHandle};
use fizeau_transport::Backend;

use crate::endpoint::{BackendChoice, EndpointSpec};
use crate::input::ExperimentError;

/// A simulated engine (Llama-3.1-8B on one H100) behind HTTP on a free port of loopback, to be measured where there is no server. It ends
/// when this is dropped.
#[derive(Debug)]
pub struct EmbeddedEngine {
    scenario: Scenario,
    server: ServerHandle,
}

impl EmbeddedEngine {
    /// Starts it.
    ///
    /// # Errors
    /// If the system has no port or no thread.
    pub fn start() -> Result<Self, ExperimentError> {
        let scenario = Scenario::llama_3_1_8b_h100().map_err(ExperimentError::broken)?;
        let config = ServerConfig::new(scenario.engine()).with_model(scenario.model_name());
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(loopback, config).map_err(ExperimentError::broken)?;
        Ok(Self { scenario, server: server.spawn().map_err(ExperimentError::broken)? })
    }

    /// Makes `endpoint` this one. It speaks as vLLM does by default.
    pub fn stand_for(&self, endpoint: &mut EndpointSpec) {
        endpoint.base_urls = vec![self.server.base_url()];
        self.scenario.model_name().clone_into(&mut endpoint.model);
        if endpoint.backend == BackendChoice::Detected {
            endpoint.backend = Backend::Vllm.into();
        }
    }

    /// One line for reports, which says that it is simulated.
    #[must_use]
    pub fn describe(&self) -> String {
        self.scenario.describe()
    }

    /// Its speed of light.
    #[must_use]
    pub fn speed_of_light(&self) -> SpeedOfLightReference {
        SpeedOfLightReference::new(self.scenario.model_name(), self.scenario.system().clone())
    }
}
