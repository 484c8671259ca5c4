//! The client's folder against the server's log: each request once in both, under the same kind of end.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::server::Log;

/// How a request ended: `completed`, or the class of its failure.
type Ends = BTreeMap<String, u64>;

/// Both sides of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    levels: usize,
    /// By the client's summaries.
    client: Ends,
    /// By the lines of the client's tapes, each request of a level once.
    tapes: u64,
    /// By the server's log.
    server: Ends,
    /// Records that the server let go before they were read.
    unread: u64,
}

/// What becomes of a request that the fault of that name befalls.
fn end_of(fault: &str) -> &'static str {
    match fault.split(['@', ':']).next().unwrap_or_default() {
        "reset" | "eof" | "cut-chunk" | "cut-head" => "truncated",
        "garbage" => "malformed",
        "429" | "503" => "status",
        "error" => "in_stream_error",
        "no-reply" => "timeout_first_token",
        _ => "completed",
    }
}

#[derive(Debug, Deserialize)]
struct Summary {
    requests: Requests,
}

#[derive(Debug, Deserialize)]
struct Requests {
    completed: u64,
    by_class: Ends,
}

#[derive(Debug, Deserialize)]
struct Tape {
    request: u64,
}

impl Account {
    /// Of the sweep in `out` and of its server, where a front `cut` the replies to the requests of these names.
    pub(super) fn of(out: &Path, log: &Log, cut: &HashSet<String>) -> Result<Self> {
        let (mut client, mut tapes, mut levels) = (Ends::new(), 0, 0);
        for entry in fs::read_dir(out).with_context(|| out.display().to_string())? {
            let path = entry?.path().join("summary.json");
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let summary: Summary =
                serde_json::from_str(&text).with_context(|| path.display().to_string())?;
            levels += 1;
            *client.entry("completed".to_owned()).or_default() += summary.requests.completed;
            for (class, count) in summary.requests.by_class {
                *client.entry(class).or_default() += count;
            }
            tapes += requests_of(&path.with_file_name("tapes.jsonl"))?;
        }
        let mut server = Ends::new();
        for (name, fault) in &log.faults {
            let end = if cut.contains(name) { "truncated" } else { end_of(fault) };
            *server.entry(end.to_owned()).or_default() += 1;
        }
        // What a client gave up had an end of no other kind.
        if log.cancelled > 0 {
            server.insert("cancelled".to_owned(), log.cancelled);
        }
        let read = (log.checks.len() + log.faults.len()) as u64;
        Ok(Self { levels, client, tapes, server, unread: log.recorded.abs_diff(read) })
    }

    pub(super) fn is_even(&self) -> bool {
        let sent: u64 = self.client.values().sum();
        self.client == self.server && self.tapes == sent && self.unread == 0 && sent > 0
    }
}

/// How many requests have a line there; one that has two counts once.
fn requests_of(path: &Path) -> Result<u64> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut requests = HashSet::new();
    for line in BufReader::new(file).lines() {
        let tape: Tape =
            serde_json::from_str(&line?).with_context(|| path.display().to_string())?;
        requests.insert(tape.request);
    }
    Ok(requests.len() as u64)
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent: u64 = self.client.values().sum();
        write!(f, "{sent} requests in {} levels", self.levels)?;
        if self.is_even() {
            return write!(f, ", each once in the server's log: {:?}", self.client);
        }
        write!(f, ": the client has {:?} and {} tapes, ", self.client, self.tapes)?;
        write!(f, "the server {:?}, {} unread", self.server, self.unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_too_few_or_of_another_end_is_uneven() {
        let ends = |pairs: &[(&str, u64)]| -> Ends {
            pairs.iter().map(|(end, count)| ((*end).to_owned(), *count)).collect()
        };
        let even = || Account {
            levels: 1,
            client: ends(&[("completed", 3), ("status", 1)]),
            tapes: 4,
            server: ends(&[("completed", 3), ("status", 1)]),
            unread: 0,
        };
        assert!(even().is_even());
        assert!(!Account { tapes: 3, ..even() }.is_even());
        assert!(!Account { unread: 1, ..even() }.is_even());
        assert!(!Account { server: ends(&[("completed", 4)]), ..even() }.is_even());
    }

    #[test]
    fn a_fault_is_known_with_its_particulars() {
        assert_eq!(end_of("reset@5"), "truncated");
        assert_eq!(end_of("stall@3:300ms"), "completed");
        assert_eq!(end_of(""), "completed");
    }
}
