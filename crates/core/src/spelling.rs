//! How far a name is from another.

/// How many letters must be put in, taken out or changed to make `from` into `to` (Levenshtein's distance).
#[must_use]
pub fn edit_distance(from: &str, to: &str) -> usize {
    let mut above: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().take(64).enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        for ((b, change), put_in) in to.chars().zip(&above).zip(above.iter().skip(1)) {
            left = (change + usize::from(a != b)).min(left + 1).min(put_in + 1);
            row.push(left);
        }
        above = row;
    }
    above.last().copied().unwrap_or(0)
}
