//! Keys, values of headers and passwords: in no file, in nothing that is printed, in no log, whatever a server says back.

use std::fs;
use std::path::Path;

use crate::completions::commands;
use crate::stand::{
    Ended, HOWEVER_BUSY, Scratch, fizeau, reply, run, scripted, scripted_gets, stream_of,
};

const KEY: &str = "canary-of-the-key";
const HEADER: &str = "canary-of-the-header";
const PAGE: &str = "canary-of-the-page";

/// What `--push` makes of `me:canary-of-the-key`.
const BASIC: &str = "bWU6Y2FuYXJ5LW9mLXRoZS1rZXk=";

/// How help writes the flags that take a secret.
const FLAGS: [&str; 4] = ["--header ", "--server-metrics-header ", "--api-key-file ", "--push "];

/// The commands that measure, each as short as can be.
const COMMANDS: [&str; 5] = [
    "ab --random-input-len 4 --random-output-len 4 --num-prompts 3 --max-concurrency 1 --settle 0s --rounds 5",
    "bench --random-input-len 4 --random-output-len 4 --num-prompts 6 --max-concurrency 1",
    "calibrate --model-config llama-3.1-8b --hardware h100-sxm --budget 30s --max-context 200",
    "search --over concurrency --isl 4 --osl 4 --num-prompts 4 --from 1 --to 2 --max-runs 3 --confirm 0",
    "sweep --levels 1 --isl 4 --osl 4 --num-prompts 4",
];

/// A server that answers the first request well, and repeats what it was told in most others.
fn telltale() -> String {
    let said = format!("no model for {KEY} of {HEADER}");
    let error = format!("data: {{\"error\": {{\"message\": \"{said}\", \"code\": 400}}}}\n\n");
    scripted(move |n| {
        Some(match n % 3 {
            0 => stream_of(4),
            1 => reply("500 Broken", "text/plain", &said),
            _ => reply("200 OK", "text/event-stream", &error),
        })
    })
}

/// A server whose page of metrics is good now and then, and else repeats what it was asked with.
fn telltale_page() -> String {
    scripted_gets(|n| {
        Some(match n % 2 {
            0 => reply("200 OK", "text/plain; version=0.0.4", &format!("up {n}\n")),
            _ => reply(
                "403 Forbidden",
                "text/plain",
                &format!("not {PAGE}, nor {KEY}, nor {HEADER}"),
            ),
        })
    })
}

fn says_nothing(bytes: &[u8], place: &str) {
    let found = [KEY, HEADER, PAGE, BASIC].into_iter().find(|canary| {
        bytes.windows(canary.len()).any(|window| window.eq_ignore_ascii_case(canary.as_bytes()))
    });
    assert_eq!(found, None, "{place}: {}", String::from_utf8_lossy(bytes));
}

fn says_nothing_below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let one = |path: std::path::PathBuf| {
        if path.is_dir() {
            return says_nothing_below(&path);
        }
        says_nothing(path.to_string_lossy().as_bytes(), "a file's name");
        says_nothing(&fs::read(&path).unwrap(), &path.display().to_string());
        1
    };
    entries.map(one).sum()
}

/// Runs it with all logs on; what it prints is searched.
fn searched(words: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = fizeau(words);
    command.env("FIZEAU_LOG", "trace").envs(variables.iter().copied());
    let ended = Ended::from(command.output().unwrap());
    says_nothing(ended.out.as_bytes(), "standard output");
    says_nothing(ended.err.as_bytes(), "standard error");
    ended
}

#[test]
fn keys_and_headers_reach_the_server_and_nothing_else() {
    let scratch = Scratch::new("canary");
    let file = scratch.path("key");
    fs::write(&file, format!("{KEY}\n")).unwrap();
    let (header, page_header) =
        (format!("X-Team: {HEADER}"), format!("Authorization: Bearer {PAGE}"));
    for (index, line) in COMMANDS.into_iter().enumerate() {
        let (url, other) = (telltale(), telltale());
        let page = telltale_page().replace("http://", &format!("http://me:{KEY}@")) + "/metrics";
        let out = scratch.path(&format!("run-{index}"));
        let calibration = scratch.path("calibration.json");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--model", "m", "--header", &header]);
        if takes(words[0], "--server-metrics-header ") {
            words.extend(["--server-metrics", &page, "--server-metrics-header", &page_header]);
        }
        match words[0] {
            "calibrate" => words.extend(["--out-dir", &out, "--out", &calibration]),
            _ => {
                words.extend(["--num-warmups", "0", "--out", &out]);
                words.extend(HOWEVER_BUSY);
            }
        }
        match words[0] {
            "ab" => words.extend(["--a", &url, "--b", &other]),
            "search" => words.extend(["--base-url", &url, "--slo", "mean tpot<60ms"]),
            _ => words.extend(["--base-url", &url]),
        }
        // The key comes in each of the ways that there are.
        let key = if index % 2 == 0 { &["--api-key-file", &*file][..] } else { &[] };
        words.extend(key);
        let ended = searched(&words, &[("FIZEAU_API_KEY", KEY)]);
        assert!(matches!(ended.code, Some(0 | 1)), "{line}: {ended:?}");
        let files = says_nothing_below(Path::new(&out));
        assert!(files >= 3, "{line}: {files} files");
    }
}

#[test]
fn what_watches_and_what_pushes_tells_nobody_else_either() {
    let page = telltale_page().replace("http://", &format!("http://me:{KEY}@")) + "/metrics";
    let header = format!("Authorization: Bearer {PAGE}");
    let watch = ["watch", "--model-config", "llama-3.1-8b", "--hardware", "h100-sxm", "--once"];
    let times = ["--interval", "20ms", "--window", "60ms", "--server-metrics", &page];
    let ended =
        searched(&[&watch[..], &times, &["--server-metrics-header", &header]].concat(), &[]);
    assert!(matches!(ended.code, Some(0..=3)), "{ended:?}");

    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    for (status, said) in [("200 OK", "fine"), ("401 Unauthorized", KEY), ("500 Broken", BASIC)] {
        let gateway = scripted(move |_| Some(reply(status, "text/plain", said)));
        for scheme in ["http://", "otlp+http://"] {
            let url = gateway.replace("http://", &format!("{scheme}me:{KEY}@"));
            let ended = searched(&["report", run, "--push", &url], &[]);
            assert_eq!(ended.code == Some(0), status == "200 OK", "{ended:?}");
        }
    }
}

#[test]
fn a_command_line_that_is_refused_repeats_no_secret() {
    let here = "http://127.0.0.1:1";
    let (header, with_user) = (format!("X-Team={HEADER}"), format!("http://me:{KEY}@127.0.0.1:1"));
    let both = format!("{here},{with_user}");
    let bench = ["bench", "--model", "m", "--num-prompts", "1"];
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let lines: [(&[&str], Variables<'_>); 6] = [
        (&["--base-url", here, "--header", HEADER], &[]),
        (&["--base-url", here, "--header", &header, "--no-such-flag"], &[]),
        (&["--base-url", here, "--header", &header], &[("OPENAI_API_KEY", KEY)]),
        (&["--base-url", &with_user], &[]),
        (&["--base-url", &both], &[]),
        (&["--base-url", "http://10.255.255.1"], &[("http_proxy", &with_user)]),
    ];
    for (line, variables) in lines {
        let ended = searched(&[&bench[..], line].concat(), variables);
        assert!(matches!(ended.code, Some(2 | 3)), "{line:?}: {ended:?}");
    }
}

fn takes(command: &str, flag: &str) -> bool {
    run(&[command, "--help"]).out.contains(flag)
}

/// Who adds a command that takes a secret adds it above.
#[test]
fn no_command_that_takes_a_secret_is_left_out() {
    let takes_any = |name: &String| FLAGS.iter().any(|flag| takes(name, flag));
    let mut found: Vec<String> = commands().into_iter().filter(takes_any).collect();
    found.sort_unstable();
    let measure = COMMANDS.map(|line| line.split_whitespace().next().unwrap());
    let mut known = [&measure[..], &["report", "watch"]].concat();
    known.sort_unstable();
    assert_eq!(found, known);
}
