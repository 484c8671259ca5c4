//! How a run goes on, shown while it does: as lines on a terminal, or on all of it; in a pipe by a line for each level.
//!
//! The run tells [`Progress`] of each request that ended, which takes note; whoever draws reads that from a thread of its own, four
//! times a second for the lines and at most ten for the whole screen. Neither the threads that measure nor their event loops take
//! part. How many requests are in flight is read from the harness's own count.

mod waiting;

pub(crate) use waiting::Waiting;

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(feature = "tui")]
use fizeau::experiment::LiveScreen;
use fizeau::experiment::{RunEvent, RunNote, SharedProgress, Watcher};
use fizeau::harness::Cancel;
use fizeau::record::RunSetup;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

#[cfg(feature = "tui")]
use crate::exit::Exit;
use crate::terminal::say::say;
#[cfg(feature = "tui")]
use crate::terminal::screen::charset;
use crate::terminal::screen::of_stderr;

/// Where the terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// What is run, and on what, in a line.
pub(crate) fn title(command: &str, setup: &RunSetup) -> String {
    format!("fizeau {command}  {} at {}", setup.endpoint.model, setup.endpoint.base_url)
}

/// How a run is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum View {
    /// By two lines at the foot of the terminal, if there is one.
    #[default]
    Lines,
    /// Likewise, but a pipe is told nothing: time is virtual, and the result is there at once.
    Simulated,
    /// On the whole of it.
    Screen,
}

/// A run, watched until this is dropped.
pub(crate) struct Progress {
    watched: SharedProgress,
    show: Show,
}

/// Where it is shown.
enum Show {
    Nowhere,
    /// On standard error that is no terminal: how long the run takes, and a line for each level.
    Plain {
        awaits_pace: bool,
    },
    Lines(ProgressBar),
    #[cfg(feature = "tui")]
    Screen(LiveScreen),
}

impl Progress {
    /// Shows a run as `view` has it, on standard error if that is a terminal. `cancel` ends the run where keys can.
    pub(crate) fn new(view: View, title: String, cancel: &Cancel) -> Self {
        let watched = SharedProgress::default();
        let show = match std::io::stderr().is_terminal() {
            true => Show::new(view, &watched, title, cancel),
            false if view == View::Simulated => Show::Nowhere,
            false => Show::Plain { awaits_pace: true },
        };
        Self { watched, show }
    }

    /// Says `text` on standard error without getting into the way of what is shown there.
    fn say(&self, text: &str) {
        match &self.show {
            Show::Nowhere | Show::Plain { .. } | Show::Lines(_) => tell!("{text}"),
            #[cfg(feature = "tui")]
            Show::Screen(screen) => screen.note(text),
        }
    }
}

impl Show {
    #[cfg_attr(not(feature = "tui"), expect(unused_variables, reason = "lines have no title"))]
    fn new(view: View, watched: &SharedProgress, title: String, cancel: &Cancel) -> Self {
        #[cfg(feature = "tui")]
        if view == View::Screen {
            let quit = || std::process::exit(Exit::Interrupted as i32);
            match LiveScreen::start(title, charset(), cancel, quit) {
                Ok(screen) => return Self::Screen(screen),
                Err(error) => {
                    tell!("note: --live: the terminal does not take a full screen: {error}");
                }
            }
        }
        Self::lines(watched)
    }

    /// Drawn by a thread of indicatif's.
    fn lines(watched: &SharedProgress) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        let watched = watched.clone();
        let told = move |_: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let (state, now) = watched.now();
            // A line that cannot be written is not there.
            let _ = out.write_str(&state.lines(now, of_stderr().unwrap_or(USUAL_WIDTH)));
        };
        if let Ok(style) = ProgressStyle::with_template("{lines}") {
            bar.set_style(style.with_key("lines", told));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        *the_lines() = Some(bar.clone());
        Self::Lines(bar)
    }
}

/// The lines that are shown, if any: there is one terminal for the whole process.
static LINES: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn the_lines() -> MutexGuard<'static, Option<ProgressBar>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what `writes` to standard error while the lines of a run are out of the way.
pub(crate) fn aside(writes: impl FnOnce()) {
    match &*the_lines() {
        Some(bar) => bar.suspend(writes),
        None => writes(),
    }
}

/// Gives the terminal back as it was, if a run has all of it; for who is about to end the program.
pub(crate) fn leave_screen() {
    #[cfg(feature = "tui")]
    LiveScreen::give_back();
}

/// Whether a run has the whole terminal, and says itself what is to be said.
pub(crate) fn is_full_screen() -> bool {
    #[cfg(feature = "tui")]
    return LiveScreen::is_shown();
    #[cfg(not(feature = "tui"))]
    false
}

/// A note in the words of this command line.
pub(crate) fn words(note: &RunNote) -> String {
    let words = match note {
        RunNote::Unchecked => return format!("warning: --insecure: {note}"),
        RunNote::Proxy(proxy) => format!(
            "requests go through the proxy {proxy}, as the environment says, and every latency \
             includes its time (NO_PROXY names hosts to reach directly)"
        ),
        RunNote::ScarcePorts { requests, limit } => format!(
            "--new-connection-per-request makes {requests} connections, and a closed one keeps its port for a minute: \
             more than {limit} in a minute will fail"
        ),
        RunNote::ScarceConnections { .. } => {
            format!("{note}; raise `ulimit -n`, or give --max-concurrency")
        }
        RunNote::ShortLevels { time, needs } => format!(
            "levels of {} s cannot show queues that grow slowly; use --level-seconds {}",
            time.as_secs_f64(),
            needs.as_secs_f64()
        ),
        RunNote::ShortLevel { time, needs } => format!(
            "--budget leaves {:.0} s for a level, and levels shorter than {} s cannot show queues that grow slowly",
            time.as_secs_f64(),
            needs.as_secs_f64()
        ),
        RunNote::NoServerMetrics(_) => {
            format!("{note} (--no-server-metrics stops looking for them)")
        }
        RunNote::ServerMetricsNeedKey(_) => {
            format!("{note} (--server-metrics-header NAME=VALUE)")
        }
        RunNote::RepeatsLeftOut { missing } => {
            format!("--repeats: --budget left no time for {missing} of them")
        }
        RunNote::Preempted { times } => format!(
            "the key-value cache was full, and {times} times a request was evicted from it and prefilled again; fewer \
             requests at once, shorter ones or --reserve avoid that"
        ),
        other => other.to_string(),
    };
    format!("note: {words}")
}

impl Watcher for Progress {
    fn event(&mut self, event: RunEvent) {
        if let RunEvent::Note(note) = &event {
            self.say(&words(note));
        }
        if let RunEvent::Resumed { finished } = &event {
            let (levels, are) = if *finished == 1 { ("level", "is") } else { ("levels", "are") };
            // Who cannot be told now is told by the next line.
            drop(say(format!("resumed: {finished} {levels} {are} finished")));
        }
        let (mut state, now) = self.watched.now();
        state.note(&event, now);
        let told = match &mut self.show {
            Show::Plain { awaits_pace } => {
                *awaits_pace = state.awaits_pace();
                state.line(&event, now)
            }
            #[cfg(feature = "tui")]
            Show::Screen(screen) => {
                screen.event(event);
                None
            }
            _ => None,
        };
        drop(state);
        told.iter().for_each(|line| self.say(line));
    }

    fn watches_requests(&self) -> bool {
        !matches!(self.show, Show::Nowhere | Show::Plain { awaits_pace: false })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.show {
            Show::Nowhere | Show::Plain { .. } => {}
            Show::Lines(bar) => {
                *the_lines() = None;
                bar.finish_and_clear();
            }
            #[cfg(feature = "tui")]
            Show::Screen(screen) => screen.leave().iter().for_each(|note| tell!("{note}")),
        }
    }
}
