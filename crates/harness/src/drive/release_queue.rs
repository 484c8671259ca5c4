//! What is to leave, and what goes first.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fizeau_core::{Nanos, Request, RequestSource, Scheduled, Stamp, Timer};

use super::slots::{ScheduleRank, Slots};

/// The requests that wait for their instant, for a slot, or for both: the source's own next one, which is made ahead, and
/// the next turns of sessions.
///
/// They leave in the order of their instants. Who is called to the slots stays first until it has one, so that nobody who
/// comes later passes it.
pub(super) struct ReleaseQueue<'t, C> {
    timer: &'t C,
    start: Stamp,
    /// The source's own next request, and its instant, where it has one.
    own: Option<(Option<Stamp>, Request)>,
    is_exhausted: bool,
    /// Turns whose sessions kept their slots.
    seated: BTreeMap<ScheduleRank, Request>,
    /// Turns that need a slot.
    unseated: BTreeMap<ScheduleRank, Request>,
    first: Option<DueRequest>,
    alarm: Option<ReleaseAlarm<'t>>,
    held_back: u64,
}

/// A request whose instant has come, and that lacks nothing but a slot.
struct DueRequest {
    rank: ScheduleRank,
    request: Request,
    /// Whether it came without an instant: it ought to leave when its slot becomes free.
    is_slot_bound: bool,
    slot: Option<TakenSlot>,
}

impl DueRequest {
    /// Whether its instant came before there was a slot for it: then the cap held it back, not the client, be it that it
    /// was called only after others that stood before it.
    fn is_held(&self) -> bool {
        let free_since = self.slot.as_ref().and_then(|TakenSlot(since)| *since);
        !self.is_slot_bound && free_since.is_some_and(|since| self.rank.due < since)
    }
}

/// A slot that has been taken, and since when it was free, where that is known.
struct TakenSlot(Option<Stamp>);

struct ReleaseAlarm<'t> {
    at: Stamp,
    ringing: Pin<Box<dyn Future<Output = ()> + 't>>,
}

/// A request that may leave.
pub(super) struct ReadyRequest {
    pub(super) request: Request,
    pub(super) intended: Stamp,
    /// Whether its session keeps its slot between turns.
    pub(super) keeps_slot: bool,
}

impl<'t, C: Timer> ReleaseQueue<'t, C> {
    pub(super) const fn new(timer: &'t C, start: Stamp) -> Self {
        Self {
            timer,
            start,
            own: None,
            is_exhausted: false,
            seated: BTreeMap::new(),
            unseated: BTreeMap::new(),
            first: None,
            alarm: None,
            held_back: 0,
        }
    }

    /// Takes the source's next request once the one before has left.
    pub(super) fn refill<S: RequestSource>(&mut self, source: &mut S) -> Result<(), S::Error> {
        if self.own.is_none() && self.first.is_none() && !self.is_exhausted {
            let next = source.next_request()?;
            self.is_exhausted = next.is_none();
            let start = self.start;
            self.own = next.map(|next| (next.at.map(|offset| start + offset), next.request));
        }
        Ok(())
    }

    /// Takes in the next turn of a session; the one before it ended at `end`, and `keeps_slot` if the session does.
    pub(super) fn follow(&mut self, next: Scheduled, end: Stamp, keeps_slot: bool) {
        let Scheduled { at, request } = next;
        let due = at.map_or(end, |offset| self.start + offset);
        let rank = ScheduleRank { due, request: request.id };
        let queue = if keeps_slot { &mut self.seated } else { &mut self.unseated };
        queue.insert(rank, request);
    }

    /// When the next one may leave at the earliest; none if there is nobody.
    pub(super) fn earliest(&self) -> Option<Stamp> {
        let own = self.own.as_ref().map(|(at, _)| at.unwrap_or(self.start));
        let first = self.first.as_ref().map(|first| first.rank.due);
        [own, first, due(&self.seated), due(&self.unseated)].into_iter().flatten().min()
    }

    /// How many left that had to wait past their instant for a slot.
    pub(super) const fn held_back(&self) -> u64 {
        self.held_back
    }

    /// How many were due before `end`, at which the drive is over, and have not left. None where the one that waited longest did so
    /// for no longer than a timer may be late.
    pub(super) fn unsent<S: RequestSource>(
        &self,
        source: &mut S,
        end: Stamp,
    ) -> Result<u64, S::Error> {
        let first = self.first.iter().filter(|first| !first.is_slot_bound);
        let own = self.own.as_ref().and_then(|(at, _)| *at);
        let turns = self.unseated.keys().map(|rank| rank.due);
        let dues = || first.clone().map(|first| first.rank.due).chain(own).chain(turns.clone());
        let longest = dues().map(|due| end.saturating_since(due)).max();
        if longest.is_none_or(|waited| waited < TIMER_LATENESS) {
            return Ok(0);
        }
        let at_hand = dues().filter(|due| *due < end).count() as u64;
        // The source comes in the order of instants.
        let is_more = own.is_none_or(|at| at < end);
        let skipped = if is_more { source.skip_due(end.saturating_since(self.start))? } else { 0 };
        Ok(at_hand + skipped)
    }

    /// The request that leaves `now`, if any may. Where one only lacks a slot, the task is woken when it may have one.
    pub(super) async fn next_ready(
        &mut self,
        now: Stamp,
        slots: &mut impl Slots,
    ) -> Option<ReadyRequest> {
        if let Some(seated) = self.seated.first_entry().filter(|turn| turn.key().due <= now) {
            let (ScheduleRank { due, .. }, request) = seated.remove_entry();
            return Some(ReadyRequest { request, intended: due, keeps_slot: true });
        }
        if self.first.is_none() {
            self.first = self.called(now);
        }
        let _ = poll_fn(|cx| Poll::Ready(self.poll_slot(slots, cx))).await;
        let first = self.first.take_if(|first| first.slot.is_some());
        self.held_back += u64::from(first.as_ref().is_some_and(DueRequest::is_held));
        first.map(|DueRequest { rank, request, is_slot_bound, slot, .. }| {
            let free_since = slot.and_then(|TakenSlot(since)| since).filter(|_| is_slot_bound);
            let intended = free_since.unwrap_or(rank.due);
            ReadyRequest { request, intended, keeps_slot: is_slot_bound }
        })
    }

    /// Whose turn it is to have a slot `now`.
    fn called(&mut self, now: Stamp) -> Option<DueRequest> {
        let own = self.own.as_ref().map(|(at, _)| at.unwrap_or(now));
        let turn = due(&self.unseated);
        let is_turn = turn.is_some_and(|turn| own.is_none_or(|own| turn <= own));
        if turn.filter(|_| is_turn).or(own)? > now {
            return None;
        }
        let (at, request) = match is_turn {
            true => self.unseated.pop_first().map(|(rank, request)| (Some(rank.due), request))?,
            false => self.own.take()?,
        };
        let rank = ScheduleRank { due: at.unwrap_or(self.start), request: request.id };
        Some(DueRequest { rank, request, is_slot_bound: at.is_none(), slot: None })
    }

    /// Ready when the first has its slot.
    fn poll_slot(&mut self, slots: &mut impl Slots, cx: &mut Context<'_>) -> Poll<()> {
        let Some(first) = &mut self.first else { return Poll::Pending };
        if first.slot.is_none() {
            first.slot = Some(TakenSlot(ready!(slots.poll_take(first.rank, cx))));
        }
        Poll::Ready(())
    }

    /// Sets the alarm to the next instant at which somebody may leave, or to `deadline` if that comes before, as it also may
    /// for who waits for a slot. Gives the instant that it is set to.
    pub(super) fn set_alarm(&mut self, deadline: Option<Stamp>) -> Option<Stamp> {
        let own = self.own.as_ref().and_then(|(at, _)| *at);
        let callable = [own, due(&self.unseated)].into_iter().flatten().min();
        // While somebody waits for a slot nobody else is called.
        let callable = callable.filter(|_| self.first.is_none());
        let next = [callable, due(&self.seated)].into_iter().flatten().min();
        // No slot may come any more, or one only of somebody who waits for us.
        let next = next.or_else(|| deadline.filter(|_| self.first.is_some()));
        let at = next.map(|at| deadline.map_or(at, |deadline| at.min(deadline)));
        if self.alarm.as_ref().map(|alarm| alarm.at) != at {
            // The old one goes first, so that there is one wait at a time.
            self.alarm = None;
            let timer = self.timer;
            self.alarm = at.map(|at| ReleaseAlarm { at, ringing: Box::pin(timer.sleep_until(at)) });
        }
        at
    }

    /// Ready when there is a reason to look again: the instant of the alarm has come, or there is a slot for the first.
    pub(super) fn poll(&mut self, slots: &mut impl Slots, cx: &mut Context<'_>) -> Poll<()> {
        // The clock before the alarm, which may come through late: requests in flight let the one that is due go first, and would do so for nothing
        // until it rings.
        if let Some(alarm) = &mut self.alarm
            && (self.timer.now() >= alarm.at || alarm.ringing.as_mut().poll(cx).is_ready())
        {
            self.alarm = None;
            return Poll::Ready(());
        }
        self.poll_slot(slots, cx)
    }
}

/// What was due at the end of a drive for less than this may have found its timer late, and nothing else.
const TIMER_LATENESS: Nanos = Nanos::from_millis(10);

/// When the first of `queue` is due.
fn due(queue: &BTreeMap<ScheduleRank, Request>) -> Option<Stamp> {
    queue.keys().next().map(|rank| rank.due)
}
