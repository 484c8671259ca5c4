//! The embedded engine: simulated, behind a real HTTP server on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use fizeau::experiment::{BackendChoice, EndpointSpec};
use fizeau::record::SpeedOfLightReference;
use fizeau::sim::Scenario;
use fizeau::sim::http::{Server, ServerConfig, ServerHandle};
use fizeau::transport::Backend;

use crate::exit::Fail;

/// A running engine; it ends when this is dropped.
pub(crate) struct Embedded {
    scenario: Scenario,
    server: ServerHandle,
}

impl Embedded {
    /// Starts the default scenario on a free port of loopback.
    pub(crate) fn start() -> Result<Self, Fail> {
        let scenario = Scenario::llama_3_1_8b_h100().map_err(Fail::broken)?;
        let config = ServerConfig::new(scenario.engine()).with_model(scenario.model_name());
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(loopback, config).map_err(Fail::broken)?;
        let server = server.spawn().map_err(Fail::broken)?;
        Ok(Self { scenario, server })
    }

    /// Makes `endpoint` this one. It speaks as vLLM does by default.
    pub(crate) fn stand_for(&self, endpoint: &mut EndpointSpec) {
        endpoint.base_urls = vec![self.server.base_url()];
        self.scenario.model_name().clone_into(&mut endpoint.model);
        if endpoint.backend == BackendChoice::Detected {
            endpoint.backend = Backend::Vllm.into();
        }
    }

    /// One line for reports, which says that it is simulated.
    pub(crate) fn describe(&self) -> String {
        self.scenario.describe()
    }

    /// Its speed of light.
    pub(crate) fn speed_of_light(&self) -> SpeedOfLightReference {
        SpeedOfLightReference::new(self.scenario.model_name(), self.scenario.system().clone())
    }
}
