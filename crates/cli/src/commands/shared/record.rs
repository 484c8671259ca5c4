//! What goes on record about a run: when, with what command line, on which machine.

use fizeau::core::Nanos;
use fizeau::experiment::{PreparedEndpoint, PreparedWorkload};
use fizeau::harness;
use fizeau::record::{
    ClientPlan, Host, Json, LevelPlan, RequestTimeouts, RunDocument, RunTime, Setup, ToolVersion,
};

use crate::exit::Fail;

/// `run.json` of a run that asks `work` of somebody, in virtual time unless it [is measured](measured).
pub(crate) fn asked(
    setup: &Setup,
    work: &PreparedWorkload,
    levels: Vec<LevelPlan>,
    goodput: &[String],
) -> Result<RunDocument, Fail> {
    let mut document = RunDocument::new(setup.clone(), work.record()?, work.asked_lengths());
    document.time = Some(RunTime::Virtual);
    document.levels = levels;
    document.goodput = goodput.to_vec();
    Ok(document)
}

/// The same of a run that `client` measures at the endpoint that is `called`; the wall clock showed `epoch_unix_ns` at its epoch.
pub(crate) fn measured(
    mut document: RunDocument,
    called: &PreparedEndpoint,
    client: ClientPlan,
    epoch_unix_ns: u64,
) -> Result<RunDocument, Fail> {
    let limits = &called.timeouts;
    document.epoch_unix_ns = Some(epoch_unix_ns);
    document.time = None;
    document.sampling = Json::parse(&called.extra_body).ok().filter(|body| !body.is_empty());
    document.timeouts = RequestTimeouts {
        connect_ms: limits.connect.map(Nanos::to_millis),
        first_token_ms: limits.first_token.map(Nanos::to_millis),
        idle_ms: limits.idle.map(Nanos::to_millis),
        total_ms: limits.total.map(Nanos::to_millis),
    };
    document.client = Some(client);
    document.probed = called.found.as_ref().map(Json::of).transpose().map_err(Fail::broken)?;
    Ok(document)
}

/// This program.
pub(crate) fn tool() -> ToolVersion {
    ToolVersion { name: "fizeau".into(), version: env!("CARGO_PKG_VERSION").into(), commit: None }
}

/// This machine.
pub(crate) fn host() -> Host {
    let here = harness::Host::here();
    Host {
        os: here.system,
        cpu: here.cpu,
        cores: here.logical_cpus.and_then(|n| u32::try_from(n).ok()),
    }
}

/// The command line with the values of headers left out, and user names, passwords and queries out of URLs.
pub(crate) fn command_line() -> Vec<String> {
    redact(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn redact(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut in_headers = false;
    args.map(|arg| {
        let arg = hide_query(arg);
        if let Some((flag, value)) = arg.split_once('=')
            && flag == "--header"
        {
            return format!("{flag}={}", hide_value(value));
        }
        if arg.starts_with("--") {
            in_headers = arg == "--header";
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
        let line = "fizeau bench --header Authorization=Bearer-s3cret X-Key:s3cret --header=A=s3cret \
                    --base-url http://me:s3cret@host:8000/v1 --model m --endpoint /v1/completions?key=s3cret \
                    --endpoint=/x?k=s3cret";
        let kept = redact(line.split_whitespace().map(str::to_owned)).join(" ");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert!(kept.contains("Authorization=... X-Key=... --header=A=..."), "{kept}");
        assert!(kept.contains("http://...@host:8000/v1 --model m"), "{kept}");
        assert!(kept.ends_with("--endpoint /v1/completions?... --endpoint=/x?..."), "{kept}");
    }
}
