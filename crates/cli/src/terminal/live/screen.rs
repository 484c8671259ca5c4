//! The terminal, taken and given back.

use std::io::{self, BufWriter, Stderr, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fizeau::harness::Cancel;
use fizeau::report::Charset;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw::draw;
use crate::exit::Exit;
use crate::terminal::progress::Watched;
use crate::terminal::screen::charset;

/// How often it is drawn at the most.
const EVERY: Duration = Duration::from_millis(100);

/// Whether the terminal is ours. There is one for the whole process, so whoever ends that gives it back.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether a run has the whole terminal, so that nobody else may write on it.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was, if it is ours.
pub(crate) fn leave() {
    if IS_ON.swap(false, Ordering::SeqCst) {
        // Nothing is left to do about a terminal that is gone.
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// A run on the whole terminal.
pub(crate) struct Screen {
    watched: Watched,
    cancel: Cancel,
    /// Thrown when it is to draw no more.
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal and shows what is `watched`. Keys throw `cancel`.
    ///
    /// # Errors
    /// If standard error is no terminal that takes this, or the system refuses a thread. Then it is as it was.
    pub(crate) fn start(watched: &Watched, cancel: &Cancel) -> io::Result<Self> {
        leave_on_panic();
        let over = Arc::new(AtomicBool::new(false));
        let painter = Painter {
            terminal: enter()?,
            watched: watched.clone(),
            cancel: cancel.clone(),
            charset: charset(),
            over: Arc::clone(&over),
        };
        let named = thread::Builder::new().name("fizeau-screen".into());
        let thread = named.spawn(move || painter.run()).inspect_err(|_| leave())?;
        let (watched, cancel) = (watched.clone(), cancel.clone());
        Ok(Self { watched, cancel, over, thread: Some(thread) })
    }

    /// Shows `text`, and says it again on standard error once the terminal is given back.
    pub(crate) fn note(&self, text: &str) {
        self.watched.now().0.notes.push(text.to_owned());
    }

    /// Gives the terminal back.
    pub(crate) fn leave(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let Some(thread) = self.thread.take() else { return };
        // Its panic has been told by the hook.
        let _ = thread.join();
        leave();
        let notes = std::mem::take(&mut self.watched.now().0.notes);
        notes.iter().for_each(|note| tell!("{note}"));
        if self.cancel.is_cancelled() {
            tell!("interrupted: what was measured is written");
        }
    }
}

type Ours = Terminal<CrosstermBackend<BufWriter<Stderr>>>;

fn enter() -> io::Result<Ours> {
    enable_raw_mode()?;
    IS_ON.store(true, Ordering::SeqCst);
    let entered = execute!(stderr(), EnterAlternateScreen, Hide);
    // Standard error has no buffer of its own, and a screen is a thousand little writes.
    let terminal =
        entered.and_then(|()| Terminal::new(CrosstermBackend::new(BufWriter::new(stderr()))));
    terminal.inspect_err(|_| leave())
}

/// The message of a panic belongs on the terminal that stays.
fn leave_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
    });
}

/// Draws and listens to keys, on a thread of its own.
struct Painter {
    terminal: Ours,
    watched: Watched,
    cancel: Cancel,
    charset: Charset,
    over: Arc<AtomicBool>,
}

impl Painter {
    fn run(mut self) {
        while is_on() && !self.over.load(Ordering::SeqCst) {
            if self.paint().is_err() {
                // The terminal is gone, or does not say how large it is; the run goes on.
                return leave();
            }
            self.listen(Instant::now() + EVERY);
        }
    }

    fn paint(&mut self) -> io::Result<()> {
        let (watched, cancel, charset) = (&self.watched, &self.cancel, self.charset);
        let painted = self.terminal.draw(|frame| {
            // Held while the buffer is filled, not while it is written.
            let (mut state, now) = watched.now();
            state.is_interrupted = cancel.is_cancelled();
            draw(frame, &state, now, charset);
        });
        painted.map(drop)
    }

    /// Heeds keys until `until`.
    fn listen(&self, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match event::poll(left)
                .and_then(|has| if has { event::read().map(Some) } else { Ok(None) })
            {
                Ok(Some(Event::Key(key))) => self.heed(key),
                Ok(Some(_)) => {}
                Ok(None) => return,
                // No keys can be obtained; it is drawn anyway.
                Err(_) => return thread::sleep(left),
            }
        }
    }

    /// As Ctrl-C does without a full screen: the first ends the run and keeps what it has, the second ends the program.
    fn heed(&self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let is_ctrl_c =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if is_ctrl_c && self.cancel.is_cancelled() {
            leave();
            std::process::exit(Exit::Interrupted as i32);
        }
        if is_ctrl_c || key.code == KeyCode::Char('q') {
            self.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use fizeau::harness::Cancel;

    use crate::terminal::live::pty;
    use crate::terminal::progress::{Progress, Title, View};

    /// Says that this process is the one that panics.
    const PANICS: &str = "FIZEAU_TEST_PANICS_ON_SCREEN";

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        let this = concat!(
            "terminal::live::screen::tests::",
            "a_panic_gives_the_terminal_back_before_it_is_told"
        );
        if std::env::var_os(PANICS).is_some() {
            let title = Title { command: "bench", subject: "m".to_owned() };
            let _shown = Progress::new(View::Screen, title, &Cancel::new());
            panic!("by design");
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", this, "--nocapture"]).env(PANICS, "1");
        let left = pty::OnTerminal::start(again, (80, 24)).end();
        assert!(!left.status.success() && left.is_cooked, "{left:?}");
        let (shown, told) = left.text.split_once("\u{1b}[?1049l").unwrap();
        assert!(shown.contains("\u{1b}[?1049h") && !shown.contains("by design"), "{left:?}");
        assert!(told.contains("by design"), "{left:?}");
    }
}
