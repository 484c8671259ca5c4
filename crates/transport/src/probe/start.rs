//! How a reply starts: with a token, or with events that hold none.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use fizeau_core::{Request, Stamp};
use tokio::time::timeout;

use crate::clock::MonotonicClock;
use crate::dialect::{Dialect, WireEvent};
use crate::event::ReadMark;
use crate::framing::Decoder;
use crate::http::HttpTransport;

/// How long it may take: the same request has been answered before.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many events of the reply to `ask` come before the first that holds a token. None if that cannot be had: a tape does
/// not tell, because it keeps only what counts.
pub(super) async fn quiet_events(
    transport: &HttpTransport<MonotonicClock>,
    ask: &Request,
) -> Option<u32> {
    let target = transport.target();
    let dialect = target.spoken();
    let body = target.body(ask).ok()?;
    let mut start = Start::of(dialect);
    let reading = transport.post(Bytes::from(body), |bytes| start.feed(bytes));
    timeout(PATIENCE, reading).await.ok()?.ok()?;
    start.has_token.then_some(start.quiet)
}

struct Start<'d> {
    dialect: &'d dyn Dialect,
    decoder: Decoder,
    quiet: u32,
    has_token: bool,
}

impl<'d> Start<'d> {
    fn of(dialect: &'d dyn Dialect) -> Self {
        let decoder = Decoder::of(dialect.framing());
        Self { dialect, decoder, quiet: 0, has_token: false }
    }

    /// Looks at the events that `bytes` complete, until one holds a token.
    fn feed(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut events = self.decoder.feed(bytes, ReadMark::user(Stamp::EPOCH, 0));
        while let Some(event) = events.next_event() {
            let Ok(event) = event else {
                return ControlFlow::Break(());
            };
            let Ok(event) = self.dialect.read(&event) else {
                return ControlFlow::Break(());
            };
            if holds_token(&event) {
                self.has_token = true;
                return ControlFlow::Break(());
            }
            self.quiet = self.quiet.saturating_add(1);
        }
        ControlFlow::Continue(())
    }
}

fn holds_token(event: &WireEvent<'_>) -> bool {
    let counted = event.running.is_some_and(|running| running > 0);
    event.channel().is_some() || event.token_ids > 0 || event.logprobs > 0 || counted
}
