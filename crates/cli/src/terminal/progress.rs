//! How a run goes on, shown while it does: as lines on a terminal, or on all of it; nothing in a pipe.
//!
//! The run tells [`Progress`] of each request that ended, which takes note in a [`LiveState`]; whoever draws reads
//! that from a thread of its own, four times a second for the lines and at most ten for the whole screen. Neither the threads
//! that measure nor their event loops take part. How many requests are in flight is read from the harness's own count.

mod line;
#[cfg(test)]
pub(crate) mod stand;
mod state;
mod waiting;

pub(crate) use line::lines;
#[cfg(feature = "tui")]
pub(crate) use line::{clock, short};
pub(crate) use state::{LiveState, Title};
pub(crate) use waiting::Waiting;

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fizeau::experiment::{Event, Note, Watcher};
use fizeau::harness::Cancel;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::say::say;

/// How a run is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum View {
    /// By two lines at the foot of the terminal, if there is one.
    #[default]
    Lines,
    /// On the whole of it.
    #[cfg(feature = "tui")]
    Screen,
}

/// A run, watched until this is dropped.
pub(crate) struct Progress {
    watched: Watched,
    show: Show,
}

/// Where it is shown.
enum Show {
    Nowhere,
    Lines(ProgressBar),
    #[cfg(feature = "tui")]
    Screen(crate::terminal::live::Screen),
}

/// The state, and since when: whoever draws has one too.
#[derive(Clone)]
pub(crate) struct Watched {
    state: Arc<Mutex<LiveState>>,
    begun: Instant,
}

impl Watched {
    /// The state now, and how long the run goes on.
    pub(crate) fn now(&self) -> (MutexGuard<'_, LiveState>, Duration) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state, self.begun.elapsed())
    }
}

impl Progress {
    /// Shows a run as `view` has it, on standard error if that is a terminal. `cancel` ends the run where keys can.
    pub(crate) fn new(view: View, title: Title, cancel: &Cancel) -> Self {
        let state = Arc::new(Mutex::new(LiveState::new(title)));
        let watched = Watched { state, begun: Instant::now() };
        let show = match std::io::stderr().is_terminal() {
            true => Show::new(view, &watched, cancel),
            false => Show::Nowhere,
        };
        Self { watched, show }
    }

    /// Says `text` on standard error without getting into the way of what is shown there.
    fn say(&self, text: &str) {
        match &self.show {
            Show::Nowhere | Show::Lines(_) => tell!("{text}"),
            #[cfg(feature = "tui")]
            Show::Screen(screen) => screen.note(text),
        }
    }
}

impl Show {
    #[cfg(feature = "tui")]
    fn new(view: View, watched: &Watched, cancel: &Cancel) -> Self {
        match view {
            View::Lines => Self::lines(watched),
            View::Screen => match crate::terminal::live::Screen::start(watched, cancel) {
                Ok(screen) => Self::Screen(screen),
                Err(error) => {
                    tell!("note: --live: the terminal does not take a full screen: {error}");
                    Self::lines(watched)
                }
            },
        }
    }

    #[cfg(not(feature = "tui"))]
    fn new(View::Lines: View, watched: &Watched, _: &Cancel) -> Self {
        Self::lines(watched)
    }

    /// Drawn by a thread of indicatif's.
    fn lines(watched: &Watched) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        let watched = watched.clone();
        let told = move |_: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let (state, now) = watched.now();
            // A line that cannot be written is not there.
            let _ = out.write_str(&lines(&state.progress, now, line::width()));
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
    crate::terminal::live::leave();
}

/// Whether a run has the whole terminal, and says itself what is to be said.
pub(crate) fn is_full_screen() -> bool {
    #[cfg(feature = "tui")]
    return crate::terminal::live::is_on();
    #[cfg(not(feature = "tui"))]
    false
}

/// A note in the words of this command line.
pub(crate) fn words(note: &Note) -> String {
    let words = match note {
        Note::Unchecked => return format!("warning: --insecure: {note}"),
        Note::Proxy(proxy) => format!(
            "requests go through the proxy {proxy}, as the environment says; its time is in every figure (NO_PROXY names \
             hosts to reach directly)"
        ),
        Note::ScarcePorts { requests, limit } => format!(
            "--new-connection-per-request makes {requests} connections, and a closed one keeps its port for a minute: \
             more than {limit} in a minute will fail"
        ),
        Note::ScarceConnections { .. } => {
            format!("{note}; `ulimit -n` makes room, --max-concurrency bounds them")
        }
        Note::ShortLevels { time, needs } => format!(
            "levels of {} s: what takes longer to build up is not seen; --level-seconds {} or more would",
            time.as_secs_f64(),
            needs.as_secs_f64()
        ),
        Note::ShortLevel { time, needs } => format!(
            "--budget leaves {:.0} s for a level: what takes longer to build up is not seen in less than {} s",
            time.as_secs_f64(),
            needs.as_secs_f64()
        ),
        Note::RepeatsLeftOut { missing } => {
            format!("--repeats: there was no time left of --budget for {missing} of them")
        }
        other => other.to_string(),
    };
    format!("note: {words}")
}

impl Watcher for Progress {
    fn event(&mut self, event: Event) {
        if let Event::Note(note) = &event {
            self.say(&words(note));
        }
        if let Event::Resumed { finished, cut } = &event {
            for name in cut {
                self.say(&format!(
                    "note: {name}: its tapes.jsonl is cut in mid-line, so that it is measured again"
                ));
            }
            let (levels, are) = if *finished == 1 { ("level", "is") } else { ("levels", "are") };
            // Who cannot be told now is told by the next line.
            drop(say(format!("resumed: {finished} {levels} {are} finished")));
        }
        if self.watches_requests() {
            let (mut state, now) = self.watched.now();
            state.note(&event, now);
        }
    }

    fn watches_requests(&self) -> bool {
        !matches!(self.show, Show::Nowhere)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.show {
            Show::Nowhere => {}
            Show::Lines(bar) => {
                *the_lines() = None;
                bar.finish_and_clear();
            }
            #[cfg(feature = "tui")]
            Show::Screen(screen) => screen.leave(),
        }
    }
}
