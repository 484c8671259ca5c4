//! Several configurations side by side, and the page that has questions with their answers.

use std::fs::{read_to_string, write};
use std::path::{Path, PathBuf};
use std::thread;

use crate::page::{DOCS, words};
use crate::stand::{Ended, Scratch, json, run};

/// A question of the page.
struct Question {
    /// Its command line, without the program's name.
    words: Vec<String>,
    /// What the page says it prints.
    printed: String,
    /// The picture, from the page's folder.
    chart: String,
}

fn page() -> PathBuf {
    Path::new(DOCS).join("what-if.md")
}

/// What stands between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The questions of the page: a command, what it prints, a picture.
fn questions(page: &str) -> Vec<Question> {
    let question = |part: &str| Question {
        words: words(part.split("```").next().unwrap()),
        printed: between(part, "```text\n", "```").to_owned(),
        chart: between(part, "](what-if/", ")").to_owned(),
    };
    page.split("```sh\nfizeau ").skip(1).map(question).collect()
}

/// What a question's command prints but for the line that names the report, and its chart. The folder is checked.
fn asked(question: &Question, out: &str) -> (String, String) {
    let mut line: Vec<&str> = question.words.iter().map(String::as_str).collect();
    line.extend(["--out", out]);
    let ended = run(&line);
    assert_eq!(ended.code, Some(0), "{line:?}: {ended:?}");
    assert!(ended.err.is_empty(), "{line:?}: {}", ended.err);
    let (printed, last) = ended.out.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(last, format!("Report: {out}/report.html"));
    let document = json(format!("{out}/whatif.json"));
    assert_eq!(document["schema"], "fizeau.whatif/2");
    assert!(document["variants"].as_array().unwrap().iter().all(|of| of["sweep"].is_object()));
    assert_ne!(document["verdict"], "invalid", "{line:?}");
    assert!(read_to_string(format!("{out}/report.html")).unwrap().contains("<svg"));
    (format!("{printed}\n"), read_to_string(format!("{out}/chart.svg")).unwrap())
}

/// With `FIZEAU_WRITE_PAGES` set, outputs and charts of the page are written instead; the words beside them are for whoever does
/// that to hold against them.
#[test]
fn each_command_of_the_page_prints_what_stands_there() {
    let text = read_to_string(page()).unwrap();
    let questions = questions(&text);
    assert!(questions.len() >= 7, "{}", questions.len());
    let scratch = Scratch::new("whatif-page");
    let answers: Vec<(String, String)> = thread::scope(|scope| {
        let ask = |(index, question)| {
            let out = scratch.path(&format!("{index}"));
            scope.spawn(move || asked(question, &out))
        };
        let asking: Vec<_> = questions.iter().enumerate().map(ask).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let picture = |question: &Question| Path::new(DOCS).join("what-if").join(&question.chart);
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        let mut parts = text.split("```text\n");
        let mut new = parts.next().unwrap().to_owned();
        for (part, (question, (printed, chart))) in parts.zip(questions.iter().zip(&answers)) {
            let rest = part.split_once("```").unwrap().1;
            new.push_str(&format!("```text\n{printed}```{rest}"));
            write(picture(question), chart).unwrap();
        }
        write(page(), new).unwrap();
        return;
    }
    for (question, (printed, chart)) in questions.iter().zip(&answers) {
        assert_eq!(question.printed, *printed, "{:?}", question.words);
        let on_page = read_to_string(picture(question)).unwrap();
        assert!(on_page == *chart, "{}: {:?} draws another", question.chart, question.words);
    }
}

#[test]
fn the_readme_quotes_the_page() {
    let page = read_to_string(page()).unwrap();
    let readme = read_to_string(Path::new(DOCS).join("../README.md")).unwrap();
    let (before, said) = readme.split_once("The last line answers [what if]").unwrap();
    let command = &before[before.rfind("fizeau simulate").unwrap()..];
    assert!(page.contains(command.trim_end().trim_end_matches('`')), "{command}");
    let figures = between(said, "within the goal, ", ".\n");
    let rate = between(said, "B (weights fp8) gives ", " output");
    let rate = format!("\n    {rate} at concurrency ");
    assert!(page.contains(figures) && page.contains(&rate), "{figures}, {rate}");
}

/// Runs a line that is wrong, and gives what was said of it.
fn refused(words: &[&str]) -> String {
    let scratch = Scratch::new("whatif-bad");
    let out = scratch.path("run");
    let ended = run(&[&["simulate", "--out", &out], words].concat());
    assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
    assert!(ended.out.is_empty(), "{words:?}: {}", ended.out);
    assert!(scratch.files().is_empty(), "{words:?}: {:?}", scratch.files());
    ended.err
}

fn refused_line(line: &str) -> String {
    refused(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn lists_that_make_no_sense_are_refused_by_name() {
    for (line, said) in [
        ("--tp 1,two", "--tp two: give a whole number"),
        ("--tp 1,,2", "--tp 1,,2: a value is missing before or after a comma"),
        ("--tp 2,1,2", "--tp 2,1,2: 2 is given twice"),
        ("--enable-prefix-caching off,none", "configuration 2"),
        ("--tp 1,2 --save-result", "--save-result: vLLM's JSON is of one configuration"),
        ("--tp 1,2 --append-result", "--append-result"),
        ("--tp on,2", "--tp on: give a whole number"),
        ("--case", "--case"),
        ("--isl 8,many", "--isl: `many` cannot be read as a length"),
    ] {
        let err = refused_line(line);
        assert!(err.contains(said), "{line}: {err}");
    }
    let err = refused(&["--tp", "1,2", "--case", "--tp 4", "--case", "--pp 2"]);
    assert!(err.contains("--tp has a list of its own"), "{err}");
    let err = refused(&["--case", "tp 4", "--case", "--pp 2"]);
    assert!(err.contains("tp belongs to no flag"), "{err}");
}

/// Llama-3.1-70B does not fit into one H100.
const LARGE: &str =
    "--model-config llama-3.1-70b --hardware h100-sxm --levels 1 --isl 64 --osl 8 --slo";

#[test]
fn what_cannot_run_says_why_and_the_others_go_on() {
    let scratch = Scratch::new("whatif-part");
    let out = scratch.path("run");
    let line = format!("simulate --out {out} {LARGE} e2el<9000ms --tp 1,4");
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("A: cannot run") && ended.out.contains("B (tp 4) gives"),
        "{}",
        ended.out
    );
    let document = json(format!("{out}/whatif.json"));
    assert!(document["variants"][0]["sweep"].is_null());
    let folder = |name: &str| Path::new(&out).join(name).is_dir();
    assert!(!folder("configuration-01") && folder("configuration-02"));

    let said = refused_line(&format!("{LARGE} e2el<9000ms --tp 1 --memory-share 0.8,0.9"));
    assert!(said.contains("memory-share 0.8: ") && said.contains("memory-share 0.9: "), "{said}");
}

#[test]
fn the_help_tells_of_lists() {
    let ended = run(&["simulate", "--help"]);
    for words in ["--case <FLAGS>", "--disaggregate", "docs/what-if.md"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
}

/// Words after `simulate`, as a shell gives them.
fn what_if(scratch: &Scratch, name: &str, words: &[&str]) -> Ended {
    run(&[&["simulate", "--out", &scratch.path(name), "--isl", "32", "--osl", "4"], words].concat())
}

#[test]
fn figures_that_do_not_stand_are_marked() {
    let scratch = Scratch::new("whatif-failed");
    let line = "--tp 1,2 --max-waiting 5 --max-num-seqs 2 --request-rate inf --num-prompts 60";
    let ended = what_if(&scratch, "run", &line.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.contains("! left out: A at concurrency 60 (invalid: 55 of 60"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("Verdict: invalid"), "{}", ended.out);
    assert!(ended.out.lines().any(|line| line.ends_with('!')), "{}", ended.out);
}

#[test]
fn a_trace_is_a_load() {
    let scratch = Scratch::new("whatif-trace");
    let path = scratch.path("trace.jsonl");
    let record = |i: u64| {
        format!(
            "{{\"timestamp\": {}, \"input_length\": 40, \"output_length\": 4, \"hash_ids\": [{i}]}}\n",
            45 * i
        )
    };
    write(&path, (0..120).map(record).collect::<String>()).unwrap();
    let words =
        ["simulate", "--dataset-name", "mooncake", "--dataset-path", &path, "--tp", "1,2", "--out"];
    let ended = run(&[&words[..], &[&scratch.path("run")]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("the times of the trace"), "{}", ended.out);
    assert!(
        ended.out.lines().all(|line| line.starts_with("Report: ") || line.len() <= 80),
        "{}",
        ended.out
    );
}

#[test]
fn a_case_has_the_words_of_a_shell() {
    let scratch = Scratch::new("whatif-case");
    let ended = what_if(
        &scratch,
        "run",
        &["--levels", "1", "--case", "--reserve", "--case", "--goodput 'ttft:500' --tp 2 --tp 4"],
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("A reserve"), "{}", ended.out);
    assert!(
        ended.out.contains(", tp 4 (4 devices)") && !ended.out.contains("tp 2"),
        "{}",
        ended.out
    );
    let said = refused(&["--levels", "1", "--case", "--tp 2", "--case", "--tp two"]);
    assert!(said.contains("configuration 2 (tp two)"), "{said}");
    let said = refused(&["--case", "--tp 2", "--case", "--out x"]);
    assert!(said.contains("--out is for all configurations"), "{said}");
}

/// Lists are combined, the last changing fastest; `none` takes a flag away with what goes with it.
#[test]
fn lists_make_each_configuration_once() {
    let scratch = Scratch::new("whatif-order");
    let words = ["--levels", "1", "--tensor-parallel-size", "1,2", "--weights=bf16,fp8"];
    let ended = what_if(&scratch, "run", &words);
    let places = [
        "tensor-parallel-size 1, weights bf16",
        "tensor-parallel-size 1, weights fp8",
        "tensor-parallel-size 2, weights bf16",
        "tensor-parallel-size 2, weights fp8",
    ]
    .map(|name| ended.out.find(name).unwrap_or_else(|| panic!("{name}: {ended:?}")));
    assert!(places.is_sorted(), "{}", ended.out);
    for (name, words) in [
        ("draft", ["--draft", "none,3", "--acceptance", "0.8,0.6"]),
        ("apart", ["--disaggregate", "none,1:1", "--transfer", "layers"]),
    ] {
        let ended = what_if(&scratch, name, &[&["--levels", "1"], &words[..]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.starts_with("2 configurations, "), "{}", ended.out);
        assert!(!ended.out.contains("cannot run"), "{}", ended.out);
    }
}

#[test]
fn more_flags_take_lists() {
    let scratch = Scratch::new("whatif-lists");
    for (index, flags) in [
        ["--slots", "8,16"],
        ["--num-gpu-blocks", "100,200"],
        ["--request-rate", "10,20"],
        ["--bandwidth-efficiency", "0.5,0.9"],
    ]
    .iter()
    .enumerate()
    {
        let load = if flags[0] == "--request-rate" { "--num-prompts" } else { "--levels" };
        let ended = what_if(&scratch, &index.to_string(), &[&flags[..], &[load, "4"]].concat());
        assert!(ended.out.starts_with("2 configurations, "), "{flags:?}: {ended:?}");
    }
}

/// A second one would lie among the files of the first.
#[test]
fn a_folder_with_a_what_if_is_taken() {
    let scratch = Scratch::new("whatif-taken");
    let words = ["--levels", "1", "--tp", "1,2"];
    assert_eq!(what_if(&scratch, "run", &words).code, Some(0));
    for words in [&words[..], &words[..2], &words[2..]] {
        let again = what_if(&scratch, "run", words);
        assert_eq!(again.code, Some(2), "{again:?}");
        assert!(again.err.contains("already holds a what-if"), "{}", again.err);
    }
    let shown = run(&["report", &scratch.path("run")]);
    assert_eq!(shown.code, Some(2), "{shown:?}");
    assert!(shown.err.contains("configuration-01"), "{}", shown.err);
}

#[test]
fn what_differs_is_not_said_of_all() {
    let scratch = Scratch::new("whatif-differs");
    let out = scratch.path("run");
    let ended = run(&["simulate", "--out", &out, "--isl", "16,64", "--levels", "1", "--osl", "4"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (head, _) = ended.out.split_once("  A ").unwrap();
    assert!(head.contains("Llama-3.1-8B on ") && !head.contains("tokens in"), "{head}");
    let workload = json(format!("{out}/whatif.json"))["setup"]["workload"].clone();
    assert!(workload["input_tokens"].is_null() && workload["output_tokens"] == "4", "{workload}");
}

#[test]
fn sizes_beyond_reason_are_refused() {
    let huge = "--tp 4294967295 --pp 4294967295 --dp 4294967295 --replicas";
    assert!(!refused_line(&format!("{huge} 1,4294967295")).contains("panicked"));
}

/// The last of a flag that comes twice counts, here too.
#[test]
fn a_list_that_comes_later_counts() {
    let scratch = Scratch::new("whatif-twice");
    let out = scratch.path("run");
    let line = format!("simulate --out {out} --tp 8 --levels 1 --osl 4 --isl 8 --osl 6,7 --tp 1");
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("A osl 6 (1 device)"), "{}", ended.out);
    assert!(ended.out.contains("B osl 7 (1 device)"), "{}", ended.out);
}
