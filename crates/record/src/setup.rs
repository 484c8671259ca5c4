//! What was run, and on what: everything a reader needs to judge a figure or to measure it again.

use fizeau_core::document;
use serde::{Deserialize, Serialize};

use crate::RequestedLoad;
#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;

/// What was run, and on what.
///
/// Plain data, filled in by whoever ran it. Nothing here may hold a secret: neither the command line nor the
/// base URL is looked at for one. By default nothing is known: texts are empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
#[non_exhaustive]
pub struct RunSetup {
    /// The program that measured.
    pub tool: ToolVersion,
    /// When the run began, by the wall clock, as RFC 3339 text.
    pub started: String,
    /// The command line, word by word, free of secrets.
    pub command_line: Vec<String>,
    /// What was called.
    pub endpoint: EndpointRecord,
    /// What is known of the engine behind it.
    pub engine: EngineRecord,
    /// What was asked of it.
    pub workload: WorkloadRecord,
    /// The machine that the client ran on.
    pub host: ClientHost,
    /// The model's name for the speed of light; absent if none was given.
    pub model_config: Option<String>,
    /// The device's name for the speed of light; absent if none was given.
    pub hardware: Option<String>,
    /// How the model lies on such devices, in words: `8 devices, TP8; weights fp8`; absent if there is no speed of light.
    pub deployment: Option<String>,
    /// The formats of weights and key-value cache, in words: `weights bf16, KV cache bf16`; absent if nobody said.
    pub precision: Option<String>,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub struct ToolVersion {
    /// Its name.
    pub name: String,
    /// Its version, as it calls itself.
    pub version: String,
    /// The commit it was built from; absent if the build did not know.
    pub commit: Option<String>,
}

document! {
    /// What was called.
    #[derive(Eq, Default)]
    #[serde(default)]
    pub struct EndpointRecord {
        /// Scheme, host and port, without user name or password.
        pub base_url: String,
        /// The path of the route.
        pub path: String,
        /// The dialect spoken.
        pub backend: String,
        /// The model's name as sent.
        pub model: String,
        /// How it was reached.
        pub connections: ConnectionRecord,
        /// What became of its prefix cache before each level; absent where it was left as it was.
        pub prefix_cache?: String,
    }
}

document! {
    /// How the endpoint was reached. Words for people; what does not apply is left out. Without a version of HTTP there were no
    /// connections: an engine was simulated in virtual time.
    #[derive(Eq, Default)]
    #[serde(default)]
    pub struct ConnectionRecord {
        /// Further servers that shared the requests with the first, as scheme, host and port, in the order of the
        /// endpoint numbers on the tapes.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub also_at: Vec<String>,
        /// How they shared them.
        pub balance?: String,
        /// The names of the headers that were sent besides, sorted; what they say may be secret.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub headers: Vec<String>,
        /// The version of HTTP.
        pub http_version: String,
        /// With HTTP/2, the most requests at a time on one connection.
        pub http2_streams?: u32,
        /// How long a connection lived: kept for the next request, or closed after one.
        pub lifetime: String,
        /// Behind TLS, whether certificates were checked, and by what.
        pub certificates?: String,
        /// The proxies that stood between, without user and password.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub proxies: Vec<String>,
        /// Who was asked to stamp arrivals.
        pub stamps: String,
    }
}

/// What no file says.
pub const NOT_RECORDED: &str = "not recorded";

impl ConnectionRecord {
    /// All of it in one line.
    fn words(&self) -> String {
        if self.http_version.is_empty() {
            // Of an import nobody knows how it was reached; a simulation has none.
            let is_unknown = self.lifetime == NOT_RECORDED;
            return if is_unknown { NOT_RECORDED.to_owned() } else { "none".to_owned() };
        }
        let mut words = vec![format!("HTTP/{}", self.http_version)];
        words.extend(self.http2_streams.map(|n| format!("{n} requests at a time on each")));
        words.push(format!("connections: {}", self.lifetime));
        words.extend(self.certificates.iter().map(|how| format!("certificates: {how}")));
        words.extend(self.proxies.iter().map(|proxy| format!("through the proxy {proxy}")));
        words.push(format!("stamps: {}", self.stamps));
        let others = self.also_at.iter().map(|url| format!("also at {url}"));
        words.extend(others);
        words.extend(self.balance.iter().map(|balance| format!("balance: {balance}")));
        words.join(", ")
    }
}

/// What is known of the engine behind the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub enum EngineRecord {
    /// No hardware served the requests: a model of an engine did. Every report says so.
    Simulated {
        /// Which engine, model and device it plays, in one line.
        description: String,
    },
    /// A server that Fizeau did not start.
    Remote {
        /// What the person who ran it said of it; absent if nothing.
        #[serde(default)]
        description: Option<String>,
    },
}

impl Default for EngineRecord {
    /// A server of which nobody said anything.
    fn default() -> Self {
        Self::Remote { description: None }
    }
}

document! {
    /// What was asked of the endpoint.
    #[derive(Default)]
    #[serde(default)]
    pub struct WorkloadRecord {
        /// Where the prompts come from.
        pub dataset: String,
        /// How long prompts are, in words: `250`, `uniform 200 to 300`.
        pub input_tokens: String,
        /// How long outputs are asked to be, in words.
        pub output_tokens: String,
        /// The seed of all that is drawn; absent where nobody recorded it.
        pub seed?: u64,
        /// How requests arrive, in one line.
        pub arrivals: String,
        /// The arrivals and cache hits that were requested, as figures.
        #[serde(alias = "asked")]
        pub requested: RequestedLoad,
    }
}

impl WorkloadRecord {
    /// The arrivals for people. A record has the words of its plan, by which runs are compared: they leave out that rates which
    /// follow from a closed loop go a fifth beyond it.
    #[must_use]
    pub fn arrivals_words(&self) -> String {
        self.arrivals.replace("up to what the closed loop", "up to 1.2 times what the closed loop")
    }

    /// The seed in words.
    #[must_use]
    pub fn seed_words(&self) -> String {
        self.seed.map_or_else(|| NOT_RECORDED.to_owned(), |seed| seed.to_string())
    }
}

/// The machine that the client ran on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub struct ClientHost {
    /// The operating system and its version.
    pub os: String,
    /// The processor's name; absent where the system does not report it.
    pub cpu: Option<String>,
    /// How many processors the client could use; absent where the system does not report it.
    pub cores: Option<u32>,
}

impl EngineRecord {
    /// What answered, in one line: `simulated: ...`, `remote`.
    #[must_use]
    pub fn words(&self) -> String {
        let (engine, description) = match self {
            Self::Simulated { description } => ("simulated", Some(description)),
            Self::Remote { description } => ("remote", description.as_ref()),
        };
        match description {
            Some(description) => format!("{engine}: {description}"),
            None => engine.to_owned(),
        }
    }
}

impl RunSetup {
    /// The command line, as one would type it again; of an import nobody knows it.
    pub fn command_line_words(&self) -> String {
        match self.command_line.as_slice() {
            [] => NOT_RECORDED.to_owned(),
            words => command_line(words),
        }
    }

    /// Every field as a name and a value in words, in the order in which a reader wants them.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let none = |what: &Option<String>| what.clone().unwrap_or_else(|| "not given".to_owned());
        let unknown = |what: Option<String>| what.unwrap_or_else(|| "unknown".to_owned());
        let engine = self.engine.words();
        let tool = &self.tool;
        let commit = tool.commit.as_ref();
        let commit = commit.map_or_else(String::new, |commit| format!(" ({commit})"));
        vec![
            ("Model", self.endpoint.model.clone()),
            ("Endpoint", format!("{}{}", self.endpoint.base_url, self.endpoint.path)),
            ("Connections", self.endpoint.connections.words()),
            ("Backend", self.endpoint.backend.clone()),
            ("Engine", engine),
            ("Dataset", self.workload.dataset.clone()),
            ("Input tokens", self.workload.input_tokens.clone()),
            ("Output tokens", self.workload.output_tokens.clone()),
            ("Arrivals", self.workload.arrivals_words()),
            ("Seed", self.workload.seed_words()),
            ("Speed of light: model", none(&self.model_config)),
            ("Speed of light: device", none(&self.hardware)),
            ("Speed of light: deployment", none(&self.deployment)),
            ("Precision", none(&self.precision)),
            ("Client machine", self.host.os.clone()),
            ("Client processor", unknown(self.host.cpu.clone())),
            ("Client cores", unknown(self.host.cores.map(|cores| cores.to_string()))),
            ("Started", self.started.clone()),
            ("Tool", format!("{} {}{commit}", tool.name, tool.version)),
            ("Command line", self.command_line_words()),
        ]
    }
}

const NOT_GIVEN: &str = "none was given";
const UNTOLD: &str = "the system does not report it";

reasons!(RunSetup, |setup| {
    model_config, hardware, deployment, precision => NOT_GIVEN
});

reasons!(EngineRecord, |engine| {
    "description" when matches!(engine, Self::Remote { description: None }) => NOT_GIVEN
});

reasons!(ToolVersion, |tool| { commit => "the build did not record it" });

reasons!(ClientHost, |host| { cpu, cores => UNTOLD });

/// The words joined so that a shell would split them the same way.
fn command_line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{ClientHost, EngineRecord, ToolVersion, command_line};

    #[test]
    fn what_is_absent_is_null_with_a_reason() {
        let tool = ToolVersion { name: "t".into(), version: "1".into(), commit: None };
        let host = ClientHost { os: "linux".into(), cpu: Some("x".into()), cores: None };
        let engine = EngineRecord::Remote { description: None };
        let text = serde_json::to_string(&(tool, host, engine)).unwrap();
        assert_eq!(
            text,
            r#"[{"name":"t","version":"1","commit":null,"commit_reason":"the build did not record it"},{"os":"linux","cpu":"x","cores":null,"cores_reason":"the system does not report it"},{"kind":"remote","description":null,"description_reason":"none was given"}]"#
        );
    }

    #[test]
    fn a_word_that_a_shell_would_split_is_quoted() {
        let words = ["fizeau", "--slo", "p99 ttft<500ms", "", "it's"].map(str::to_owned);
        assert_eq!(command_line(&words), r"fizeau --slo 'p99 ttft<500ms' '' 'it'\''s'");
    }
}
