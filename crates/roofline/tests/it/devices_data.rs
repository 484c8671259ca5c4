//! The quality of the table's data.

use std::collections::HashSet;

use fizeau_roofline::Device;

#[test]
fn names_are_unique_and_canonical() {
    let mut names = HashSet::new();
    for device in Device::all() {
        for name in
            std::iter::once(device.name()).chain(device.aliases().iter().map(String::as_str))
        {
            assert!(names.insert(name), "{name} is used twice");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(is_plain), "{name} cannot be found");
        }
    }
    assert_eq!(Device::all().len(), 33);
}
