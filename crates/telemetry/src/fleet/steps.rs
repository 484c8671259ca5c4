//! The steps of an engine that is watched.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use fizeau_core::Stamp;
use fizeau_roofline::System;

use crate::forward_pass::ForwardPassSubscriber;
use crate::steps::{JudgedStep, StepsAssessment};

/// The steps of an engine that is watched, each held against its bound once, when it has come.
#[derive(Debug)]
pub(super) struct WatchedSteps {
    pub(super) subscriber: ForwardPassSubscriber,
    judged: Mutex<VecDeque<JudgedStep>>,
}

/// Steps of a window: 4 minutes at 1,000 a second.
const MOST_JUDGED: usize = 1 << 18;

impl WatchedSteps {
    pub(super) const fn new(subscriber: ForwardPassSubscriber) -> Self {
        Self { subscriber, judged: Mutex::new(VecDeque::new()) }
    }

    /// Those since `from`; what was before is forgotten.
    pub(super) fn since(&self, from: Stamp, system: &System) -> Option<StepsAssessment> {
        // Nobody who reads the stream waits while bounds are computed.
        let new = self.subscriber.take_passes();
        let new = new.iter().map(|(at, pass)| JudgedStep::of(*at, pass, system));
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        judged.extend(new.filter(|step| step.at >= from));
        let early = judged.partition_point(|step| step.at < from);
        let most = judged.len().saturating_sub(MOST_JUDGED);
        judged.drain(..early.max(most));
        let lost = self.subscriber.look(|passes| passes.lost);
        StepsAssessment::of_judged(&*judged, lost)
    }
}
