//! All GPUs of one machine together, as ranks of collectives.

use fizeau_core::{Bytes, Nanos};

use super::driver::Properties;
use super::error::CudaError;
use super::measure::{Collecting, Failure};
use super::ranks::Ranks;
use super::{nvidia, this_machine};
use crate::device::DeviceFacts;
use crate::host::ProbeHost;
use crate::measurement::{
    CollectiveOp, CollectiveRegime, CollectiveShape, Component, Dtype, Measurement, Operation,
    PageAdvice, RankRule,
};
use crate::trial::{ProbeBackend, ProbeTrial, Unavailable};

/// From what decode steps send to the largest message that is of interest.
const SMALLEST: u64 = 32 << 10;
const LARGEST: u64 = 16 << 30;
/// A message takes no more than this part of a device's memory: there are two buffers, and others may use the device.
const OF_MEMORY: u64 = 4;
/// Parts of ranks begin at multiples of this many bytes.
const ALIGNED: u64 = 256;
/// What is measured, what models ask for most first.
const OPERATIONS: [CollectiveOp; 5] = [
    CollectiveOp::AllReduce,
    CollectiveOp::AllGather,
    CollectiveOp::ReduceScatter,
    CollectiveOp::AllToAll,
    CollectiveOp::Broadcast,
];

/// All GPUs of NVIDIA's that this process sees, as ranks of collectives by NCCL, which is opened when it is asked for.
///
/// **It has not been run on GPUs by those who wrote it**: hold what it says against nccl-tests before you rely on it.
#[derive(Debug)]
pub struct CudaCollectives {
    ranks: Box<dyn Ranks>,
    name: String,
    /// Why the ranks are not asked any more.
    lost: Option<String>,
}

impl CudaCollectives {
    /// Opens all devices that can be opened together; measures nothing yet. None if that is one only, which has nobody to talk to.
    ///
    /// # Errors
    /// If there is no driver, no device, or none that can be opened.
    pub fn all() -> Result<Option<Self>, CudaError> {
        let ranks = nvidia::Devices::of(&nvidia::Nvidia::load()?)?;
        Ok((ranks.properties().len() > 1).then(|| Self::over(Box::new(ranks))))
    }

    pub(super) fn over(ranks: Box<dyn Ranks>) -> Self {
        let indices: Vec<u32> = ranks.properties().iter().map(|of| of.index).collect();
        Self { ranks, name: group_name(&indices), lost: None }
    }
}

/// `gpu0-7`; where one of them is not there `gpu0,2,3`.
fn group_name(indices: &[u32]) -> String {
    let (first, last) = (indices.first().unwrap_or(&0), indices.last().unwrap_or(&0));
    if indices.is_sorted_by(|one, next| one + 1 == *next) {
        return format!("gpu{first}-{last}");
    }
    let numbers: Vec<String> = indices.iter().map(u32::to_string).collect();
    format!("gpu{}", numbers.join(","))
}

/// From the smallest to what the smallest memory takes, a doubling each, and of these each `step`th and the last. Each has a whole part for
/// every rank.
fn messages(devices: &[Properties], step: usize) -> Vec<u64> {
    let memory = devices.iter().map(|device| device.memory_bytes).min().unwrap_or(0);
    let whole = ALIGNED * devices.len().max(1) as u64;
    let most = LARGEST.min(memory / OF_MEMORY);
    let doublings = (0..20).map(|power| SMALLEST << power);
    let fitting: Vec<u64> = doublings.take_while(|bytes| *bytes <= most).collect();
    let last = fitting.len().saturating_sub(1);
    let kept =
        fitting.into_iter().enumerate().filter(|(at, _)| at.is_multiple_of(step) || *at == last);
    kept.map(|(_, bytes)| bytes / whole * whole).filter(|bytes| *bytes > 0).collect()
}

/// Each size in turn, the small ones first: what no time is left for is the largest.
fn trials(devices: &[Properties]) -> Vec<ProbeTrial> {
    let mut all: Vec<(u64, ProbeTrial)> = Vec::new();
    for op in OPERATIONS {
        // The curve that models ask for is the densest.
        let step = if op == CollectiveOp::AllReduce { 1 } else { 2 };
        for bytes in messages(devices, step) {
            let message = Bytes::new(bytes as f64);
            for regime in [CollectiveRegime::Chained, CollectiveRegime::FreshEntry] {
                let mut shape = CollectiveShape::new(op, devices.len() as u32, message);
                shape.regime = Some(regime);
                shape.rank_rule = Some(RankRule::Longest);
                shape.in_place = Some(false);
                let operation = Operation::Collective { shape, role: None };
                let trial = ProbeTrial::new(operation, Dtype::Bf16, 1);
                all.push((bytes, ProbeTrial { pages: PageAdvice::Default, weight: 0.25, ..trial }));
            }
        }
    }
    all.sort_by_key(|(bytes, _)| *bytes);
    all.into_iter().map(|(_, trial)| trial).collect()
}

impl ProbeBackend for CudaCollectives {
    fn host(&self) -> ProbeHost {
        this_machine()
    }

    /// One, which is all of them.
    fn devices(&self) -> Vec<DeviceFacts> {
        let mut models: Vec<(String, usize)> = Vec::new();
        for Properties { name, .. } in self.ranks.properties() {
            match models.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => models.push((name, 1)),
            }
        }
        let models = models.into_iter().map(|(name, count)| format!("{count} x {name}"));
        vec![DeviceFacts::new(&self.name, models.collect::<Vec<_>>().join(", "))]
    }

    /// Where the library cannot be opened there is one, which says why.
    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        if component != Component::Collective {
            return Vec::new();
        }
        let mut trials = trials(&self.ranks.properties());
        if self.ranks.library().is_err() {
            trials.truncate(1);
        }
        let here = |trial| ProbeTrial { device: Some(self.name.clone()), ..trial };
        trials.into_iter().map(here).collect()
    }

    fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable> {
        if let Some(lost) = &self.lost {
            return Err(Unavailable::because(CudaError::Lost(lost.clone()).to_string()));
        }
        let Operation::Collective { shape, .. } = &trial.operation else {
            let (name, operation) = (&self.name, &trial.operation);
            return Err(Unavailable::because(format!(
                "{operation} is measured on one device, and {name} are several"
            )));
        };
        let (device, ranks) = (self.name.as_str(), &mut *self.ranks);
        let measured = Collecting { ranks, device, time, trial }.collective(shape);
        measured.map_err(|failure| {
            if let Failure::Cuda(error) = &failure
                && (error.is_lasting() || parts_ranks(error))
            {
                self.lost = Some(error.to_string());
            }
            Unavailable::because(failure.to_string())
        })
    }
}

/// Whether ranks would not find one another again.
const fn parts_ranks(error: &CudaError) -> bool {
    matches!(error, CudaError::LibraryFailed { .. } | CudaError::Stuck { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the driver of an H200 describes it.
    const MEMORY: u64 = 150_754_820_096;

    fn devices(count: usize, memory_bytes: u64) -> Vec<Properties> {
        vec![Properties { memory_bytes, ..Properties::default() }; count]
    }

    #[test]
    fn messages_go_from_32_kib_to_16_gib() {
        let all = messages(&devices(8, MEMORY), 1);
        assert_eq!((all[0], all[all.len() - 1], all.len()), (32 << 10, 16 << 30, 20));
        let fewer = messages(&devices(8, MEMORY), 2);
        assert_eq!((fewer[0], fewer[fewer.len() - 1], fewer.len()), (32 << 10, 16 << 30, 11));
    }

    #[test]
    fn messages_are_bounded_by_memory_and_whole_for_any_number_of_ranks() {
        for ranks in 2..20 {
            for memory in [0, 1 << 17, 24 << 30] {
                let all = messages(&devices(ranks, memory), 1);
                let part = ALIGNED * ranks as u64;
                assert!(
                    all.iter()
                        .all(|bytes| bytes.is_multiple_of(part) && *bytes <= memory / OF_MEMORY)
                );
                assert_eq!(all.is_empty(), memory == 0);
            }
        }
    }

    #[test]
    fn nothing_is_measured_twice_and_small_messages_come_first() {
        let trials = trials(&devices(8, MEMORY));
        assert_eq!(trials.len(), 2 * (20 + 4 * 11));
        for (at, trial) in trials.iter().enumerate() {
            assert!(!trials[..at].contains(trial), "{trial:?}");
        }
        let message = |trial: &ProbeTrial| match &trial.operation {
            Operation::Collective { shape, .. } => shape.message.get(),
            _ => f64::NAN,
        };
        assert!(trials.windows(2).all(|pair| message(&pair[0]) <= message(&pair[1])));
    }

    #[test]
    fn a_group_is_named_by_who_is_in_it() {
        let named = [&[0, 1, 2][..], &[0, 2, 3], &[1, 2]].map(group_name);
        assert_eq!(named, ["gpu0-2", "gpu0,2,3", "gpu1-2"]);
    }
}
