//! The count of what is in flight over several workers.

use super::*;
use crate::in_flight::Reader;

#[test]
fn all_workers_keep_one_count_that_never_exceeds_the_cap_and_ends_at_none() {
    for (workers, limit) in [(1, 3), (3, 5)] {
        let mut stand = Stand::new(workers, answered);
        let mut reader = Reader::default();
        let plan = plan(200, ArrivalLaw::ClosedLoop);
        stand.run(&plan, cap(limit), &mut Vec::new(), &mut reader).unwrap();
        assert_eq!(reader.read.len(), 200);
        assert!(reader.read.iter().all(|&count| count <= limit.into()), "{:?}", reader.read);
        assert_eq!(reader.count.get(), 0);
    }
}

#[test]
fn what_hangs_stays_in_flight_until_it_is_called_off() {
    // The first of each worker hangs, and is under way before another of its requests can end.
    let mut stand = Stand::new(2, |id| if id < 2 { Fate::Hangs } else { Fate::Answered });
    let off = Some((6, stand.cancel.clone()));
    let mut reader = Reader { off, ..Reader::default() };
    let plan = plan(1_000, ArrivalLaw::ClosedLoop);
    stand.run(&plan, cap(4), &mut Vec::new(), &mut reader).unwrap();
    // Those that were called off have their tapes after they were abandoned.
    assert!(reader.read.len() > 6 && reader.read[..6].iter().all(|&count| count > 0));
    assert_eq!(reader.count.get(), 0);
}
