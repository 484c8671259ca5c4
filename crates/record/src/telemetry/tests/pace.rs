//! How long values stand.

use super::*;

/// Pages that take long are held as long as they take, twice over.
#[test]
fn a_value_stands_for_the_time_of_a_page_that_did_not_come() {
    let mut slow = source("a", &[]);
    assert_eq!(hold(&[], Nanos::from_secs(1)), Nanos::from_secs(2));
    assert_eq!(hold(std::slice::from_ref(&slow), Nanos::from_secs(1)), Nanos::from_secs(2));
    let page = Page::read(b"up 1\n", None).unwrap();
    slow.report.history.record(Fetch { requested: at(0), answered: at(500) }, &page);
    // The last one was fast, and those before it were not.
    slow.report.history.record(Fetch { requested: at(3_000), answered: at(3_005) }, &page);
    let fast = source("b", &[]);
    assert_eq!(hold(&[fast, slow], Nanos::from_secs(1)), Nanos::from_secs(5));
}
