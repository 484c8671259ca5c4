//! Which request of a plan is which turn of which session.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Message, Prompt, RequestId, Role, SessionId};

use crate::parts::ContentSource;
use crate::seed::Seed;
use crate::spec::{SpecError, drawn_whole};
use crate::workload::{Sessions, Turns};

/// The most requests of which the sessions are listed: 128 MiB of numbers.
const MOST_IN_TABLE: u64 = 1 << 24;

/// Which request is which turn of which session.
#[derive(Debug, Clone)]
pub(super) enum SessionIndex {
    /// Every request is a session of one.
    Single { requests: u64 },
    /// Every session has as many turns, at least 2, but the last, which ends with the plan.
    Even { turns: u64, requests: u64 },
    /// The number of each session's first request, and after the last the number of requests.
    Table(Arc<[u64]>),
}

impl SessionIndex {
    /// As many sessions as it takes for `requests` requests; the last one is cut where there are enough.
    pub(super) fn new(
        requests: NonZeroU64,
        sessions: Option<&Sessions>,
        content: &dyn ContentSource,
        seed: Seed,
    ) -> Result<Self, SpecError> {
        let count = requests;
        let requests = requests.get();
        let decides = content.turns(SessionId(0)).is_some();
        if let (false, Some(Turns::Fixed(turns))) = (decides, sessions.map(|each| each.turns)) {
            return Ok(match u64::from(turns.get()) {
                1 => Self::Single { requests },
                turns => Self::Even { turns, requests },
            });
        }
        let turns = |session: u64| {
            let decided = content.turns(SessionId(session));
            decided.or_else(|| sessions.map(|sessions| sessions.turns_of(seed, session)))
        };
        if turns(0).is_none() {
            return Ok(Self::Single { requests });
        }
        drawn_whole("sessions of unequal numbers of turns", count, MOST_IN_TABLE)?;
        let mut firsts = vec![0];
        let mut total = 0_u64;
        for session in 0.. {
            if total >= requests {
                break;
            }
            total = total.saturating_add(turns(session).unwrap_or(1).max(1).into()).min(requests);
            firsts.push(total);
        }
        Ok(match firsts.len() as u64 - 1 == requests {
            true => Self::Single { requests },
            false => Self::Table(firsts.into()),
        })
    }

    /// The first session of several turns.
    pub(super) fn first_of_several(&self) -> Option<SessionId> {
        match self {
            Self::Single { .. } => None,
            Self::Even { requests, .. } => (*requests > 1).then_some(SessionId(0)),
            Self::Table(firsts) => {
                let mut pairs = firsts.iter().zip(firsts.iter().skip(1));
                let session = pairs.position(|(first, end)| end - first > 1)?;
                Some(SessionId(session as u64))
            }
        }
    }

    /// How many turns `session` has after turn `turn`.
    pub(super) fn turns_after(&self, session: SessionId, turn: u32) -> u64 {
        match self {
            Self::Single { .. } => 0,
            Self::Even { .. } | Self::Table(_) => {
                let turns = self.bounds(session).map_or(0, |(first, end)| end - first);
                turns.saturating_sub(u64::from(turn) + 1)
            }
        }
    }

    /// The number of the first request of `session`, and that after its last; none past the end of the plan.
    fn bounds(&self, session: SessionId) -> Option<(u64, u64)> {
        match self {
            Self::Single { requests } => {
                (session.0 < *requests).then(|| (session.0, session.0.saturating_add(1)))
            }
            Self::Even { turns, requests } => {
                let first = session.0.checked_mul(*turns).filter(|first| first < requests)?;
                Some((first, first.saturating_add(*turns).min(*requests)))
            }
            Self::Table(firsts) => {
                let session = usize::try_from(session.0).ok()?;
                Some((*firsts.get(session)?, *firsts.get(session.checked_add(1)?)?))
            }
        }
    }

    /// How many sessions there are.
    pub(super) fn sessions(&self) -> u64 {
        match self {
            Self::Single { requests } => *requests,
            Self::Even { turns, requests } => requests.div_ceil(*turns),
            Self::Table(firsts) => firsts.len().saturating_sub(1) as u64,
        }
    }

    /// The session and turn of request `number`. Past the end of the plan it is that of a longer plan, and of a table, which
    /// knows none, each request stands alone.
    pub(super) fn place(&self, number: RequestId) -> (SessionId, u32) {
        match self {
            Self::Single { .. } => (SessionId(number.0), 0),
            Self::Even { turns, .. } => {
                let turn = u32::try_from(number.0 % turns).unwrap_or(u32::MAX);
                (SessionId(number.0 / turns), turn)
            }
            Self::Table(firsts) => {
                let end = firsts.last().copied().unwrap_or_default();
                if let Some(past) = number.0.checked_sub(end) {
                    return (SessionId(self.sessions().saturating_add(past)), 0);
                }
                let session = firsts.partition_point(|&first| first <= number.0).max(1) - 1;
                let first = firsts.get(session).copied().unwrap_or_default();
                let turn = u32::try_from(number.0.saturating_sub(first)).unwrap_or(u32::MAX);
                (SessionId(session as u64), turn)
            }
        }
    }

    /// The request that is turn `turn` of `session`; none past its last.
    pub(super) fn request(&self, session: SessionId, turn: u32) -> Option<RequestId> {
        let (first, end) = self.bounds(session)?;
        let number = first.checked_add(turn.into())?;
        (number < end).then_some(RequestId(number))
    }
}

// What a later turn of a session is given to read: all that was said before it.

/// The prompt of the turn after `before`, to which the model replied `reply`: what was said, the reply, and what is `new`.
/// Messages follow each other; texts are joined by line ends.
///
/// # Errors
/// What kind of prompts no turn can continue.
pub(super) fn go_on(before: Prompt, reply: &str, new: Prompt) -> Result<Prompt, &'static str> {
    match (before, new) {
        (Prompt::Chat(mut messages), Prompt::Chat(new)) => {
            messages.push(Message { role: Role::Assistant, content: reply.to_owned() });
            messages.extend(new);
            Ok(Prompt::Chat(messages))
        }
        (Prompt::Text(mut text), Prompt::Text(new)) => {
            for part in [reply, &new] {
                text.push('\n');
                text.push_str(part);
            }
            Ok(Prompt::Text(text))
        }
        (Prompt::TokenIds(_), _) | (_, Prompt::TokenIds(_)) => Err("token ids"),
        (Prompt::Body(_), _) | (_, Prompt::Body(_)) => Err("whole bodies"),
        (Prompt::Chat(_), Prompt::Text(_)) | (Prompt::Text(_), Prompt::Chat(_)) => {
            Err("text and messages in one session")
        }
    }
}
