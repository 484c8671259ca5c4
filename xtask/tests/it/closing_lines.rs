//! The lines are as cargo-nextest 0.9 and libtest (Rust 1.95) print them.

use xtask::Counts;

fn check(line: &str, passed: u64, failed: u64, skipped: u64) {
    assert_eq!(Counts::of_line(line), Some(Counts { passed, failed, skipped }), "{line}");
}

#[test]
fn nextest() {
    check("     Summary [   0.052s] 12 tests run: 12 passed, 0 skipped", 12, 0, 0);
    check("     Summary [   0.052s] 1 test run: 1 passed, 3 skipped", 1, 0, 3);
    check(
        "     Summary [   1.234s] 12 tests run: 11 passed (1 slow, 2 flaky), 1 failed, 3 skipped",
        11,
        1,
        3,
    );
    check(
        "     Summary [   9.000s] 9/12 tests run: 6 passed, 1 failed, 1 exec failed, 1 timed out, 0 skipped",
        6,
        3,
        0,
    );
    check("     Summary [   0.000s] 0 tests run: 0 passed, 0 skipped", 0, 0, 0);
}

#[test]
fn cargo_test() {
    check(
        "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.00s",
        5,
        0,
        1,
    );
    check(
        "test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        4,
        2,
        0,
    );
}

#[test]
fn colours_do_not_matter() {
    check(
        "\u{1b}[32;1m     Summary\u{1b}[0m [   0.052s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m2\u{1b}[0m \
         \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m1\u{1b}[0m \u{1b}[33;1mskipped\u{1b}[0m",
        2,
        0,
        1,
    );
    check("test result: \u{1b}[32mok\u{1b}(B\u{1b}[m. 5 passed; 0 failed; 0 ignored", 5, 0, 0);
}

#[test]
fn other_lines_count_nothing() {
    for line in [
        "",
        "running 5 tests",
        "test a::b ... ok",
        "5 passed",
        "    Starting 5 tests across 2 binaries",
    ] {
        assert_eq!(Counts::of_line(line), None, "{line}");
    }
}

#[test]
fn tests_run_late_are_skipped_no_more() {
    let first = Counts { passed: 10, failed: 1, skipped: 3 };
    let late = Counts { passed: 1, failed: 1, skipped: 400 };
    assert_eq!(first.with_late(late), Counts { passed: 11, failed: 2, skipped: 1 });
    assert_eq!(first.with_late(late).to_string(), "11 passed, 2 failed, 1 skipped");
}
