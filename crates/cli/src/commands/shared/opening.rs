//! What is told while a run is made ready.

use std::io::IsTerminal;

use fizeau::core::TokenSource;
use fizeau::experiment::{DetectedEndpoint, RunEvent, Watcher};
use fizeau::transport::ForcedLength;

use crate::args::LiveArgs;
use crate::exit::Fail;
use crate::terminal::progress::{View, Waiting, words};
use crate::terminal::say::say;
use crate::terminal::screen::is_dumb;

/// Tells what happens while a run is made ready.
#[derive(Default)]
pub(crate) struct Opening {
    /// Whether nothing but a document may be printed.
    pub(crate) prints_document: bool,
    waiting: Option<Waiting>,
    /// Each is said once, though two endpoints have it.
    notes: Vec<String>,
}

impl Watcher for Opening {
    fn event(&mut self, event: RunEvent) {
        self.waiting = None;
        match event {
            RunEvent::Note(note) => {
                let note = words(&note);
                if !self.notes.contains(&note) {
                    tell!("{note}");
                    self.notes.push(note);
                }
            }
            RunEvent::Asking(url) => {
                self.waiting = Some(Waiting::on(format!("asking {url} for one reply")));
            }
            // Who cannot be told now is told by the next line.
            RunEvent::Detected(found) if !self.prints_document => drop(say(block(&found))),
            _ => {}
        }
    }
}

// `--backend auto`: what an endpoint speaks, for a person.

/// A few lines.
fn block(found: &DetectedEndpoint) -> String {
    let findings = &found.findings;
    let mut rows = findings.rows();
    for (name, value) in &mut rows {
        match *name {
            "token counts" if findings.token_source == TokenSource::Events => {
                value.push_str("; --tokenizer would count");
            }
            "forced length" if findings.forced_length == ForcedLength::Refused => {
                "refused: add --no-ignore-eos".clone_into(value);
            }
            _ => {}
        }
    }
    let server = found.server.as_deref().unwrap_or("an unidentified server");
    let backend = ("backend", format!("{} at {}", found.backend, found.url));
    let rows = std::iter::once(backend).chain(rows);
    let rows = rows.map(|(name, value)| format!("\n  {name:<18}{value}"));
    format!("found {server}, model {}{}", found.model, rows.collect::<String>())
}

// From arguments to how a run is watched.

/// Refuses a full screen where there is none.
pub(crate) fn view(args: LiveArgs) -> Result<View, Fail> {
    if !args.live {
        return Ok(View::Lines);
    }
    refuse_if!(
        cfg!(not(feature = "tui")),
        "--live: this program was built without it; build it with --features tui, or leave it out"
    );
    refuse_if!(
        !std::io::stderr().is_terminal(),
        "--live needs a terminal on standard error; leave it out, and the run is measured in \
         silence"
    );
    refuse_if!(
        is_dumb(),
        "--live needs a terminal with a full screen (TERM=dumb has none); leave it out, and \
         the run is shown in lines"
    );
    Ok(View::Screen)
}
