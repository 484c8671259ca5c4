//! What would be right in place of what was refused.

use std::fmt::{self, Display};

use fizeau_core::{FailureClass, Nanos};

/// What would be right, as data: a program shows it by the names that its own reader knows. As text it goes straight behind the
/// message, with whatever stands between them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputHint {
    /// Another route or kind of server takes such prompts.
    AnotherRoute,
    /// Another route takes such records.
    AnotherRecordRoute {
        /// The path of one that does.
        path: String,
    },
    /// A trace is replayed by a single level.
    TraceIsOneLevel,
    /// A think time needs conversations.
    NeedsTurns,
    /// All shards of a run need the same salt.
    SameSalt,
    /// Who set the limit that was passed.
    SaidBy(LimitSource),
    /// A record is beyond the limit, and may be left out of its file.
    LeaveOut(LimitSource),
    /// A cache of so many blocks would do.
    CacheBlocks {
        /// How many blocks.
        needed: u64,
    },
    /// This build cannot read such a tokenizer.
    BuiltWithout(TokenizerKind),
    /// Neither a concurrency nor a rate is given, so that all requests leave at once.
    NeedsLoad,
    /// The server can be asked for the name of its model.
    ServerKnowsModel,
    /// Goals on good requests need goals for single requests.
    NeedsGoodput,
    /// What an endpoint's failure suggests.
    Failed {
        /// What became of the request.
        class: FailureClass,
        /// The status, where there was one.
        status: Option<u16>,
        /// The model that was asked for.
        model: String,
        /// The kind of server that was expected.
        backend: &'static str,
    },
    /// The server may be down, or somewhere else.
    IsServerUp,
    /// A sweep is resumed as it was begun.
    AsBegun,
    /// There is a list of all known devices.
    ListOfDevices,
    /// There is a list of all models that are built in.
    ListOfModels,
    /// A probe writes the file of a device into its folder.
    ProbeWritesDevice,
    /// Constants that do not ship can be had from measurements.
    OwnCalibration,
    /// A budget has to be as long as this at least.
    LongerBudget {
        /// How long.
        least: Nanos,
    },
}

/// Who says how many tokens a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitSource {
    /// Whoever asked for the experiment.
    Given,
    /// The model's config.
    ModelConfig,
    /// The server.
    Server,
    /// The simulated engine.
    SimulatedEngine,
}

fizeau_core::words! {
    /// Who that is, in plain words.
    pub LimitSource::name {
        Given = "the limit that was given", ModelConfig = "the model's config", Server = "the server",
        SimulatedEngine = "the simulated engine",
    }
}

/// A kind of tokenizer that a build may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenizerKind {
    /// Those of tiktoken, by name.
    Tiktoken,
    /// Those of Hugging Face, from a file.
    TokenizerJson,
}

impl Display for InputHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherRoute => f.write_str("; choose another route or kind of server"),
            Self::AnotherRecordRoute { path } => {
                write!(f, ": choose another route, such as {path}")
            }
            Self::TraceIsOneLevel => f.write_str(", which a single level replays"),
            Self::NeedsTurns => f.write_str(": ask for conversations"),
            Self::SameSalt => f.write_str(": give all of them the same salt"),
            Self::SaidBy(who) => write!(f, " ({} says so)", who.name()),
            Self::LeaveOut(who) => write!(f, " ({}): leave it out of the file", who.name()),
            Self::CacheBlocks { needed } => {
                write!(f, ": a cache of {needed} blocks would do, or shorter requests")
            }
            Self::BuiltWithout(TokenizerKind::Tiktoken) => {
                f.write_str(": build with the feature `tiktoken`, or let the server count")
            }
            Self::BuiltWithout(TokenizerKind::TokenizerJson) => {
                f.write_str(": build with the feature `hf-tokenizer`, or let the server count")
            }
            Self::NeedsLoad => f.write_str("; give a number of requests in flight, or a rate"),
            Self::ServerKnowsModel => f.write_str(", or have the kind of server found out"),
            Self::NeedsGoodput => f.write_str(", such as ttft:500 tpot:50"),
            Self::AsBegun => {
                f.write_str("; use the settings that the sweep began with, or begin another sweep")
            }
            Self::LongerBudget { least } => write!(f, "; give {least} or more"),
            Self::ListOfDevices => f.write_str("; the table of devices lists all names"),
            Self::ListOfModels => f.write_str("; the table of models lists all names"),
            Self::ProbeWritesDevice => f.write_str("; a probe writes one into its folder"),
            Self::OwnCalibration => f.write_str("; give a calibration of your own"),
            Self::IsServerUp => f.write_str("; is the server up, and is its address right?"),
            Self::Failed { class, status, model, backend } => {
                f.write_str("; ")?;
                failed(f, *class, *status, model, backend)
            }
        }
    }
}

/// What to try after a failure.
fn failed(
    f: &mut fmt::Formatter<'_>,
    class: FailureClass,
    status: Option<u16>,
    model: &str,
    backend: &str,
) -> fmt::Result {
    f.write_str(match (class, status) {
        (FailureClass::Connect | FailureClass::TimeoutConnect, _) => {
            "is the server up, and is its address right?"
        }
        (FailureClass::Tls, _) => "trust its certificate, or check none",
        (FailureClass::Status, Some(401 | 403)) => "give an API key, or another one",
        (FailureClass::Status, Some(404)) => {
            return write!(f, "check the model's name ({model}) and the route");
        }
        (FailureClass::Status, Some(300..=399)) => "the server redirects to another address: give that one",
        (FailureClass::Status, Some(400 | 413 | 422)) => {
            "the server refuses this request: check its kind, the model and the lengths"
        }
        (FailureClass::Status, Some(429)) => {
            "the server limits the rate of requests: wait, and send fewer a second"
        }
        (FailureClass::Status, Some(503)) => "the server is busy: try again later",
        (FailureClass::Status, _) => "look at the server's log",
        (
            FailureClass::TimeoutFirstToken
            | FailureClass::TimeoutIdle
            | FailureClass::TimeoutTotal,
            _,
        ) => "raise the timeout, or look at the server's log",
        (FailureClass::Malformed, _) => {
            return write!(
                f,
                "two replies in a row are not what {backend} streams: look at the server's log; another kind of server may \
                 answer there"
            );
        }
        _ => "two replies in a row were broken: look at the server's log",
    })
}
