//! The figures of the sequences that run by each schedule, as JSON.

use fizeau_roofline::PhaseSchedule;
use serde::Serialize;

use crate::sol::SolView;
use crate::sol::figures::Block;

#[derive(Serialize)]
pub(super) struct Schedules {
    mixed: Ways,
    serial: Ways,
    overlapped: Ways,
}

#[derive(Serialize)]
struct Ways {
    bound: Block,
    expected: Block,
}

impl Schedules {
    pub(super) fn of(view: &SolView<'_>) -> Self {
        let ways = |schedule| {
            let [bound, expected] = view.scheduled(schedule);
            Ways { bound: Block::of(&bound), expected: Block::of(&expected) }
        };
        Self {
            mixed: ways(PhaseSchedule::Mixed),
            serial: ways(PhaseSchedule::Serial),
            overlapped: ways(PhaseSchedule::Overlapped),
        }
    }
}
