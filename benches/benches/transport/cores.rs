//! Which cores there are, and how busy they were.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{TICK, field};

/// A logical CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Core(u32);

/// Whether what is measured gives way to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// As any program.
    Usual,
    /// Before all programs that are not real-time, so that a busy machine hardly matters.
    RealTime,
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Core {
    /// How long it has been busy since the machine started, with whatever it was.
    pub(crate) fn busy(self) -> Result<Duration> {
        let stat = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        let times = field(&stat, &format!("cpu{self} ")).context("/proc/stat lacks a core")?;
        let times = times.split_ascii_whitespace().map(str::parse::<u32>);
        let times = times.collect::<Result<Vec<_>, _>>().context("/proc/stat has no numbers")?;
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user. See proc(5).
        let busy = [0, 1, 2, 5, 6, 7].iter().filter_map(|at| times.get(*at)).sum::<u32>();
        Ok(TICK * busy)
    }
}

/// Where the server runs, and where the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cores {
    pub(crate) server: Core,
    pub(crate) client: Core,
}

impl Cores {
    /// The first and the last core that this process may use; none if there is but one.
    pub(crate) fn find() -> Result<Option<Self>> {
        let status = fs::read_to_string("/proc/self/status").context("cannot read /proc")?;
        let list = field(&status, "Cpus_allowed_list:").context("/proc names no cores")?;
        let spans: Vec<_> = list.split(',').filter_map(span).collect();
        let ends = spans.first().zip(spans.last());
        let (first, last) =
            ends.map(|(first, last)| (*first.start(), *last.end())).unwrap_or_default();
        Ok((first != last).then_some(Self { server: Core(first), client: Core(last) }))
    }

    /// What is to be known of them.
    pub(crate) fn describe(self) -> String {
        let Core(server) = self.server;
        let Core(client) = self.client;
        let path = format!("/sys/devices/system/cpu/cpu{server}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(path).unwrap_or_default();
        let shared = siblings.trim().split(',').filter_map(span).any(|span| span.contains(&client));
        let note = if shared { " (two threads of one physical core)" } else { "" };
        format!("server on core {server}, client on core {client}{note}")
    }
}

/// `3` or `0-7` of a list of CPUs.
fn span(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}
