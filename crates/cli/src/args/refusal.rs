//! What libraries refuse, in the words of this command line: its flags, and what they could be instead.

use fizeau::core::FailureClass;
use fizeau::experiment::{
    EndpointError, ExperimentError, InputError, InputField, InputHint, LimitSource, ShardError,
    TokenizerKind,
};

use crate::exit::{Exit, Fail};

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
        // A server's words may end a sentence, or break off with dots of their own.
        let is_ended = error.message().ends_with('.');
        let hint = if is_ended { hint.trim_start_matches('.') } else { &hint };
        let flag = error.field.map(|field| format!("{}: ", flag(field))).unwrap_or_default();
        Self::endpoint(format!("{flag}{}{hint}", error.message()))
    }
}

impl From<ShardError> for Fail {
    /// Why shards cannot measure together, with an exit code of its own for each kind.
    fn from(error: ShardError) -> Self {
        let exit = match &error {
            ShardError::PeerMissing(_) => Exit::PeerMissing,
            ShardError::Mismatch(_) => Exit::Mismatch,
            ShardError::LateStart(_) => Exit::LateStart,
            ShardError::Unusable(_) => Exit::Usage,
            ShardError::NotKept(_) => Exit::Missed,
            _ => Exit::Interrupted,
        };
        let hint = match &error {
            ShardError::PeerMissing(absence) if absence.can_be_done_without() => {
                "\n`fizeau bench --allow-missing-shards` measures with the shards that come"
            }
            ShardError::PeerMissing(absence) if absence.is_in_the_midst() => {
                "\n`fizeau merge --allow-missing-shards` puts together the folders that there are, of a run of several levels those of one"
            }
            _ => "",
        };
        Self::new(exit, format!("{error}{hint}"))
    }
}

/// `error`, where commands differ in what they call some of their flags.
pub(crate) fn of_experiment(error: ExperimentError, flag: impl Fn(InputField) -> String) -> Fail {
    match error {
        ExperimentError::Input(error) => refused(&error, flag),
        ExperimentError::Endpoint(error) => error.into(),
        error @ ExperimentError::Stored(_) => Fail::usage(error),
        ExperimentError::Shards(error) => error.into(),
        error => Fail::broken(error),
    }
}

/// `error`, where commands differ in what they call some of their flags.
pub(crate) fn refused(error: &InputError, flag: impl Fn(InputField) -> String) -> Fail {
    let hint = error.hint.as_ref().map(hint).unwrap_or_default();
    let (flag, message) = (flag(error.field), error.message());
    Fail::usage(match &error.given {
        _ if flag.is_empty() => format!("{message}{hint}"),
        Some(given) => format!("{flag} {given}: {message}{hint}"),
        None => format!("{flag}: {message}{hint}"),
    })
}

/// The flag of an input, which has the input's name unless another stands here; empty for what no one flag says.
pub(crate) fn flag(field: InputField) -> String {
    let known = match field {
        InputField::ForwardPasses => "--forward-pass",
        InputField::MissingShards => "--allow-missing-shards",
        InputField::ProfiledLevel => "--profile-level",
        InputField::DetectedBackend => "--backend auto",
        InputField::Route => "--endpoint",
        InputField::ApiKey => "API key",
        InputField::TotalTimeout => "--timeout",
        InputField::LogProbabilities => "--logprobs",
        InputField::Dataset => "--dataset-name",
        InputField::DataRepeat => "--no-repeat",
        InputField::Requests => "--num-prompts",
        InputField::MaxContext => "--max-model-len",
        InputField::Adapters => "--lora-modules",
        InputField::PromptLength => "--random-input-len",
        InputField::OutputLength => "--random-output-len",
        InputField::RangeRatio => "--random-range-ratio",
        InputField::DataOutputLength => "--custom-output-len",
        InputField::CommonPrefix => "--random-prefix-len",
        InputField::PrefixLength => "--prefix-len",
        InputField::PrefixRepetitions => "--prefix-repetition-num-prefixes",
        InputField::VocabularySize => "--vocab-size",
        InputField::Arrivals => "--request-rate",
        InputField::Warmups => "--num-warmups",
        InputField::ProbeRate => "--probe-request-rate",
        InputField::ProbePromptLength => "--probe-input-len",
        InputField::ProbeOutputLength => "--probe-output-len",
        InputField::ProbeLengths => "--probe-input-len and --probe-output-len",
        InputField::SidePrompts => "--salt-sides",
        InputField::Profile => "--prefer",
        InputField::Thresholds => "--threshold",
        InputField::ClientCalibration => "--calibrate",
        InputField::KvCache => "--kv",
        InputField::MaxLevels => "--max-levels",
        InputField::Start => "--from, --to",
        InputField::Connections
        | InputField::Deployment
        | InputField::SimulatedEngine
        | InputField::Window
        | InputField::Workload => "",
        named => {
            let letter = |c: char| match c.is_ascii_uppercase() {
                true => format!("-{}", c.to_ascii_lowercase()),
                false => c.to_string(),
            };
            return format!("-{}", format!("{named:?}").chars().map(letter).collect::<String>());
        }
    };
    known.to_owned()
}

/// What would be right, by the flags of this command line.
fn hint(hint: &InputHint) -> String {
    let known = match hint {
        InputHint::AnotherRoute => "; choose another --endpoint or --backend",
        InputHint::AnotherRecordRoute { path } => {
            return format!(": choose another --endpoint, such as {path}");
        }
        InputHint::TraceIsOneLevel => ", which `fizeau bench` replays",
        InputHint::NeedsTurns => ": give --turns, or --multi-turn with sharegpt",
        InputHint::SameSalt => ": give all of them the same --salt N",
        InputHint::SaidBy(who) => return format!(" ({} says so)", said_by(*who)),
        InputHint::LeaveOut(who) => {
            return format!(" ({}): leave it out of the file", said_by(*who));
        }
        InputHint::CacheBlocks { needed } => {
            return format!(
                ": --num-gpu-blocks {needed} or more would do where memory has room for them, or shorter requests"
            );
        }
        InputHint::BuiltWithout(kind) => {
            let feature = match kind {
                TokenizerKind::Tiktoken => "tiktoken",
                _ => "hf-tokenizer",
            };
            return format!(
                "; build it with `--features {feature}`, or leave --tokenizer out: the server then counts"
            );
        }
        InputHint::NeedsLoad => "; give --max-concurrency N or --request-rate R too",
        InputHint::ServerKnowsModel => ", or --backend auto, which asks the server for it",
        InputHint::NeedsGoodput => " (--goodput), such as --goodput ttft:500 tpot:50",
        InputHint::AsBegun => {
            "; give the flags that the sweep was begun with, or begin another with --out"
        }
        InputHint::LongerBudget { least } => {
            return format!("; use --budget {:.0}s", least.as_secs_f64().ceil());
        }
        InputHint::ListOfDevices => "; `fizeau devices` lists all names",
        InputHint::ListOfModels => "; `fizeau models` lists the built-in models",
        InputHint::ProbeWritesDevice => {
            "; `fizeau probe memory compute --out DIR` measures this machine and writes one"
        }
        InputHint::OwnCalibration => "; name the file of one with --calibration",
        InputHint::IsServerUp => return format!(". {}", failed(FailureClass::Connect, None)),
        InputHint::Failed { class, status, model, backend } => {
            let text = failed(*class, *status);
            return format!(". {}", text.replace("{model}", model).replace("{backend}", backend));
        }
        other => return other.to_string(),
    };
    known.to_owned()
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
const fn failed(class: FailureClass, status: Option<u16>) -> &'static str {
    use FailureClass as Class;
    match (class, status) {
        (Class::Connect | Class::TimeoutConnect, _) => "Is the server up, and is this its address?",
        (Class::Tls, _) => {
            "--ca-cert FILE trusts the certificates in a PEM file, --insecure trusts any"
        }
        (Class::Status, Some(401 | 403)) => {
            "The server wants a key, or refuses the one that was sent: give it in FIZEAU_API_KEY, OPENAI_API_KEY or --api-key-file"
        }
        (Class::Status, Some(404)) => "Check --base-url, --model ({model}), --backend, --endpoint",
        (Class::Status, Some(300..=399)) => {
            "The server redirects to another address: give that one as --base-url"
        }
        (Class::Status, Some(400 | 413 | 422)) => {
            "The server refuses this request: check --backend, --model and the lengths"
        }
        (Class::Status, Some(429)) => {
            "The server limits the rate of requests: wait, and stay below its limit with --request-rate"
        }
        (Class::Status, Some(503)) => "The server is busy: try again later",
        (Class::Status, _) => "Look at the server's log",
        (Class::TimeoutFirstToken, _) => "Raise --first-token-timeout, or look at the server's log",
        (Class::TimeoutIdle, _) => "Raise --idle-timeout, or look at the server's log",
        (Class::TimeoutTotal, _) => "Raise --timeout, or look at the server's log",
        (Class::Malformed, _) => {
            "Two replies in a row are not what {backend} streams: look at the server's log; --backend auto finds out whether \
             another kind of server answers there"
        }
        _ => "Two replies in a row were broken: look at the server's log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_of_an_input_is_one_of_a_command() {
        let cli = crate::args::command();
        let all = cli.get_subcommands().flat_map(clap::Command::get_arguments);
        let known: Vec<&str> = all.filter_map(clap::Arg::get_long).collect();
        for &field in InputField::ALL {
            let flag = flag(field);
            let names = flag.split([' ', ',']).filter_map(|word| word.strip_prefix("--"));
            names.for_each(|name| assert!(known.contains(&name), "{field:?}: --{name}"));
        }
    }
}
