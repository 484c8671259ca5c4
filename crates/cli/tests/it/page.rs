//! Pages of `docs/` that show commands with what they print.

use std::fs::{read_to_string, write};
use std::path::{Path, PathBuf};

use crate::stand::{Ended, Scratch, fizeau};

/// The folder of the pages.
pub(crate) const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// A command of a page, and what the page says that it prints.
pub(crate) struct Step {
    /// Its words, without the program's name.
    pub(crate) words: Vec<String>,
    /// What it prints; none where the page does not show that.
    pub(crate) printed: Option<String>,
}

/// The commands of a page, in order. A block `text` right after a command is what it prints.
pub(crate) fn steps(page: &str) -> Vec<Step> {
    let step = |part: &str| {
        let (command, rest) = part.split_once("```").unwrap();
        let rest = rest.trim_start();
        let printed = rest.strip_prefix("```text\n").map(|text| text.split("```").next().unwrap());
        Step { words: words(command), printed: printed.map(str::to_owned) }
    };
    page.split("```sh\nfizeau ").skip(1).map(step).collect()
}

/// The words of a command as a shell has them, as far as pages need it.
pub(crate) fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None, false);
    for c in command.replace("\\\n", " ").chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_with(String::new);
            }
            c if c.is_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

/// Runs the commands of the page `name`, one after the other, in one folder, and holds what they print against it. With
/// `FIZEAU_WRITE_PAGES` set, what they print is written there instead; the words beside it are for whoever does that to read
/// again. Gives what each printed.
pub(crate) fn holds(name: &str, scratch: &Scratch) -> Vec<Ended> {
    holds_some(name, scratch, |_| true)
}

/// The same of those commands alone whose output the page shows.
pub(crate) fn shows(name: &str, scratch: &Scratch) -> Vec<Ended> {
    holds_some(name, scratch, |step| step.printed.is_some())
}

fn holds_some(name: &str, scratch: &Scratch, which: fn(&Step) -> bool) -> Vec<Ended> {
    let path: PathBuf = Path::new(DOCS).join(name);
    let text = read_to_string(&path).unwrap();
    let steps: Vec<Step> = steps(&text).into_iter().filter(which).collect();
    let folder = scratch.path("");
    let play = |step: &Step| -> Ended {
        let line: Vec<&str> = step.words.iter().map(String::as_str).collect();
        fizeau(&line).current_dir(&folder).output().unwrap().into()
    };
    let ended: Vec<Ended> = steps.iter().map(play).collect();
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        write(&path, rewritten(&text, &steps, &ended)).unwrap();
        return ended;
    }
    for (step, ended) in steps.iter().zip(&ended) {
        if let Some(printed) = &step.printed {
            assert_eq!(*printed, ended.out, "{:?}: {}", step.words, ended.err);
        }
    }
    ended
}

/// The page with what was printed in place of what stands there.
fn rewritten(text: &str, steps: &[Step], ended: &[Ended]) -> String {
    let (mut new, mut rest) = (String::new(), text);
    for (step, ended) in steps.iter().zip(ended) {
        // What is printed begins a block of its own right behind its command.
        let Some(printed) = &step.printed else { continue };
        let (before, after) = rest.split_once(&format!("```\n\n```text\n{printed}```")).unwrap();
        new.push_str(&format!("{before}```\n\n```text\n{}```", ended.out));
        rest = after;
    }
    new + rest
}
