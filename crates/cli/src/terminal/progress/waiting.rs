//! Something that takes a while, of which nothing can be counted.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that says what is waited for and for how long, until it is dropped. In a pipe it comes once, where that takes long.
pub(crate) struct Waiting {
    line: ProgressBar,
    /// Ends what waits in a pipe, when it is dropped.
    _over: Option<mpsc::Sender<()>>,
}

/// In a pipe nothing is said of a shorter wait.
const LONG: Duration = Duration::from_secs(10);

impl Waiting {
    pub(crate) fn on(what: String) -> Self {
        // Hidden by indicatif where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        if let Ok(style) = ProgressStyle::with_template("{prefix}  {elapsed}") {
            bar.set_style(style);
        }
        let over = bar.is_hidden().then(|| told_once(what.clone()));
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { line: bar, _over: over }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Says what is still waited for after a while, unless what is given back was dropped before.
fn told_once(what: String) -> mpsc::Sender<()> {
    let (sender, over) = mpsc::channel();
    std::thread::spawn(move || {
        if over.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
            tell!("Still {what}, after {} s.", LONG.as_secs());
        }
    });
    sender
}
