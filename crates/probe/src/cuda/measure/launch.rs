//! What starting a kernel costs.

use super::{Failure, Measuring, sampled, small};
use crate::cuda::driver::{Argument, Launch};
use crate::cuda::trials::{BY_GRAPH, BY_STREAM, WAITED_FOR};
use crate::measurement::{LaunchCost, Measurement, OperationWork, TimedBy, Verification};
use crate::sampling::{SamplingRule, sample_timed};

/// Launches of one graph.
const IN_GRAPH: u32 = 64;

impl Measuring<'_> {
    pub(in crate::cuda) fn launch(&mut self, way: &str) -> Result<Measurement, Failure> {
        let kernel = small(self.driver, "empty")?;
        let launch =
            Launch { kernel, blocks: (1, 1), threads: 1, arguments: vec![Argument::Long(0)] };
        let (time, driver) = (self.time, &mut *self.driver);
        let sampled = match way {
            BY_STREAM => sampled(driver, time, |driver, count| {
                (0..count).try_for_each(|_| driver.launch(&launch))
            })?,
            BY_GRAPH => {
                let graph = driver.record(&launch, IN_GRAPH)?;
                let mut sampled = sampled(driver, time, |driver, count| {
                    (0..count).try_for_each(|_| driver.replay(graph))
                })?;
                sampled.timing.operations_per_sample *= u64::from(IN_GRAPH);
                sampled.warm_up_operations *= u64::from(IN_GRAPH);
                sampled
            }
            WAITED_FOR => sample_timed(SamplingRule::lasting(time), &mut |count| {
                let begun = driver.host_now();
                for _ in 0..count {
                    driver.launch(&launch)?;
                    driver.wait()?;
                }
                Ok::<_, Failure>(driver.host_now().saturating_sub(begun))
            })?,
            other => return Err(Failure::not_written(format!("no launch by {other} is written"))),
        };
        let mut seen = self.measurement(sampled, [None; 2], OperationWork::default());
        seen.verification = Verification::not_checked("a kernel that does nothing has no result");
        seen.method.launch = Some(LaunchCost::Inside);
        match way {
            WAITED_FOR => seen.method.timed_by = Some(TimedBy::Host),
            BY_GRAPH => seen.notes.push(format!("{IN_GRAPH} launches in a graph")),
            _ => {}
        }
        Ok(seen)
    }
}
