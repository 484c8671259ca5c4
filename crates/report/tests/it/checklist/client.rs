//! Whether the figures are the server's, of the workload that was asked for, and can be.

use fizeau_metrics::{Concern, Reason, Verdict};
use fizeau_record::{Check, LevelReport, SpeedOfLight};

use super::CheckOutcome::{Fail, Pass, Simulated, Unknown};
use super::hold;

#[test]
fn the_client_and_what_it_was_asked() {
    hold(&[
        (Check::Client, |_| {}, Pass, "at worst send lateness p99 0.050 ms, CPU 21 %"),
        (
            Check::Client,
            |run| says(&mut run.1[1], Concern::Client, "requests were sent late"),
            Fail,
            "requests were sent late (at 20 requests/s)",
        ),
        (
            Check::Client,
            |run| run.1[1].client.watch.cpu_share = None,
            Unknown,
            "CPU time it took is not known (at 20 requests/s)",
        ),
        (
            Check::Client,
            |run| {
                for level in &mut run.1 {
                    level.client.stamps = fizeau_core::StampSource::Simulated;
                }
            },
            Simulated,
            "there was no client",
        ),
        (Check::Workload, |_| {}, Pass, "prompts off by 0 %, outputs by 0 %"),
        (
            Check::Workload,
            |run| run.1.iter_mut().for_each(|l| says(l, Concern::Failures, "2 of 99 failed")),
            Fail,
            "2 of 99 failed (at 10 requests/s); 2 more levels",
        ),
        (
            Check::Workload,
            |run| run.1[0].summary.lengths.prompt.difference = None,
            Unknown,
            "not known of every prompt",
        ),
        (
            Check::Workload,
            |run| run.1[0].summary.lengths.output.seen.n = 3,
            Unknown,
            "an estimate (at 10 requests/s)",
        ),
    ]);
}

#[test]
fn caches_and_the_speed_of_light() {
    hold(&[
        (Check::Caches, |_| {}, Pass, "no hits asked for; 0 % of the prompt tokens"),
        (
            Check::Caches,
            |run| says(&mut run.1[0], Concern::Cache, "40 % came from a cache"),
            Fail,
            "40 % came from a cache",
        ),
        (
            Check::Caches,
            |run| {
                let tokens = &mut run.1[0].summary.tokens;
                (tokens.cached_input, tokens.cached_share) = (None, None);
            },
            Unknown,
            "the server does not say",
        ),
        (Check::Light, |_| {}, Pass, "nothing beyond it; at most 51 %"),
        (
            Check::Light,
            |run| run.1[0].speed_of_light = crate::light::faster(8, 4).speed_of_light,
            Fail,
            "times better than can be (at 10 requests/s)",
        ),
        (
            Check::Light,
            |run| {
                let reason = "no model was given".to_owned();
                run.1[0].speed_of_light = SpeedOfLight::Absent { reason };
            },
            Unknown,
            "no model was given (at 10 requests/s)",
        ),
    ]);
}

fn says(level: &mut LevelReport, about: Concern, text: &str) {
    let reason = Reason { verdict: Verdict::Suspect, about, text: text.to_owned() };
    level.validity.reasons.push(reason);
}
