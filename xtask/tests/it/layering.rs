use xtask::{Repo, layering};

#[test]
fn crates_of_this_repository_depend_downwards() {
    let repo = Repo::read().unwrap();
    let findings: Vec<String> = layering(&repo).iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
