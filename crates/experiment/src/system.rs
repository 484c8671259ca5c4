//! What an experiment measures and who runs it, as its record has them.

use std::{env, fs, thread};

use fizeau_record::{
    ClientHost, EndpointRecord, EngineRecord, NoReference, RunSetup, ToolVersion, WorkloadRecord,
};

use crate::wall_time::WallTime;
use crate::workload::ContextLimit;
use fizeau_record::SpeedOfLightReference;

/// What is measured: who answers, and what is known of them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SystemUnderTest {
    /// What is called, for the record; none for the endpoint's own description.
    pub endpoint: Option<EndpointRecord>,
    /// What it is, for the record.
    pub engine: EngineRecord,
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<SpeedOfLightReference, NoReference>,
    /// The most tokens that it takes, where it has said so; none for what the workload or the model's config says.
    pub limit: Option<ContextLimit>,
    /// Who reads the prompts.
    pub reader: PromptReader,
}

/// Who reads the prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PromptReader {
    /// A server, which gets all of them, in everybody's time.
    #[default]
    Server,
    /// A simulated engine in a time of its own, to which a prompt that shares nothing with another is a length.
    Simulation,
}

impl Default for SystemUnderTest {
    /// A server of which no model and no device is known.
    fn default() -> Self {
        Self {
            endpoint: None,
            engine: EngineRecord::Remote { description: None },
            light: Err(NoReference::NotGiven),
            limit: None,
            reader: PromptReader::Server,
        }
    }
}

impl SystemUnderTest {
    /// A server, with a line on what it is, and what the speed of light is computed from, where these are known.
    pub fn server(description: Option<String>, light: Option<SpeedOfLightReference>) -> Self {
        let engine = EngineRecord::Remote { description };
        Self { engine, light: light.ok_or(NoReference::NotGiven), ..Self::default() }
    }

    /// An engine that is simulated in virtual time: what it is, in one line, and what it is called.
    pub fn simulated(description: impl Into<String>, model: impl Into<String>) -> Self {
        let endpoint = EndpointRecord {
            base_url: "a simulated engine in virtual time".to_owned(),
            backend: "simulated".to_owned(),
            model: model.into(),
            ..EndpointRecord::default()
        };
        Self {
            endpoint: Some(endpoint),
            engine: EngineRecord::Simulated { description: description.into() },
            reader: PromptReader::Simulation,
            ..Self::default()
        }
    }
}

/// Who runs an experiment, and since when.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOrigin {
    /// The program that measures.
    pub tool: ToolVersion,
    /// When it began.
    pub started: WallTime,
    /// Its command line, word by word, free of secrets.
    pub command_line: Vec<String>,
    /// The formats of weights and key-value cache, in words; none for those of the model, where it is known.
    pub precision: Option<String>,
}

impl RunOrigin {
    /// This library, now.
    pub fn now() -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            tool: ToolVersion { name: "fizeau".to_owned(), version, commit: None },
            started: WallTime::now(),
            command_line: Vec::new(),
            precision: None,
        }
    }

    /// The same, started by a command line. The values of the flags that are `secret` are left out, as are user names and passwords of URLs and
    /// whatever stands behind a question mark: some servers take their key there.
    #[must_use]
    pub fn with_command_line(
        self,
        words: impl IntoIterator<Item = String>,
        secret: &[&str],
    ) -> Self {
        Self { command_line: redact(words.into_iter(), secret), ..self }
    }

    /// What is run, and on what: `system`, which is asked `workload`.
    pub(crate) fn setup(&self, system: &SystemUnderTest, workload: WorkloadRecord) -> RunSetup {
        let mut setup = RunSetup::default();
        setup.tool = self.tool.clone();
        setup.started = self.started.rfc3339();
        setup.command_line.clone_from(&self.command_line);
        setup.endpoint = system.endpoint.clone().unwrap_or_default();
        setup.engine = system.engine.clone();
        setup.workload = workload;
        setup.host = host();
        setup.precision.clone_from(&self.precision);
        system.light.iter().for_each(|light| light.describe_in(&mut setup));
        setup
    }
}

/// This machine.
fn host() -> ClientHost {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut names = info.lines().filter_map(|line| line.strip_prefix("model name"));
    ClientHost {
        os: format!("{} {}", env::consts::OS, env::consts::ARCH),
        cpu: names.next().map(|rest| rest.trim_start_matches(['\t', ' ', ':']).to_owned()),
        cores: thread::available_parallelism().ok().and_then(|cores| cores.get().try_into().ok()),
    }
}

fn redact(args: impl Iterator<Item = String>, secret: &[&str]) -> Vec<String> {
    let mut in_headers = false;
    args.map(|arg| {
        let arg = hide_query(arg);
        if let Some((flag, value)) = arg.split_once('=')
            && secret.contains(&flag)
        {
            return format!("{flag}={}", hide_value(value));
        }
        if arg.starts_with("--") {
            in_headers = secret.contains(&arg.as_str());
            return hide_user(&arg);
        }
        if in_headers { hide_value(&arg) } else { hide_user(&arg) }
    })
    .collect()
}

/// `NAME=VALUE` without the value.
fn hide_value(header: &str) -> String {
    let name = header.split(['=', ':']).next().unwrap_or_default();
    format!("{name}=...")
}

/// `/v1/completions?key=...` without what comes after the question mark: some servers take their key there.
fn hide_query(arg: String) -> String {
    match arg.split_once('?') {
        Some((path, query)) if query.contains('=') => format!("{path}?..."),
        _ => arg,
    }
}

/// `http://user:password@host` without what comes before the `@`.
fn hide_user(arg: &str) -> String {
    match arg.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split('/').next().unwrap_or_default();
            match authority.rsplit_once('@') {
                Some((user, _)) => format!("{scheme}://...{}", &rest[user.len()..]),
                None => arg.to_owned(),
            }
        }
        None => arg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_stay_out_of_the_record() {
        let secret = ["--header", "--server-metrics-header"];
        let line = "fizeau bench --header Authorization=Bearer-s3cret X-Key:s3cret --header=A=s3cret \
                    --base-url http://me:s3cret@host:8000/v1 --model m --endpoint /v1/completions?key=s3cret \
                    --server-metrics-header Authorization:s3cret --endpoint=/x?k=s3cret";
        let kept = redact(line.split_whitespace().map(str::to_owned), &secret).join(" ");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert!(kept.contains("Authorization=... X-Key=... --header=A=..."), "{kept}");
        assert!(kept.contains("http://...@host:8000/v1 --model m"), "{kept}");
        assert!(kept.ends_with("Authorization=... --endpoint=/x?..."), "{kept}");
        assert!(kept.contains("--endpoint /v1/completions?... --server"), "{kept}");
    }
}
