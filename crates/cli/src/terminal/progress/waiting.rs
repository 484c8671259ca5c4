//! Something that takes a while, of which nothing can be counted.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that says what is waited for and for how long, until it is dropped. Silent in a pipe.
pub(crate) struct Waiting(ProgressBar);

impl Waiting {
    pub(crate) fn on(what: String) -> Self {
        // Hidden by indicatif where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        if let Ok(style) = ProgressStyle::with_template("{prefix}  {elapsed}") {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
