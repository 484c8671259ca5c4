//! The figures of the sequences that run by each schedule, as JSON.

use fizeau_core::document;
use fizeau_roofline::{Figures, PhaseSchedule};

use crate::sol::SolView;
use crate::sol::figures::Block;

document! {
    pub(super) view Schedules, pub(super) fn of(view: &SolView<'_>) {} {
        mixed: Ways = Ways::of(view.scheduled(PhaseSchedule::Mixed)),
        serial: Ways = Ways::of(view.scheduled(PhaseSchedule::Serial)),
        overlapped: Ways = Ways::of(view.scheduled(PhaseSchedule::Overlapped)),
    }
}

document! {
    view Ways, fn of(by: [Figures; 2]) {} {
        bound: Block = Block::of(&by[0]),
        expected: Block = Block::of(&by[1]),
    }
}
