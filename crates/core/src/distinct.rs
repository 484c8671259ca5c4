//! What comes more than once, once.

/// Each of `all` where it comes first. For the few: each is compared with those before it.
///
/// ```
/// assert_eq!(fizeau_core::distinct(["b", "a", "b"]), ["b", "a"]);
/// ```
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}
