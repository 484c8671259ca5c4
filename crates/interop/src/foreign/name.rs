//! Names of files and folders that are made of another tool's words.

/// How long a name may be: file systems take 255 bytes, and an ending comes behind it.
const BYTES: usize = 200;

/// A text of another tool as the name of one file or folder on every system: letters, digits, `-`, `_`, `.` and `=`, and `-`
/// for all else. None where nothing is left.
///
/// ```
/// use fizeau_interop::plain_name;
/// assert_eq!(plain_name("../x\n\u{1b}[31m: red").as_deref(), Some("x---31m--red"));
/// assert_eq!(plain_name(".."), None);
/// ```
#[must_use]
pub fn plain_name(text: &str) -> Option<String> {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || "-_.=".contains(c) => c,
        _ => '-',
    };
    let mut room = BYTES;
    let fits = |c: &char| {
        let is_fit = c.len_utf8() <= room;
        room = room.saturating_sub(c.len_utf8());
        is_fit
    };
    let name: String = text.chars().map(plain).take_while(fits).collect();
    let name = name.trim_matches(['.', '-']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The same of a file, which keeps its ending.
pub(super) fn plain_file_name(text: &str) -> String {
    let (stem, ending) = text.rsplit_once('.').unwrap_or((text, ""));
    let stem = plain_name(stem).unwrap_or_else(|| "result".to_owned());
    match plain_name(ending) {
        Some(ending) => format!("{stem}.{ending}"),
        None => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{plain_file_name, plain_name};

    #[test]
    fn a_name_stays_within_its_folder() {
        let cases = [
            ("Llama-3.1 tp=2", Some("Llama-3.1-tp=2")),
            ("../../etc", Some("etc")),
            ("..", None),
            ("a/b\\c\0", Some("a-b-c")),
            ("a<b>c:d\"e|f?g*", Some("a-b-c-d-e-f-g")),
        ];
        for (text, name) in cases {
            assert_eq!(plain_name(text).as_deref(), name);
        }
        let long = plain_name(&"\u{6f22}".repeat(300)).unwrap();
        assert!(long.len() <= 200 && long.chars().all(|c| c == '\u{6f22}'));
    }

    #[test]
    fn a_file_keeps_its_ending() {
        assert_eq!(plain_file_name("..-x\n\u{1b}[31m-infqps.json"), "x---31m-infqps.json");
        assert_eq!(plain_file_name(&format!("{}.json", "x".repeat(300))).len(), 205);
        assert_eq!(plain_file_name("//.jsonl"), "result.jsonl");
    }
}
