//! Rust without its comments and literals, for checks that look for words.

/// `source` with every comment and the inside of every string and character literal turned into spaces. Lines
/// stay where they are.
pub(super) fn blanked(source: &str) -> String {
    let mut rest = source;
    let mut code = String::with_capacity(source.len());
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = literal_length(rest, before).unwrap_or(0);
        let (literal, after) = rest.split_at(length);
        if length == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(literal.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = after;
        }
        before = first;
    }
    code
}

/// Every string literal of `source` with the line that it begins in, counted from 0.
pub(super) fn strings(source: &str) -> Vec<(usize, &str)> {
    let (mut at, mut line, mut before) = (0, 0, ' ');
    let mut found = Vec::new();
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let length = literal_length(rest, before).unwrap_or(0);
        if length > 0 && matches!(first, '"' | 'r') {
            found.push((line, &rest[..length]));
        }
        let taken = length.max(first.len_utf8());
        line += rest[..taken].matches('\n').count();
        at += taken;
        before = first;
    }
    found
}

/// What of `code`, which is [blanked](blanked), is compiled for tests only.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ForTests<'a> {
    /// The lines, counted from 0, each with the first behind it.
    lines: Vec<(usize, usize)>,
    /// The modules whose text is in files of their own.
    pub(super) modules: Vec<&'a str>,
}

impl ForTests<'_> {
    pub(super) fn has(&self, line: usize) -> bool {
        self.lines.iter().any(|(from, to)| (*from..*to).contains(&line))
    }
}

/// The items below each `#[cfg(test)]`.
pub(super) fn for_tests(code: &str) -> ForTests<'_> {
    let mut found = ForTests::default();
    let line_of = |at: usize| code[..at].matches('\n').count();
    for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (from, _) in code.match_indices(marker) {
            let item = &code[from..];
            let to = from + item_length(item);
            found.lines.push((line_of(from), line_of(to) + 1));
            let (_, rest) = item.split_once(']').unwrap_or_default();
            let mut names = words(rest.split(['{', ';']).next().unwrap_or_default());
            if code[..to].ends_with(';') && names.any(|word| word == "mod") {
                found.modules.extend(names.next());
            }
        }
    }
    found
}

/// Up to and with the `;` or the closing brace that an item ends with.
fn item_length(item: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, '}' | ';') {
            return at + 1;
        }
    }
    item.len()
}

/// The identifiers and numbers of a line.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many bytes the comment or literal takes that `rest` begins with; none if it begins with code.
fn literal_length(rest: &str, before: char) -> Option<usize> {
    let end_of = |found: Option<usize>| found.unwrap_or(rest.len());
    match rest.as_bytes() {
        [b'/', b'/', ..] => Some(end_of(rest.find('\n'))),
        [b'/', b'*', ..] => Some(block_comment(rest)),
        [b'"', ..] => Some(quoted(rest, '"')),
        [b'r', b'"' | b'#', ..] if !is_word(before) || matches!(before, 'b' | 'c') => {
            let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
            let inside = rest[1 + hashes..].strip_prefix('"')?;
            let close = format!("\"{}", "#".repeat(hashes));
            Some(end_of(inside.find(&close).map(|at| 2 + hashes + at + close.len())))
        }
        [b'\'', ..] => character(rest),
        _ => None,
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a literal between two `quote`s, the first of which `rest` begins with.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character, or none if it is a lifetime: `'a'` against `'a`.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest.chars().skip(1);
    let first = inside.next()?;
    (first == '\\' || inside.next()? == '\'').then(|| quoted(rest, '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(source: &str) -> Vec<String> {
        blanked(source).lines().flat_map(words).map(str::to_owned).collect()
    }

    #[test]
    fn comments_and_literals_vanish() {
        assert_eq!(words_of("a // b\nc"), ["a", "c"]);
        assert_eq!(words_of("a /* b /* c */ d */ e"), ["a", "e"]);
        assert_eq!(words_of(r#"a "b \" c" d"#), ["a", "d"]);
        assert_eq!(words_of(r##"a r#"b " c"# d"##), ["a", "d"]);
        assert_eq!(words_of(r#"br"b" d"#), ["b", "d"]);
        assert_eq!(words_of("a '\"' b '\\'' c"), ["a", "b", "c"]);
        assert_eq!(
            words_of("fn f<'a>(x: &'a str) -> 'static"),
            ["fn", "f", "a", "x", "a", "str", "static"]
        );
        assert_eq!(words_of("r#type"), ["r", "type"]);
        assert_eq!(words_of("for_r \"b\" c"), ["for_r", "c"]);
    }

    #[test]
    fn strings_are_found_with_their_lines() {
        let source = "// \"a\"\nlet b = \"c\\\"\";\nlet d = r#\"e\nf\"#; 'g'\n\"h\"";
        let expected = [(1, "\"c\\\"\""), (2, "r#\"e\nf\"#"), (4, "\"h\"")];
        assert_eq!(strings(source), expected);
    }

    #[test]
    fn what_is_for_tests_ends_where_its_item_ends() {
        let code = "a\n#[cfg(test)]\nmod tests {\n  { }\n}\nb\n#[cfg(test)]\npub(crate) mod c;\nd";
        let found = for_tests(code);
        let lines: Vec<usize> = (0..9).filter(|line| found.has(*line)).collect();
        assert_eq!((lines, found.modules), (vec![1, 2, 3, 4, 6, 7], vec!["c"]));
    }

    #[test]
    fn lines_stay_and_what_is_cut_short_does_no_harm() {
        let source = "\"a\nb\" c\n/* d\ne */ f";
        assert_eq!(blanked(source).lines().count(), source.lines().count());
        for odd in ["\"", "'", "/*", "r#", "r#\"", "'\\", "\"\\", "é\"é", "//é"] {
            assert_eq!(blanked(odd).chars().count(), odd.chars().count(), "{odd}");
        }
    }
}
