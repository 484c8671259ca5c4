//! Token counts from a tokenizer of the client's own, where the server gives none.

use fizeau_core::{CallOff, Release, Request, Tape, TokenCounter, TokenSource, Transport};

/// A transport whose tapes get their token counts from `counter` where they would be a count of chunks.
///
/// The whole text is counted at once and the sum spread over the events: counting event by event would be wrong wherever
/// a merge of the tokenizer crosses an event. The inner transport must keep the text on its tapes; whether it stays there is
/// the level's to say ([`crate::TextAfter`]). A text that the counter cannot count leaves its tape as it was.
///
/// Counting happens on the measuring thread as a reply ends, and other replies' bytes wait meanwhile: some tens of
/// microseconds for a few hundred tokens. Where that matters, measure a server that counts.
#[derive(Debug, Clone, Copy)]
pub struct Recounted<T, K> {
    /// Carries requests out.
    pub transport: T,
    /// Counts; none leaves every tape as it is.
    pub counter: Option<K>,
}

impl<T: Transport, K: TokenCounter> Transport for Recounted<T, K> {
    type Error = T::Error;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, T::Error> {
        self.send_until(request, release, &CallOff::default()).await
    }

    async fn send_until(
        &self,
        request: &Request,
        release: Release,
        off: &CallOff,
    ) -> Result<Tape, T::Error> {
        let mut tape = self.transport.send_until(request, release, off).await?;
        let counts_chunks = tape.token_source == TokenSource::Events;
        let text = tape.text.as_deref().filter(|_| counts_chunks);
        let total = self.counter.as_ref().zip(text).and_then(|(k, text)| k.count(text).ok());
        if let Some(total) = total {
            tape.spread_tokens(total, TokenSource::Tokenizer);
        }
        Ok(tape)
    }
}
