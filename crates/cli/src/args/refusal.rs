//! What libraries refuse, in the words of this command line: its flags, and what they could be instead.

use fizeau::core::FailureClass;
use fizeau::experiment::{
    EndpointError, ExperimentError, Field, Hint, InputError, LimitSource, TokenizerKind,
};

use crate::exit::Fail;

impl From<InputError> for Fail {
    fn from(error: InputError) -> Self {
        refused(&error, flag)
    }
}

impl From<ExperimentError> for Fail {
    fn from(error: ExperimentError) -> Self {
        of_experiment(error, flag)
    }
}

impl From<EndpointError> for Fail {
    fn from(error: EndpointError) -> Self {
        let hint = error.hint.as_ref().map(hint).unwrap_or_default();
        Self::endpoint(match error.field.map(flag) {
            Some(flag) => format!("{flag}: {}{hint}", error.message()),
            None => format!("{}{hint}", error.message()),
        })
    }
}

/// `error`, where commands differ in what they call some of their flags.
pub(crate) fn of_experiment(error: ExperimentError, flag: impl Fn(Field) -> &'static str) -> Fail {
    match error {
        ExperimentError::Input(error) => refused(&error, flag),
        ExperimentError::Endpoint(error) => error.into(),
        error @ ExperimentError::Stored(_) => Fail::usage(error),
        error => Fail::broken(error),
    }
}

/// `error`, where commands differ in what they call some of their flags.
pub(crate) fn refused(error: &InputError, flag: impl Fn(Field) -> &'static str) -> Fail {
    let hint = error.hint.as_ref().map(hint).unwrap_or_default();
    let (flag, message) = (flag(error.field), error.message());
    Fail::usage(match &error.given {
        _ if flag.is_empty() => format!("{message}{hint}"),
        Some(given) => format!("{flag} {given}: {message}{hint}"),
        None => format!("{flag}: {message}{hint}"),
    })
}

/// The flag of an input; empty for what no one flag says.
pub(crate) fn flag(field: Field) -> &'static str {
    match field {
        Field::BaseUrl => "--base-url",
        Field::Backend => "--backend",
        Field::DetectedBackend => "--backend auto",
        Field::Model => "--model",
        Field::Route => "--endpoint",
        Field::Header => "--header",
        Field::ApiKey => "API key",
        Field::ApiKeyFile => "--api-key-file",
        Field::ConnectTimeout => "--connect-timeout",
        Field::FirstTokenTimeout => "--first-token-timeout",
        Field::IdleTimeout => "--idle-timeout",
        Field::TotalTimeout => "--timeout",
        Field::CaCert => "--ca-cert",
        Field::Insecure => "--insecure",
        Field::ExtraBody => "--extra-body",
        Field::Dataset => "--dataset-name",
        Field::DatasetPath => "--dataset-path",
        Field::DataRepeat => "--no-repeat",
        Field::Requests => "--num-prompts",
        Field::Salt => "--salt",
        Field::Tokenizer => "--tokenizer",
        Field::MaxContext => "--max-model-len",
        Field::Adapters => "--lora-modules",
        Field::PromptLength => "--random-input-len",
        Field::OutputLength => "--random-output-len",
        Field::LengthPreset => "--length-preset",
        Field::LengthPairs => "--length-pairs",
        Field::RangeRatio => "--random-range-ratio",
        Field::DataOutputLength => "--custom-output-len",
        Field::CommonPrefix => "--random-prefix-len",
        Field::PrefixGroups => "--prefix-groups",
        Field::PrefixLength => "--prefix-len",
        Field::PrefixRepetitions => "--prefix-repetition-num-prefixes",
        Field::VocabularySize => "--vocab-size",
        Field::Turns => "--turns",
        Field::ThinkTime => "--think-time",
        Field::Arrivals => "--request-rate",
        Field::Burstiness => "--burstiness",
        Field::ArrivalRescale => "--arrival-rescale",
        Field::TraceSpeedup => "--trace-speedup",
        Field::MaxConcurrency => "--max-concurrency",
        Field::Warmups => "--num-warmups",
        Field::Shard => "--shard",
        Field::ProbeRate => "--probe-request-rate",
        Field::ProbePromptLength => "--probe-input-len",
        Field::ProbeOutputLength => "--probe-output-len",
        Field::ProbeLengths => "--probe-input-len and --probe-output-len",
        Field::Until => "--until",
        Field::Levels => "--levels",
        Field::Rates => "--rates",
        Field::LevelSeconds => "--level-seconds",
        Field::Repeats => "--repeats",
        Field::Refine => "--refine",
        Field::Sustain => "--sustain",
        Field::Budget => "--budget",
        Field::Resume => "--resume",
        Field::Start => "--start",
        Field::Tolerance => "--tolerance",
        Field::Confirm => "--confirm",
        Field::MaxLevels => "--max-levels",
        Field::Rounds => "--rounds",
        Field::Settle => "--settle",
        Field::SidePrompts => "--salt-sides",
        Field::Slo => "--slo",
        Field::Goodput => "--goodput",
        Field::Profile => "--profile",
        Field::Out => "--out",
        Field::GpuHour => "--gpu-hour",
        Field::Threads => "--threads",
        Field::Thresholds => "--threshold",
        Field::ClientCalibration => "--calibrate",
        Field::ModelConfig => "--model-config",
        Field::Hardware => "--hardware",
        Field::Weights => "--weights",
        Field::KvCache => "--kv",
        Field::Calibration => "--calibration",
        _ => "",
    }
}

/// What would be right, by the flags of this command line.
fn hint(hint: &Hint) -> String {
    match hint {
        Hint::AnotherRoute => "; choose another --endpoint or --backend".to_owned(),
        Hint::AnotherRecordRoute => ": choose another --endpoint".to_owned(),
        Hint::TraceIsOneLevel => ", which `fizeau bench` replays".to_owned(),
        Hint::NeedsTurns => ": give --turns, or --multi-turn with sharegpt".to_owned(),
        Hint::SameSalt => ": give all of them the same --salt N".to_owned(),
        Hint::SaidBy(who) => format!(" ({} says so)", said_by(*who)),
        Hint::LeaveOut(who) => format!(" ({}): leave it out of the file", said_by(*who)),
        Hint::CacheBlocks { needed } => format!(
            ": --num-gpu-blocks {needed} or more would do where memory has room for them, or shorter requests"
        ),
        Hint::BuiltWithout(TokenizerKind::Tiktoken) => {
            "; build it with `--features tiktoken`, or leave --tokenizer out: the server then counts".to_owned()
        }
        Hint::BuiltWithout(TokenizerKind::TokenizerJson) => {
            "; build it with `--features hf-tokenizer`, or leave --tokenizer out: the server then counts".to_owned()
        }
        Hint::NeedsLoad => ": --max-concurrency N or --request-rate R".to_owned(),
        Hint::NeedsGoodput => " (--goodput), such as --goodput ttft:500 tpot:50".to_owned(),
        Hint::AsBegun => ": give the flags that the sweep was begun with".to_owned(),
        Hint::IsServerUp => "; is the server up, and is --base-url right?".to_owned(),
        Hint::Failed { class, status, model, backend } => {
            format!("; {}", failed(*class, *status, (model, backend)))
        }
        other => other.to_string(),
    }
}

/// Who says how many tokens a model takes.
fn said_by(who: LimitSource) -> &'static str {
    match who {
        LimitSource::Given => "--max-model-len",
        LimitSource::ModelConfig => "--model-config",
        other => other.name(),
    }
}

/// What to try after a failure.
fn failed(class: FailureClass, status: Option<u16>, (model, backend): (&str, &str)) -> String {
    match (class, status) {
        (FailureClass::Connect | FailureClass::TimeoutConnect, _) => {
            "is the server up, and is --base-url right?".to_owned()
        }
        (FailureClass::Tls, _) => {
            "--ca-cert FILE trusts the certificates in a PEM file, --insecure trusts any".to_owned()
        }
        (FailureClass::Status, Some(401 | 403)) => {
            "give a key in FIZEAU_API_KEY, OPENAI_API_KEY or --api-key-file".to_owned()
        }
        (FailureClass::Status, Some(404)) => {
            format!("check --model ({model}) and --endpoint")
        }
        (FailureClass::Status, Some(300..=399)) => {
            "the server sends elsewhere: give that address as --base-url".to_owned()
        }
        (FailureClass::Status, Some(400 | 413 | 422)) => {
            "the server refuses this request: check --backend, --model and the lengths".to_owned()
        }
        (FailureClass::Status, Some(429 | 503)) => "the server is busy: try again later".to_owned(),
        (FailureClass::Status, _) => "look at the server's log".to_owned(),
        (
            FailureClass::TimeoutFirstToken
            | FailureClass::TimeoutIdle
            | FailureClass::TimeoutTotal,
            _,
        ) => "raise the timeout, or look at the server's log".to_owned(),
        _ => format!("this is not what {backend} streams: check --backend and --endpoint"),
    }
}
