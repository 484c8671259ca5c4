//! The launch recipes, held against the variables that the code reads and the flags that it takes.

use std::fs;
use std::path::Path;

use fizeau::experiment::{
    EnvironmentVariables, MEETING_VARIABLES, SHARD_VARIABLES, ShardIdentity, ShardSource,
};

use crate::stand::run;

fn recipe(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    fs::read_to_string(root.join(name)).unwrap()
}

/// The value behind `key:` in a manifest, wherever it first stands.
fn value<'a>(manifest: &'a str, key: &str) -> &'a str {
    let lines = manifest.lines().map(str::trim);
    let found = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).next();
    found.unwrap_or_else(|| panic!("no {key}")).trim_matches('"')
}

/// The value of an entry of `env`.
fn env<'a>(manifest: &'a str, name: &str) -> &'a str {
    let after = manifest.split_once(&format!("- name: {name}\n")).map(|(_, after)| after);
    value(after.unwrap_or_else(|| panic!("no {name}")), "value")
}

#[test]
fn the_indexed_job_runs_each_shard_once_and_all_at_once() {
    let (job, service) = (recipe("kubernetes/job.yaml"), recipe("kubernetes/service.yaml"));
    assert_eq!(value(&job, "completionMode"), "Indexed");
    let count = value(&job, "completions");
    assert_eq!(count, value(&job, "parallelism"));
    assert_eq!(count, env(&job, "FIZEAU_SHARD_COUNT"));
    assert_eq!((value(&job, "backoffLimit"), value(&job, "restartPolicy")), ("0", "Never"));
    let name = value(&service, "name");
    assert_eq!(value(&job, "subdomain"), name);
    assert_eq!(
        (value(&service, "clusterIP"), value(&service, "job-name")),
        ("None", value(&job, "name"))
    );
    assert_eq!(value(&service, "publishNotReadyAddresses"), "true");
    let meeting = format!("{}-0.{name}:{}", value(&job, "name"), value(&service, "port"));
    assert_eq!(env(&job, "FIZEAU_RENDEZVOUS"), meeting);
    // What a kubelet sets for the pod of index 5, and what the manifest does.
    let set = [
        ("JOB_COMPLETION_INDEX", "5"),
        ("FIZEAU_SHARD_COUNT", count),
        ("FIZEAU_RENDEZVOUS", &meeting),
    ];
    let set: EnvironmentVariables =
        set.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let found = ShardIdentity::find(None, &set).unwrap();
    assert_eq!(
        (found.shard.to_string(), found.source),
        (format!("5/{count}"), ShardSource::IndexedJob)
    );
    let results = recipe("kubernetes/results.yaml");
    assert_eq!(value(&job, "claimName"), value(&results, "name"));
    assert_eq!(value(&results, "accessModes"), "[ReadWriteMany]");
    assert!(job.contains(&format!("--out, {}/", value(&job, "mountPath"))), "{job}");
    // A second Job finds the folder of the first on the volume: its own is called otherwise.
    assert!(job.contains("--out, /results/$(RUN)]"), "{job}");
    let own = job.split_once("- name: RUN\n").unwrap().1;
    assert!(value(own, "fieldPath").contains("controller-uid"), "{own}");
    // Who runs in the image may write to the volume.
    let image = recipe("Containerfile");
    let user = image.lines().find_map(|line| line.strip_prefix("USER ")).unwrap();
    assert_eq!(user.split_once(':').unwrap().1, value(&job, "fsGroup"));
    let kustomization = recipe("kubernetes/kustomization.yaml");
    for file in ["service.yaml", "results.yaml", "job.yaml"] {
        assert!(kustomization.contains(&format!("- {file}\n")), "{file}");
    }
}

#[test]
fn scripts_name_variables_that_are_read_and_start_nothing_twice() {
    let known: Vec<&str> =
        SHARD_VARIABLES.iter().chain(MEETING_VARIABLES).map(|(name, _)| *name).collect();
    let others = ["FIZEAU_SHARD_TIMEOUT", "FIZEAU_BASE_URL", "FIZEAU_MODEL"];
    for name in ["slurm.sbatch", "slurm-array.sbatch", "mpirun.sh", "kubernetes/job.yaml"] {
        let text = recipe(name);
        let words =
            text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        for word in words.filter(|word| word.starts_with("FIZEAU_")) {
            assert!(known.contains(&word) || others.contains(&word), "{name}: {word}");
        }
        if let Some(requeue) = text.find("#SBATCH") {
            assert!(text[requeue..].contains("--no-requeue"), "{name}");
        }
    }
    assert!(recipe("slurm.sbatch").contains("srun -K1"));
}

/// No container is built here: its file is held as text.
#[test]
fn the_container_is_built_from_features_that_there_are_and_without_what_lies_in_target() {
    let file = recipe("Containerfile");
    assert!(file.contains("ENTRYPOINT [\"fizeau\"]"), "{file}");
    let features = file.lines().find_map(|line| line.split_once("--features ")).unwrap().1;
    let manifest = include_str!("../../Cargo.toml");
    for feature in features.split(',') {
        assert!(manifest.contains(&format!("\n{feature} = [")), "{feature}");
    }
    let ignored = include_str!("../../../../.dockerignore");
    assert!(ignored.lines().any(|line| line == "/target"), "{ignored}");
}

/// The command line of each is one that the program takes, but for the server, which nobody is told here.
#[test]
fn the_flags_of_the_recipes_are_flags() {
    let job = recipe("kubernetes/job.yaml");
    let args = value(&job, "args").trim_matches(['[', ']']).replace('"', "");
    let args = args.replace("64,256,1024", "64;256;1024").replace(", ", " ").replace(';', ",");
    let scripts = ["slurm.sbatch", "slurm-array.sbatch", "mpirun.sh"].map(recipe);
    let line = |text: &str| {
        let mut commands = text.lines().filter(|line| !line.starts_with('#'));
        let found = commands.find_map(|line| line.split_once("fizeau sweep").map(|(_, rest)| rest));
        format!("sweep{}", found.unwrap())
    };
    for line in scripts.iter().map(|text| line(text)).chain([args]) {
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
        let words: Vec<&str> = words.into_iter().take_while(|word| *word != "--out").collect();
        let ended = run(&[&words[..], &["--help"]].concat());
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
    }
}

/// The workflow measures each side as often as it compares it, with flags that there are, and asks for no rights.
#[test]
fn the_gate_of_a_pull_request_compares_what_it_measured() {
    let workflow = recipe("github/pull-request.yml");
    let lines = |command: &str| {
        let found = workflow.lines().filter_map(|line| line.trim().strip_prefix(command));
        let found: Vec<&str> = found.collect();
        let [line] = found[..] else { panic!("{command}: {found:?}") };
        line.to_owned()
    };
    let (bench, compare) = (lines("fizeau bench "), lines("fizeau compare "));
    let (compare, to) = compare.split_once(" >> ").unwrap();
    assert_eq!(to, "\"$GITHUB_STEP_SUMMARY\"");
    for flags in ["--fail-on regression", "--markdown", "--junit junit.xml"] {
        assert!(compare.contains(flags), "{flags}");
    }
    for (command, line) in [("bench", &*bench), ("compare", compare)] {
        let first = line.replace("$round", "1");
        let words = first.split_whitespace().map(|word| word.trim_matches('"'));
        let words: Vec<&str> = words.collect();
        let ended = run(&[&[command], &words[..], &["--help"]].concat());
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
    }
    let rounds = workflow.split_once("for round in ").unwrap().1;
    let rounds: Vec<&str> = rounds.split_once(';').unwrap().0.split(' ').collect();
    let runs = |side: &str| rounds.iter().map(|n| format!("runs/{side}-{n}")).collect::<Vec<_>>();
    assert!(bench.ends_with("--out \"runs/$side-$round\""), "{bench}");
    assert!(workflow.contains("for side in base head; do"));
    let sides: Vec<String> = ["base", "head"].map(|side| runs(side).join(",")).to_vec();
    assert!(compare.starts_with(&sides.join(" ")), "{compare}");
    // A machine of one's own keeps what the run before left, and a server that nobody stopped.
    let (before, measured) = workflow.split_once("for round in ").unwrap();
    assert!(before.contains("rm -rf runs junit.xml\n"), "{before}");
    let stop = measured.split_once("if: always()\n").unwrap().1;
    assert!(stop.split("- name:").next().unwrap().contains("ci/stop.sh"), "{stop}");
    // No pull request cancels another that waits.
    assert!(workflow.contains("group: speed-${{ github.event.pull_request.number }}"));
    // The code of a stranger does not run here; whatever runs gets to see nothing and to change nothing.
    assert!(workflow.contains("head.repo.full_name == github.repository\n"));
    assert!(workflow.contains("on: pull_request\n"));
    assert!(
        workflow.contains("permissions:\n  contents: read\n") && !workflow.contains("secrets.")
    );
}
