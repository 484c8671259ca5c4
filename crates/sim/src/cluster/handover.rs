//! How a cache crosses from where a prompt was read to where it decodes.

use std::num::NonZeroU32;

use fizeau_core::{Bytes, BytesPerSec, Nanos, Stamp, Tokens};
use fizeau_roofline::CacheTransfer;

use super::ClusterError;
use crate::serve::JobTiming;

/// The size of a job's KV cache, the link that carries it, and when it is sent.
///
/// Each prefill engine has links of its own, and sends one cache after the other over each: a cache goes over the one
/// that is free first. It takes `latency`
/// besides, in which the link is free for the next. By layers ([`CacheTransfer::LayerWise`]) a cache begins to
/// cross once one layer of the prompt is read and has at least one layer to go when all are: it is there at
/// `max(read + sending / L, begun + sending)`, the pipeline of `fizeau-roofline`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handover {
    /// What each token of the prompt takes.
    pub per_token: Bytes,
    /// What each sequence takes besides, whatever its length: states.
    pub per_sequence: Bytes,
    /// How many links each prefill engine has: one for each group of attention data parallelism, whose devices send
    /// the caches of its own sequences.
    pub links: NonZeroU32,
    /// What each of them carries.
    pub bandwidth: BytesPerSec,
    /// How long it takes until the first byte of a cache is there.
    pub latency: Nanos,
    /// When a cache is sent, and so which latency has it in it.
    pub transfer: CacheTransfer,
    /// The model's layers, by which a cache is cut where it is sent layer by layer.
    pub layers: NonZeroU32,
}

/// A link of a prefill engine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TransferLink {
    /// When it could send another cache, if all of that were there: caches that are being read at once
    /// share the link.
    free: Stamp,
    /// When the last cache is over.
    over: Stamp,
}

impl Handover {
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        let positive = self.bandwidth.get() > 0.0 && self.bandwidth.get().is_finite();
        if !positive {
            return Err(ClusterError::NoBandwidth(self.bandwidth));
        }
        let amounts = [self.per_token.get(), self.per_sequence.get()];
        match amounts.into_iter().find(|amount| !(*amount >= 0.0 && amount.is_finite())) {
            Some(amount) => Err(ClusterError::NotAnAmount(amount)),
            None => Ok(()),
        }
    }

    /// The links of an engine, idle.
    pub(super) fn idle_links(&self) -> Vec<TransferLink> {
        vec![TransferLink::default(); self.links.get() as usize]
    }

    /// How long the cache of a prompt is on a link.
    fn sending(&self, prompt: Tokens) -> Nanos {
        let cache = self.per_token * prompt.get() as f64 + self.per_sequence;
        // Beyond 584 years nothing is worth telling apart.
        (cache / self.bandwidth).to_nanos().unwrap_or(Nanos::MAX)
    }

    /// When the cache of a prompt that was read as `timing` says is on the other side of one of its engine's `links`.
    pub(super) fn cross(
        &self,
        prompt: Tokens,
        timing: &JobTiming,
        links: &mut [TransferLink],
    ) -> Stamp {
        let sending = self.sending(prompt);
        let read = timing.first_token;
        let layers = u64::from(self.layers.get());
        // From when there is something to send, and how much is left when all is read.
        let (begun, left) = match self.transfer {
            CacheTransfer::BeforeFirstToken | CacheTransfer::BeforeSecondToken => (read, sending),
            CacheTransfer::LayerWise => {
                (timing.admitted + timing.prefill() / layers, sending / layers)
            }
        };
        let mut none = TransferLink::default();
        let link = links.iter_mut().min_by_key(|link| link.free).unwrap_or(&mut none);
        link.free = link.free.max(begun) + sending;
        link.over = link.free.max(link.over.max(read) + left);
        link.over + self.latency
    }

    /// When the client sees the first token of a prompt that is read at `read` and whose cache is over at `over`.
    pub(super) fn first_token(&self, read: Stamp, over: Stamp) -> Stamp {
        match self.transfer {
            CacheTransfer::BeforeSecondToken => read,
            CacheTransfer::BeforeFirstToken | CacheTransfer::LayerWise => over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover(transfer: CacheTransfer) -> Handover {
        Handover {
            per_token: Bytes::new(100.0),
            per_sequence: Bytes::new(1_000.0),
            links: NonZeroU32::MIN,
            bandwidth: BytesPerSec::new(1e6),
            latency: Nanos::from_micros(7),
            transfer,
            layers: NonZeroU32::new(10).unwrap(),
        }
    }

    fn read(admitted: u64, first_token: u64) -> JobTiming {
        let ms = |millis| Stamp::EPOCH + Nanos::from_millis(millis);
        JobTiming {
            submitted: ms(admitted),
            admitted: ms(admitted),
            first_token: ms(first_token),
            cached_tokens: Tokens::ZERO,
            preemptions: 0,
        }
    }

    /// 90 tokens take 10 ms.
    fn over(transfer: CacheTransfer, timing: &JobTiming, link: &mut TransferLink) -> u64 {
        handover(transfer).cross(Tokens::new(90), timing, std::slice::from_mut(link)).as_nanos()
            / 1_000
    }

    #[test]
    fn caches_cross_one_after_the_other() {
        let mut link = TransferLink::default();
        assert_eq!(over(CacheTransfer::BeforeFirstToken, &read(0, 100), &mut link), 110_007);
        assert_eq!(over(CacheTransfer::BeforeFirstToken, &read(0, 105), &mut link), 120_007);
        assert_eq!(over(CacheTransfer::BeforeFirstToken, &read(0, 200), &mut link), 210_007);
    }

    /// As `fizeau_roofline::CacheTransfer` has it: of 100 ms of reading and 10 of sending one layer of the
    /// latter is seen.
    #[test]
    fn by_layers_only_the_last_part_is_seen() {
        let mut link = TransferLink::default();
        assert_eq!(over(CacheTransfer::LayerWise, &read(0, 100), &mut link), 101_007);
        // Slower than reading: the link is busy from the first layer on.
        let mut link = TransferLink::default();
        assert_eq!(over(CacheTransfer::LayerWise, &read(0, 4), &mut link), 10_407);
        // And it waits for the one before.
        assert_eq!(over(CacheTransfer::LayerWise, &read(0, 5), &mut link), 20_407);
        // Two that are read side by side are sent side by side: only their last layers wait for each other.
        let mut link = TransferLink::default();
        assert_eq!(over(CacheTransfer::LayerWise, &read(0, 100), &mut link), 101_007);
        assert_eq!(over(CacheTransfer::LayerWise, &read(0, 100), &mut link), 102_007);
    }
}
