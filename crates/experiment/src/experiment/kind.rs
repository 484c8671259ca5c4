//! What an experiment can be.

mod impls;

use std::path::Path;

use fizeau_core::Timer;
use fizeau_harness::Measure;
use fizeau_record::{RunDocument, RunFolder};
use fizeau_transport::KeepText;

use super::Experiment;
use super::sharded::OrderedLevel;
use crate::basis::RunBasis;
use crate::document::keep_run;
use crate::endpoint::{EndpointSource, PreparedEndpoint};
use crate::event::Watcher;
use crate::input::{ExperimentError, InputError};
use crate::system::{RunOrigin, SystemUnderTest};
use crate::workload::{ContextLimit, WorkloadSpec};

/// What an experiment can be: a level, a sweep, a search or an A/B run of endpoints, or the calibration of a client, each by the settings
/// that say what it is to be.
pub trait ExperimentKind: Clone + Send + 'static {
    /// Its outcome.
    type Outcome: Send + 'static;

    /// Runs `experiment` over HTTP.
    ///
    /// # Errors
    /// If an input is wrong, the endpoint cannot be used, or something breaks in the midst.
    fn run(
        experiment: &Experiment<Self>,
        watcher: &mut impl Watcher,
    ) -> impl Future<Output = Result<Self::Outcome, ExperimentError>>;
}

/// Settings of what is measured at endpoints.
pub trait EndpointKind: Clone + Send + 'static {
    /// It, decided.
    type Prepared: PreparedRun;

    /// The endpoint besides the experiment's own; none where there is one alone.
    fn other_endpoint(&self) -> Option<&EndpointSource> {
        None
    }

    /// The folder of a run that was interrupted and is resumed.
    fn resume(&self) -> Option<&Path> {
        None
    }

    /// What is asked, to be changed.
    fn workload_mut(&mut self) -> &mut WorkloadSpec;

    /// Whether the text of replies is needed.
    fn keep_text(&self) -> KeepText;

    /// Decides all of it. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, or a file cannot be read.
    fn decide(
        &self,
        endpoints: &[PreparedEndpoint],
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<Self::Prepared, InputError>;
}

/// A run that is decided.
pub trait PreparedRun {
    /// Its outcome.
    type Outcome: Send + 'static;

    /// What every kind of run has.
    fn basis(&self) -> &RunBasis;

    /// The same, to be changed.
    fn basis_mut(&mut self) -> &mut RunBasis;

    /// Refuses requests that are longer than `limit`.
    ///
    /// # Errors
    /// The first of them.
    fn check(&self, limit: &ContextLimit) -> Result<(), InputError> {
        self.basis().work.check(limit)
    }

    /// The most requests in flight, at all endpoints together.
    fn most_in_flight(&self) -> u64;

    /// How many connections an endpoint needs before the first request.
    fn connections_ahead(&self) -> u64;

    /// How many requests there are in all, where that is known and each may take a connection of its own.
    fn requests(&self) -> Option<u64> {
        None
    }

    /// How many levels there are at the most, where that is known ahead.
    fn most_levels(&self) -> Option<u32> {
        None
    }

    /// How many of them an open loop without a limit sends.
    fn uncapped_requests(&self) -> Option<u64> {
        None
    }

    /// What goes on record of it, but for who measures.
    ///
    /// # Errors
    /// If what is asked cannot be written as JSON.
    fn document(&self) -> Result<RunDocument, ExperimentError>;

    /// Puts `document` on record.
    ///
    /// # Errors
    /// If the system refuses, or the run that is resumed was another.
    fn keep(&self, folder: &RunFolder, document: &RunDocument) -> Result<(), ExperimentError> {
        keep_run(folder, document, self.basis().speed_of_light().ok())
            .map_err(ExperimentError::broken)
    }

    /// Refuses what several clients cannot measure together.
    ///
    /// # Errors
    /// What of it they cannot.
    fn check_together(&self) -> Result<(), InputError> {
        Ok(())
    }

    /// The level that the first of several clients names, as all of them measure it.
    ///
    /// # Errors
    /// If there is no such level.
    fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError>;

    /// Measures all of it with one of `with` for each endpoint; `timer` waits for the pauses between.
    ///
    /// # Errors
    /// If something breaks in the midst.
    fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        timer: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> impl Future<Output = Result<Self::Outcome, ExperimentError>>;
}
