//! The transport against a server that does to it whatever the list of faults has.

mod dialects;
mod ends;
mod servers;
pub(crate) mod stand;
mod streams;

use fizeau::sim::http::Faults;

/// A fault that nobody has tried the client against is a fault of these tests.
#[test]
fn every_fault_is_tried() {
    let tried: Vec<&str> = [streams::tried(), ends::tried(), servers::tried()].concat();
    let name = |text: &str| text.split(['@', ':']).next().map(str::to_owned);
    let names: Vec<String> =
        tried.iter().flat_map(|text| text.split('+')).filter_map(name).collect();
    for kind in Faults::all() {
        assert!(names.iter().any(|name| name == kind.name()), "{kind} is not tried");
    }
}
