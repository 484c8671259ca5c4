//! A disk that is full, of one shard's part or of what all of them are together.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use fizeau::core::Nanos;

use super::faults::by_hand;
use super::{ends, free_port, process, start, tapes};
use crate::stand::{Scratch, fixed};

/// The same command, whose files cannot grow beyond 100 kB, as on a full disk.
fn on_a_small_disk(command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""]);
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

#[test]
fn a_shard_whose_disk_is_full_is_named_and_what_was_measured_is_kept() {
    let scratch = Scratch::new("shards-full");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let url = format!("http://{}", server.addr());
    let outs = [0, 1].map(|full| scratch.path(&full.to_string()));
    let runs = outs.each_ref().map(|out| {
        let full = usize::from(out == &outs[1]);
        let line = "bench --model m --num-prompts 600 --num-warmups 0 --random-input-len 8 --random-output-len 6 --salt 7 --request-rate 2000";
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--base-url", &url, "--out", out]);
        let meeting = format!("127.0.0.1:{}", free_port());
        let commands = [0, 1].map(|index| process(&words, index, 2, &meeting));
        let limited = |(index, command): (usize, Command)| match index == full {
            true => on_a_small_disk(&command),
            false => command,
        };
        commands.into_iter().enumerate().map(limited).map(start).collect::<Vec<Child>>()
    });
    for (full, (children, out)) in runs.into_iter().zip(&outs).enumerate() {
        let ended = ends(children);
        for (index, ended) in ended.iter().enumerate() {
            assert_eq!(ended.code, Some(1), "{index}, {full} is full: {ended:?}");
            let path = format!("shards/{full}-of-2/tapes.jsonl");
            assert!(ended.err.contains(&path), "{path}: {}", ended.err);
        }
        // Who was spared learns whose disk it is.
        let whose = if full == 0 { "shard 0: cannot write" } else { "shard 1/2 on " };
        assert!(ended[1 - full].err.contains(whose), "{whose}: {}", ended[1 - full].err);
        let kept = |index: usize| {
            let path = Path::new(out).join(format!("shards/{index}-of-2/tapes.jsonl"));
            fs::read_to_string(path).unwrap().lines().count()
        };
        assert!((20..300).contains(&kept(full)), "{}", kept(full));
        assert_eq!(kept(1 - full), 300);
        // Half a line at the end is no request.
        let [.., sent] = by_hand(out, &scratch.path(&format!("merged-{full}")));
        let kept = kept(full) as u64 + 300;
        assert!((kept - 1..=kept).contains(&sent), "{sent} of {kept}");
    }
}

/// Its own part fits, and what it puts together of all parts does not: no shard then says that the report is there.
#[test]
fn a_disk_of_shard_0_that_the_whole_run_fills_is_told_to_all_shards() {
    let scratch = Scratch::new("shards-whole-full");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let line = "bench --model m --num-prompts 240 --num-warmups 0 --random-input-len 8 --random-output-len 6 --salt 7 --request-rate 2000";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    let meeting = format!("127.0.0.1:{}", free_port());
    let first = on_a_small_disk(&process(&words, 0, 2, &meeting));
    let ended = ends(vec![start(first), start(process(&words, 1, 2, &meeting))]);
    for (index, ended) in ended.iter().enumerate() {
        assert_eq!(ended.code, Some(1), "{index}: {ended:?}");
        assert!(ended.err.contains("cannot write"), "{index}: {}", ended.err);
        assert!(!ended.out.contains("the report is at shard 0"), "{index}: {}", ended.out);
    }
    assert!(ended[1].err.contains("shard 0: "), "{}", ended[1].err);
    for index in [0, 1] {
        assert_eq!(tapes(&format!("{out}/shards/{index}-of-2")).len(), 120);
    }
}
