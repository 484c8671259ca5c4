//! What an experiment is given, by name, and what can be wrong of it.

use std::fmt::{self, Display};
use std::path::Path;

use fizeau_metrics::VerdictConcern;
use fizeau_record::StoredError;
use thiserror::Error;

use crate::hint::InputHint;
use crate::measured_level::MeasuredLevel;
use crate::shards::ShardError;

/// Makes [`InputField`]: each input with its plain name.
macro_rules! fields {
    ($($name:ident => $plain:literal,)+) => {
        /// An input of an experiment, for errors: who asks for it by another name (a flag, a key of a form) can say that one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum InputField {
            $(#[doc = concat!("It is ", $plain, ".")] $name,)+
        }

        impl InputField {
            /// Every field there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// What it is, in plain words.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $plain,)+
                }
            }
        }
    };
}

fields! {
    // The endpoint.
    BaseUrl => "the server's address",
    Backend => "the kind of server",
    DetectedBackend => "the kind of server that is to be found out",
    Model => "the model's name",
    Route => "the route",
    Header => "an extra header",
    ApiKey => "the API key",
    ApiKeyFile => "the file of the API key",
    ConnectTimeout => "the time limit of a connection",
    FirstTokenTimeout => "the time limit of a first token",
    IdleTimeout => "the time limit of a silence",
    TotalTimeout => "the time limit of a request",
    CaCert => "the file of trusted certificates",
    Insecure => "the choice to check no certificate",
    ExtraBody => "the further fields of a request's body",
    LogProbabilities => "the log-probabilities",
    // The workload.
    Workload => "the workload",
    Dataset => "the data set",
    DatasetPath => "the data set's file",
    DataRepeat => "the choice that no record comes again",
    Requests => "the number of requests",
    StartAt => "the instant at which it begins",
    Salt => "the salt of the prompts",
    Tokenizer => "the tokenizer",
    MaxContext => "the most tokens that the model takes",
    Adapters => "the adapters",
    PromptLength => "the prompt's length",
    OutputLength => "the output's length",
    LengthPreset => "the preset of lengths",
    LengthPairs => "the pairs of lengths",
    RangeRatio => "the range of lengths",
    DataOutputLength => "the output's length of the data set's requests",
    CommonPrefix => "the prefix that all prompts share",
    PrefixGroups => "the number of shared prefixes",
    PrefixLength => "the length of shared prefixes",
    PrefixRepetitions => "the number of repeated prefixes",
    VocabularySize => "the size of the vocabulary",
    Turns => "the turns of a conversation",
    ThinkTime => "the think time",
    // The load.
    Arrivals => "the arrivals",
    Burstiness => "the burstiness",
    ArrivalRescale => "the choice to stretch arrivals to their mean",
    TraceSpeedup => "the speed of a trace",
    MaxConcurrency => "the most requests in flight",
    Warmups => "the number of warm-up requests",
    Shard => "the shard",
    MissingShards => "the choice to go on without shards that are missing",
    ProbeRate => "the rate of probes",
    ProbePromptLength => "the prompt's length of a probe",
    ProbeOutputLength => "the output's length of a probe",
    ProbeLengths => "the lengths of a probe",
    Until => "the precision that is asked for",
    Window => "the window",
    // The course from level to level.
    Levels => "the levels",
    Rates => "the rates",
    LevelSeconds => "the time of a level",
    Repeats => "the number of repeats",
    Refine => "the number of levels to refine with",
    Sustain => "the time of the sustained run",
    Budget => "the budget of time",
    Resume => "the sweep to go on with",
    Start => "the range of a search",
    Tolerance => "the tolerance of a search",
    Confidence => "the confidence of a search",
    Confirm => "the time of the confirming run",
    MaxLevels => "the most levels of a search",
    Rounds => "the number of rounds",
    Settle => "the time between the sides of an A/B",
    SidePrompts => "the choice of prompts for each side",
    // What is judged and kept.
    Slo => "the goals",
    Goodput => "the goals of single requests",
    Gpus => "the GPUs that serve",
    ForwardPasses => "forward passes",
    ProfiledLevel => "the level under the server's profiler",
    Profile => "the profile",
    Out => "the run's folder",
    GpuHour => "the price of a device",
    // The client.
    Threads => "the number of threads",
    Thresholds => "the thresholds of the verdict",
    Connections => "the connections",
    ClientCalibration => "the client's own calibration",
    // The speed of light.
    ModelConfig => "the model's config",
    Hardware => "the device",
    Weights => "the format of the weights",
    KvCache => "the format of the key-value cache",
    Deployment => "the deployment",
    Calibration => "the calibration",
    // A simulated engine.
    SimulatedEngine => "the simulated engine",
    Engine => "the engine",
    Drafter => "the drafter",
    Replicas => "the replicas",
    Disaggregate => "the instances of prefill and decode",
    PowerLimit => "the limit of power",
}

impl Display for InputField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An input that is wrong. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct InputError {
    /// Which input.
    pub field: InputField,
    /// What it was, where it helps to say so.
    pub given: Option<String>,
    message: String,
    /// What would be right, where that needs the names of other inputs.
    pub hint: Option<InputHint>,
}

impl InputError {
    /// That `field` is wrong, for a reason in one line.
    pub fn new(field: InputField, message: impl Display) -> Self {
        Self { field, given: None, message: message.to_string(), hint: None }
    }

    /// The same, with what was given.
    #[must_use]
    pub fn given(self, given: impl Display) -> Self {
        Self { given: Some(given.to_string()), ..self }
    }

    /// The same, with what would be right.
    #[must_use]
    pub fn hint(self, hint: InputHint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// What is wrong, without the input's name and without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field.name())?;
        if let Some(given) = &self.given {
            write!(f, " {given}")?;
        }
        write!(f, ": {}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "{hint}"))
    }
}

/// An endpoint that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct EndpointError {
    /// The input that led there, where one did.
    pub field: Option<InputField>,
    message: String,
    /// What to try.
    pub hint: Option<InputHint>,
}

impl EndpointError {
    /// That the endpoint cannot be used, for a reason in one line.
    pub fn new(message: impl Display) -> Self {
        Self { field: None, message: message.to_string(), hint: None }
    }

    /// The same, with the input that led there.
    #[must_use]
    pub fn field(self, field: InputField) -> Self {
        Self { field: Some(field), ..self }
    }

    /// The same, with what to try.
    #[must_use]
    pub fn hint(self, hint: InputHint) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// What is wrong, without the input's name and without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.field.map_or(Ok(()), |field| write!(f, "{field}: "))?;
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "{hint}"))
    }
}

/// Why there is no experiment, or no more of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// An input is wrong; nothing was sent.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A stored run cannot be read; nothing was sent.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A level was measured, and its folder could not take the figures.
    #[error("{why}")]
    NotKept {
        /// What was measured anyway.
        measured: Box<MeasuredLevel>,
        /// What the system said.
        #[source]
        why: BoxedError,
    },
    /// The shards of the run cannot measure together; what each had measured lies in its own folder.
    #[error(transparent)]
    Shards(#[from] ShardError),
    /// All was measured, and too few levels are valid to make anything of them; their folders stay.
    #[error("{why}")]
    TooFewValid {
        /// How many are not, and why the first is not.
        why: String,
        /// What that speaks against, where it is known.
        concern: Option<VerdictConcern>,
    },
    /// Something broke in the midst of it; what was written stays.
    #[error(transparent)]
    Broken(BoxedError),
}

/// The error of another layer, whatever that is.
type BoxedError = Box<dyn std::error::Error + Send + Sync>;

impl ExperimentError {
    /// That something broke in the midst.
    pub(crate) fn broken(error: impl Into<BoxedError>) -> Self {
        Self::Broken(error.into())
    }

    /// The same, of an error that may be bound to its thread, as a transport's is: its text alone.
    pub(crate) fn told(error: impl Display) -> Self {
        Self::broken(error.to_string())
    }
}

/// That the file of an input cannot be read.
pub(crate) fn unreadable(field: InputField, path: &Path, error: &std::io::Error) -> InputError {
    let what = match field {
        InputField::Hardware => "the path of a device's TOML file".to_owned(),
        field => format!("the path of {field}"),
    };
    let why = fizeau_record::text::unreadable(error);
    InputError::new(field, format_args!("{why}; give {what}")).given(path.display())
}

/// Says which input an error is about.
pub(crate) trait Blame<T> {
    /// It is about `field`.
    fn blame(self, field: InputField) -> Result<T, InputError>;

    /// It is about `field`, which was `given`.
    fn blame_given(self, field: InputField, given: impl Display) -> Result<T, InputError>;
}

impl<T, E: Display> Blame<T> for Result<T, E> {
    fn blame(self, field: InputField) -> Result<T, InputError> {
        self.map_err(|error| InputError::new(field, error))
    }

    fn blame_given(self, field: InputField, given: impl Display) -> Result<T, InputError> {
        self.map_err(|error| InputError::new(field, error).given(given))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{InputError, InputField};

    #[test]
    fn an_error_names_its_input_plainly() {
        let error = InputError::new(InputField::Shard, "write I/N").given("3");
        assert_eq!(error.to_string(), "the shard 3: write I/N");
        assert_eq!(error.message(), "write I/N");
    }

    #[test]
    fn no_two_fields_share_a_name() {
        let names: BTreeSet<&str> = InputField::ALL.iter().map(|field| field.name()).collect();
        assert_eq!(names.len(), InputField::ALL.len());
        assert!(names.iter().all(|name| !name.contains("--")));
    }
}
