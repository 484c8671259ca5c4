//! The terminal, taken and given back.

use std::io::{self, BufWriter, Stderr, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use fizeau_harness::Cancel;
use fizeau_record::text::Charset;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::Watched;
use super::draw::draw;

/// How often it is drawn at the most.
const EVERY: Duration = Duration::from_millis(100);

/// Whether the terminal is ours. There is one for the whole process, so whoever ends that gives it back.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether a run has the whole terminal, so that nobody else may write on it.
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was, if it is ours.
pub(super) fn leave() {
    if IS_ON.swap(false, Ordering::SeqCst) {
        // Nothing is left to do about a terminal that is gone.
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
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
pub(super) struct Painter {
    terminal: Ours,
    watched: Watched,
    cancel: Cancel,
    over: Arc<AtomicBool>,
    charset: Charset,
    quit: Box<dyn Fn() + Send>,
}

impl Painter {
    /// Takes the terminal.
    pub(super) fn enter(
        (watched, cancel, over): (Watched, Cancel, Arc<AtomicBool>),
        charset: Charset,
        quit: Box<dyn Fn() + Send>,
    ) -> io::Result<Self> {
        leave_on_panic();
        Ok(Self { terminal: enter()?, watched, cancel, over, charset, quit })
    }

    pub(super) fn run(mut self) {
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
            return (self.quit)();
        }
        if is_ctrl_c || key.code == KeyCode::Char('q') {
            self.cancel.cancel();
        }
    }
}
