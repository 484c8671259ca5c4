//! Tables of command lines.

/// Lines that run one after another in one folder.
pub(super) struct Scenario {
    pub(super) name: String,
    /// Whether longer texts than usual are kept as they are.
    pub(super) is_full: bool,
    pub(super) steps: Vec<Step>,
}

/// One line of a scenario.
pub(super) enum Step {
    /// The program with these words.
    Run(Vec<String>),
    /// `!copy FROM TO`: a file or a folder, from `fixtures/` or from what an earlier line wrote.
    Copy(String, String),
    /// `!write FILE TEXT`: a file of this text, in which `\n` ends a line.
    Write(String, String),
}

/// Reads `== NAME`, or `== NAME full`, and the lines below it. What begins with `#` is a remark.
pub(super) fn read(text: &str) -> Vec<Scenario> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        if let Some(title) = line.strip_prefix("== ") {
            let name = title.trim_end_matches(" full").to_owned();
            scenarios.push(Scenario { name, is_full: title.ends_with(" full"), steps: Vec::new() });
        } else {
            scenarios.last_mut().unwrap().steps.push(step(line));
        }
    }
    scenarios
}

fn step(line: &str) -> Step {
    if let Some(rest) = line.strip_prefix("!copy ") {
        let (from, to) = rest.split_once(' ').unwrap();
        Step::Copy(from.to_owned(), to.to_owned())
    } else if let Some(rest) = line.strip_prefix("!write ") {
        let (name, text) = rest.split_once(' ').unwrap();
        Step::Write(name.to_owned(), text.replace("\\n", "\n"))
    } else {
        Step::Run(words(line))
    }
}

/// Words as a shell has them, with quotes of both kinds.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for char in line.chars() {
        match (char, quote) {
            (char, Some(open)) if char == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            (char, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}
