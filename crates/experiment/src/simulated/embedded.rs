//! A simulated engine behind a real HTTP server on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau_record::{EngineRecord, SpeedOfLightReference};
use fizeau_sim::Scenario;
use fizeau_sim::http::{Server, ServerConfig, ServerHandle};
use fizeau_transport::Backend;

use crate::endpoint::{BackendChoice, EndpointSpec};
use crate::input::ExperimentError;
use crate::system::SystemUnderTest;

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

    /// Makes `endpoint` this one, which speaks as vLLM does by default. Gives it as what is measured, held against `light`, or else against its
    /// own speed of light.
    pub fn stand_for(
        &self,
        endpoint: &mut EndpointSpec,
        light: Option<SpeedOfLightReference>,
    ) -> SystemUnderTest {
        endpoint.base_urls = vec![self.server.base_url()];
        let (model, system) = (self.scenario.model_name(), self.scenario.system());
        model.clone_into(&mut endpoint.model);
        if endpoint.backend == BackendChoice::Detected {
            endpoint.backend = Backend::Vllm.into();
        }
        let own = || SpeedOfLightReference::new(model, system.clone());
        let description = self.scenario.describe();
        SystemUnderTest {
            engine: EngineRecord::Simulated { description },
            light: Ok(light.unwrap_or_else(own)),
            ..SystemUnderTest::default()
        }
    }
}
