//! A reply that goes wrong as told.

use std::io::{self, Write};

use fizeau_core::{Clock, Tokens};

use super::AssignedFaults;
use super::content::{ContentFaults, LastToken};
use super::encoding::{EncodedEvent, EventEncoder};
use super::ending::{self, EndingFault};
use super::event::{FaultlessEvents, StreamEvent};
use super::kind::{FaultGroup, Kind};
use super::pieces::{Flush, WriteCutter};
use super::play::{ActionQueue, FaultAction, FaultedEnd, ReplyState, TurnBudget};
use crate::http::frames::Frames;
use crate::http::parsed_request::{Delivery, ParsedRequest};
use crate::http::request::{AfterReply, PeerAbilities};
use crate::http::truth::{TruthFinish, TruthRecord};
use crate::http::{length, response};
use crate::serve::Emission;

/// A reply from the first byte to the last, as its faults have it.
pub(in crate::http) struct FaultyReply {
    play: ActionQueue,
    record: TruthRecord,
    /// None where nothing of what the engine makes is sent.
    stage: Option<StreamSource>,
    pub(in crate::http) after: AfterReply,
}

/// What makes a stream out of tokens.
struct StreamSource {
    met: AssignedFaults,
    good: FaultlessEvents,
    content: ContentFaults,
    encoder: EventEncoder,
    cutter: WriteCutter,
    framing: response::StreamFraming,
    /// Tokens made so far.
    made: u64,
    /// Whether the end is on its way.
    ended: bool,
}

/// Who asked, and what the request is called.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct RequestIdentity<'a> {
    pub(in crate::http) peer: PeerAbilities,
    pub(in crate::http) id: Option<&'a str>,
}

impl AssignedFaults {
    /// Makes of a request what its faults want of it, and says how many tokens the engine is to make, why the reply ends
    /// and what becomes of the connection.
    pub(in crate::http) fn prepare(
        &self,
        ask: &mut ParsedRequest,
        mut peer: PeerAbilities,
    ) -> (Tokens, TruthFinish, PeerAbilities) {
        if self.has(Kind::Close) {
            peer.after = AfterReply::Close;
        }
        if self.has(Kind::Unstreamed) {
            ask.delivery = Delivery::Whole;
        }
        let tokens = ask.max_tokens.get();
        if let Some(stop) = self.get(Kind::Stop) {
            ask.max_tokens = Tokens::new(stop.after(tokens).max(1));
            ask.ending = length::ReplyEnding::Stop;
        }
        match (ask.delivery, self.ending(ask.max_tokens.get())) {
            // Its last token comes with the end.
            (Delivery::Streamed, Some((after, kind))) => {
                (Tokens::new(after.max(1)), kind.finish(), peer)
            }
            _ => (ask.max_tokens, ask.ending.into(), peer),
        }
    }

    /// What ends a reply of `tokens` tokens before its time, and after how many.
    fn ending(&self, tokens: u64) -> Option<(u64, Kind)> {
        let ends = self.0.iter().filter(|fault| fault.kind.kind.is(FaultGroup::Ends));
        ends.map(|fault| (fault.after(tokens), fault.kind.kind)).min_by_key(|(after, _)| *after)
    }

    /// Whether something comes instead of a reply.
    pub(in crate::http) fn replaces_reply(&self) -> bool {
        self.0.iter().any(|fault| fault.kind.kind.is(FaultGroup::Instead))
    }
}

impl FaultyReply {
    /// What comes instead of a reply, and of which the engine never hears.
    pub(in crate::http) fn instead(
        met: &AssignedFaults,
        ask: &ParsedRequest,
        record: TruthRecord,
        peer: PeerAbilities,
    ) -> Self {
        let mut play = ActionQueue::default();
        play.extend(ending::instead(met, ask, peer));
        Self { play, record, stage: None, after: peer.after }
    }

    /// A stream that goes wrong.
    pub(in crate::http) fn new(
        met: &AssignedFaults,
        frames: Frames,
        record: TruthRecord,
        identity: RequestIdentity<'_>,
    ) -> Self {
        let (mut head, framing, after) = response::stream_head(identity.peer, identity.id);
        if met.has(Kind::Gzip) {
            head.truncate(head.len() - 2);
            head.extend_from_slice(b"content-encoding: gzip\r\n\r\n");
        }
        let mut stage = StreamSource {
            met: met.clone(),
            content: ContentFaults::new(met, record.prompt_tokens),
            encoder: EventEncoder::new(met),
            cutter: WriteCutter::new(met, framing),
            good: FaultlessEvents::new(frames),
            framing,
            made: 0,
            ended: false,
        };
        let mut play = ActionQueue::default();
        play.extend([FaultAction::write(head)]);
        play.extend(stage.begin());
        Self { play, record, stage: Some(stage), after }
    }

    /// Notes tokens that the engine let go.
    pub(in crate::http) fn emitted(&mut self, emission: &Emission) {
        let first = emission.index == 0 && self.record.cached_tokens.is_some();
        if let (true, Some(stage)) = (first, &mut self.stage) {
            stage.good.begun(emission);
        }
        self.record.emitted(emission);
    }

    pub(in crate::http) const fn record(&self) -> &TruthRecord {
        &self.record
    }

    pub(in crate::http) fn into_record(self) -> TruthRecord {
        self.record
    }

    /// Goes on as far as it can, and others can wait.
    pub(in crate::http) fn turn(
        &mut self,
        to: &mut impl Write,
        clock: &impl Clock,
    ) -> io::Result<ReplyState> {
        let mut budget = TurnBudget::of_turn();
        loop {
            let stand = self.play.turn(to, clock, &mut self.record, &mut budget)?;
            if stand != ReplyState::Idle || !self.play.is_over() {
                return Ok(stand);
            }
            let Some(stage) = &mut self.stage else {
                return Ok(ReplyState::Idle);
            };
            let due = self.record.scheduled_ns.len() as u64;
            match stage.next(due) {
                Some(acts) => self.play.extend(acts),
                None => return Ok(ReplyState::Idle),
            }
        }
    }
}

impl StreamSource {
    /// What comes before the first token.
    fn begin(&mut self) -> Vec<FaultAction> {
        let mut events = self.good.opening();
        if self.met.has(Kind::Filter) {
            let nothing = serde_json::json!({"hate": {"filtered": false, "severity": "safe"}});
            let results =
                serde_json::json!([{"prompt_index": 0, "content_filter_results": nothing}]);
            events.push(StreamEvent::json(
                serde_json::json!({"choices": [], "prompt_filter_results": results}),
            ));
        }
        if self.met.has(Kind::RoleAtOnce) {
            let role = self.good.start();
            events.extend(self.content.edit(0, LastToken::No, role));
        }
        let mut acts = self.write(events, Flush::Now);
        acts.extend(self.stall(0));
        acts
    }

    /// What comes next, of `due` tokens that the engine let go; none if that is nothing.
    fn next(&mut self, due: u64) -> Option<Vec<FaultAction>> {
        if self.ended {
            return None;
        }
        if self.made == due {
            let every = self.met.get(Kind::KeepAlive).filter(|_| self.made == 0)?.time();
            let comment = self.encoder.comment("keep-alive");
            let mut acts: Vec<_> = self.cutter.take([comment], Flush::Now).into_iter().collect();
            acts.push(FaultAction::Pause(every));
            return Some(acts);
        }
        let (tokens, ending) = (self.good.total(), self.met.ending(self.good.total()));
        if let Some((0, kind)) = ending {
            return Some(self.end_as(kind));
        }
        let mut acts = self.token(self.made);
        self.made += 1;
        acts.extend(self.stall(self.made));
        match ending {
            Some((after, kind)) if after == self.made => acts.extend(self.end_as(kind)),
            _ if self.made == tokens => acts.extend(self.end()),
            _ => {}
        }
        Some(acts)
    }

    fn token(&mut self, index: u64) -> Vec<FaultAction> {
        let mut events = match index {
            0 if !self.met.has(Kind::RoleAtOnce) => self.good.start(),
            _ => Vec::new(),
        };
        events.extend(self.good.token(index));
        let last = if index + 1 == self.good.total() { LastToken::Yes } else { LastToken::No };
        if self.met.ending(self.good.total()).is_some_and(|(_, kind)| kind.says_why()) {
            // The end has a reason of its own, though this may be the last token.
            events.iter_mut().for_each(StreamEvent::go_on);
        }
        let late = self.met.has(Kind::LateUsage);
        if last == LastToken::Yes && !late && self.met.ending(index + 1).is_none() {
            // A fault may want usage and the last token in one chunk.
            events.extend(self.good.end());
        }
        let events = self.content.edit(index, last, events);
        self.write(events, Flush::IfEnough)
    }

    /// The end as it should be.
    fn end(&mut self) -> Vec<FaultAction> {
        let mut acts = self.write(Vec::new(), Flush::Now);
        if let Some(late) = self.met.get(Kind::LateUsage) {
            acts.push(FaultAction::Pause(late.time()));
            let events = self.good.end();
            let events = self.content.edit(self.made, LastToken::Yes, events);
            acts.extend(self.write(events, Flush::Now));
        }
        acts.extend(self.finish(b"", FaultedEnd::Whole));
        acts
    }

    /// The end as a fault has it.
    fn end_as(&mut self, kind: Kind) -> Vec<FaultAction> {
        let ending = EndingFault::of(kind, self.framing, &self.good, self.made);
        let held = self.content.rest();
        let mut acts = self.write(held.into_iter().chain(ending.events).collect(), Flush::Now);
        acts.extend(self.finish(ending.bytes, ending.end));
        acts
    }

    fn finish(&mut self, bytes: &[u8], end: FaultedEnd) -> Vec<FaultAction> {
        self.ended = true;
        let last = (end == FaultedEnd::Whole).then(|| self.cutter.last()).flatten();
        let mut acts: Vec<_> = last.into_iter().collect();
        if !bytes.is_empty() {
            acts.push(FaultAction::write(bytes.to_vec()));
        }
        acts.push(FaultAction::End(end));
        acts
    }

    fn stall(&self, after: u64) -> Option<FaultAction> {
        let stall = self.met.get(Kind::Stall)?;
        (stall.after(self.good.total()) == after).then(|| FaultAction::Pause(stall.time()))
    }

    fn write(&mut self, events: Vec<StreamEvent>, flush: Flush) -> Vec<FaultAction> {
        let texts: Vec<EncodedEvent> =
            events.into_iter().map(|event| self.encoder.encode(event)).collect();
        self.cutter.take(texts, flush).into_iter().collect()
    }
}
