//! Whether a model and its requests fit, and if not, on how many devices they would.

use fizeau_core::{Bytes, Tokens};

use crate::memory::{Memory, usable};
use crate::model::unread_in_words;
use crate::reach::ModelReaches;
use crate::system::System;
use crate::{Deployment, RequestLengths, UniformLoad};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadAnalysisError {
    /// A load without requests is no load, and a request without a prompt or without output is no request.
    #[error("the load has 0 {0}; it must have at least 1")]
    Empty(&'static str),
    /// The lengths were added up for another model.
    #[error(
        "the lengths were added up for a model with other attention windows; use Lengths::for_model"
    )]
    OtherWindows,
    /// The weights fit, one request's cache beside them does not.
    #[error(
        "one request of {tokens} tokens needs {:.2} GB of cache{}, {:.2} GB more than {} beside the \
         weights; shorten it or {}{}",
        gb(*.needed), each(*.devices), gb(*.needed) - gb(*.room), has(device, *.devices), more(.would_do),
        as_read(.unread)
    )]
    NoRoomForRequest {
        /// The device's name.
        device: String,
        /// The devices of a replica.
        devices: u64,
        /// Prompt and output together.
        tokens: Tokens,
        /// The request's cache at its end, on a device.
        needed: Bytes,
        /// The memory that the weights leave there.
        room: Bytes,
        /// Which deployments on more of these devices would do ([`System::would_do`]).
        would_do: Vec<Deployment>,
        /// What of the model's config was not understood ([`Model::unread`](crate::Model::unread)).
        unread: Vec<String>,
    },
    /// The weights alone exceed the devices' memory.
    #[error(
        "the weights take {:.2} GB{}, {:.2} GB more than the {:.2} GB {} {device}; \
         take fewer bytes per weight or {}{}",
        gb(*.needed), each(*.devices), gb(*.needed) - gb(*.memory), gb(*.memory),
        if *.is_all { "of" } else { "that an engine may use of" }, more(.would_do), as_read(.unread)
    )]
    WeightsDoNotFit {
        /// The device's name.
        device: String,
        /// The devices of a replica.
        devices: u64,
        /// What the weights take on the fullest device.
        needed: Bytes,
        /// What there is for them.
        memory: Bytes,
        /// Whether that is all that the device has, or what an engine may use of it.
        is_all: bool,
        /// Which deployments on more of these devices would do ([`System::would_do`]).
        would_do: Vec<Deployment>,
        /// What of the model's config was not understood ([`Model::unread`](crate::Model::unread)).
        unread: Vec<String>,
    },
}

fn gb(bytes: Bytes) -> f64 {
    bytes.get() / 1e9
}

fn each(devices: u64) -> String {
    if devices > 1 { format!(" on each of {devices} devices") } else { String::new() }
}

fn has(device: &str, devices: u64) -> String {
    if devices > 1 { format!("each {device} has") } else { format!("{device} has") }
}

/// That the model may be another one, and its size with it.
fn as_read(unread: &[String]) -> String {
    unread_in_words(unread).map_or_else(String::new, |unread| {
        format!(
            "; this is the model as its config was read, which was not understood whole ({unread})"
        )
    })
}

/// `take 12 devices (TP4 PP3) or 16 (TP16)`.
fn more(would_do: &[Deployment]) -> String {
    let [first, others @ ..] = would_do else { return "take larger devices".to_owned() };
    let others = others.iter();
    let others = others.map(|one| format!(" or {} ({one})", one.devices_per_replica()));
    let others: String = others.collect();
    format!("take {} devices ({first}){others}", first.devices_per_replica())
}

impl System {
    /// Whether one request of `load` runs, as engines spread the model.
    pub(crate) fn check(&self, load: &UniformLoad) -> Result<(), LoadAnalysisError> {
        if let Some(what) = load.lacks() {
            return Err(LoadAnalysisError::Empty(what));
        }
        let memory = self.memory_account();
        let usable = usable(self.device(), self.serving());
        if memory.weights() >= usable {
            let (needed, memory) = (memory.weights(), usable);
            return Err(self.weights_do_not_fit(
                needed,
                memory,
                self.serving().memory_share >= 1.0,
            ));
        }
        let needed = self.needed_by_one(memory, load);
        let room = usable - memory.weights();
        if needed > room || self.max_batch(load) < 1.0 {
            let would_do = self.would_do_with(|memory| self.needed_by_one(memory, load));
            return Err(self.no_room(
                load.input_tokens + load.output_tokens,
                needed,
                room,
                would_do,
            ));
        }
        Ok(())
    }

    /// Whether the longest request runs at best, with all memory free and the weights spread evenly.
    pub(crate) fn check_ideal(&self, lengths: &RequestLengths) -> Result<(), LoadAnalysisError> {
        if let Some(what) = lengths.lacks() {
            return Err(LoadAnalysisError::Empty(what));
        }
        if !lengths.are_for(self.reaches()) {
            return Err(LoadAnalysisError::OtherWindows);
        }
        let memory = self.memory_account();
        let devices = self.deployment().devices_per_replica() as f64;
        let room = memory.ideal_room(self.device(), self.deployment()) / devices;
        if room <= 0.0 {
            let needed = memory.ideal_weights() / devices;
            return Err(self.weights_do_not_fit(needed, self.device().memory().get(), true));
        }
        let needed = memory.ideal_sequence(lengths.longest.get() as f64 - 1.0) / devices;
        if needed > room {
            let would_do = self.would_do(lengths.longest);
            return Err(self.no_room(lengths.longest, needed, room, would_do));
        }
        Ok(())
    }

    /// How many requests of these lengths the silicon could hold at once.
    pub(crate) fn most_of(&self, lengths: &RequestLengths) -> f64 {
        let memory = self.memory_account();
        let (tokens, state) = memory.ideal_kept();
        let prefix = self.serving().prefix;
        let kept = tokens.iter().map(|(reach, bytes)| bytes * lengths.resident(reach, prefix));
        let each = kept.sum::<f64>() + state;
        let room = memory.ideal_room(self.device(), self.deployment());
        // A request that fits at its longest always runs.
        (room / each).max(1.0) * f64::from(self.deployment().replicas())
    }

    fn weights_do_not_fit(&self, needed: f64, memory: f64, is_all: bool) -> LoadAnalysisError {
        LoadAnalysisError::WeightsDoNotFit {
            device: self.device().name.to_owned(),
            devices: self.deployment().devices_per_replica(),
            needed: Bytes::new(needed),
            memory: Bytes::new(memory),
            is_all,
            would_do: self.would_do(Tokens::new(1)),
            unread: self.model().unread().to_vec(),
        }
    }

    fn no_room(
        &self,
        tokens: Tokens,
        needed: f64,
        room: f64,
        would_do: Vec<Deployment>,
    ) -> LoadAnalysisError {
        LoadAnalysisError::NoRoomForRequest {
            device: self.device().name.to_owned(),
            devices: self.deployment().devices_per_replica(),
            tokens,
            needed: Bytes::new(needed),
            room: Bytes::new(room),
            would_do,
            unread: self.model().unread().to_vec(),
        }
    }

    /// The fewest devices of this kind, as engines spread the model over tensor-parallel ranks and pipeline stages, on
    /// which it runs with one request of `tokens` tokens; none within 64 ranks and 64 stages.
    #[must_use]
    pub fn fewest_devices(&self, tokens: Tokens) -> Option<u64> {
        self.would_do(tokens).first().map(Deployment::devices_per_replica)
    }

    /// The deployments on the fewest devices of this kind on which the model runs with one request of `tokens` tokens: of any tensor
    /// parallelism and pipeline stages up to 64, and then, if that is another, of tensor parallelism alone.
    #[must_use]
    pub fn would_do(&self, tokens: Tokens) -> Vec<Deployment> {
        // The last token is never cached.
        let context = self.in_blocks(tokens.get() as f64 - 1.0);
        self.would_do_with(|memory| memory.sequence(context, 0.0))
    }

    /// Those on which so much is free beside the weights.
    fn would_do_with(&self, needed: impl Fn(&Memory) -> f64) -> Vec<Deployment> {
        let model = self.model();
        let reaches = ModelReaches::of(model);
        let room = usable(self.device(), self.serving());
        let runs = |ranks: u32, stages: u32| {
            let tensor = Deployment::SINGLE.with_tensor(ranks).ok()?;
            let deployment = tensor.with_pipeline(stages).ok()?;
            deployment.check(model).ok()?;
            let memory = Memory::new(model, &deployment, &reaches);
            (memory.weights() + needed(&memory) <= room).then_some(deployment)
        };
        let mut fewest: Option<Deployment> = None;
        for ranks in 1..=MOST {
            // Of as many devices the one with more ranks, which answers sooner.
            let most = fewest.map_or(MOST, |known| known.devices_per_replica() as u32 / ranks);
            fewest = (1..=most.min(MOST)).find_map(|stages| runs(ranks, stages)).or(fewest);
        }
        let tensor = (1..=MOST).find_map(|ranks| runs(ranks, 1));
        fewest.into_iter().chain(tensor.filter(|tensor| Some(*tensor) != fewest)).collect()
    }
}

/// More ranks or stages than these are not looked at.
const MOST: u32 = 64;
