//! Whether the figures are the server's, of the workload that was asked for, and can be.

use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{ChecklistItem, LevelReport, SpeedOfLight};

use super::CheckOutcome::{Fail, Pass, Simulated, Unknown};
use super::hold;

#[test]
fn the_client_and_what_it_was_asked() {
    hold(&[
        (ChecklistItem::Client, |_| {}, Pass, "at worst send lateness p99 0.050 ms, CPU 21 %"),
        (
            ChecklistItem::Client,
            |run| says(&mut run.1[1], VerdictConcern::Client, "requests were sent late"),
            Fail,
            "requests were sent late (at 20 requests/s)",
        ),
        (
            ChecklistItem::Client,
            |run| run.1[1].client.watch.cpu_share = None,
            Unknown,
            "CPU time not known (at 20 requests/s)",
        ),
        (
            ChecklistItem::Client,
            |run| {
                for level in &mut run.1 {
                    level.client.stamps = Some(fizeau_core::StampSource::Simulated);
                }
            },
            Simulated,
            "virtual time, no client",
        ),
        (
            ChecklistItem::Workload,
            |_| {},
            Pass,
            "prompt lengths off by at most 0 %, output lengths by 0 %",
        ),
        (
            ChecklistItem::Workload,
            |run| {
                run.1.iter_mut().for_each(|l| says(l, VerdictConcern::Failures, "2 of 99 failed"))
            },
            Fail,
            "2 of 99 failed (at 10 requests/s); 2 more levels",
        ),
        (
            ChecklistItem::Workload,
            |run| run.1[0].summary.lengths.prompt.difference = None,
            Unknown,
            "some prompt lengths not known",
        ),
        (
            ChecklistItem::Workload,
            |run| run.1[0].summary.lengths.output.seen.n = 3,
            Unknown,
            "estimates (at 10 requests/s)",
        ),
    ]);
}

#[test]
fn caches_and_the_speed_of_light() {
    hold(&[
        (
            ChecklistItem::Caches,
            |_| {},
            Pass,
            "no cache hits expected; 0 % of prompt tokens cached",
        ),
        (
            ChecklistItem::Caches,
            |run| says(&mut run.1[0], VerdictConcern::Cache, "40 % came from a cache"),
            Fail,
            "40 % came from a cache",
        ),
        (
            ChecklistItem::Caches,
            |run| {
                let tokens = &mut run.1[0].summary.tokens;
                (tokens.cached_input, tokens.cached_share) = (None, None);
            },
            Unknown,
            "the server does not report hits",
        ),
        (ChecklistItem::SpeedOfLight, |_| {}, Pass, "nothing beyond it; nearest 52 %"),
        (
            ChecklistItem::SpeedOfLight,
            |run| run.1[0].speed_of_light = crate::light::faster(8, 4).speed_of_light,
            Fail,
            "times better than the bound allows (at 10 requests/s)",
        ),
        (
            ChecklistItem::SpeedOfLight,
            |run| {
                let reason = "no model was given".to_owned();
                run.1[0].speed_of_light = SpeedOfLight::Absent { reason };
            },
            Unknown,
            "no model was given (at 10 requests/s)",
        ),
    ]);
}

fn says(level: &mut LevelReport, about: VerdictConcern, text: &str) {
    level.validity.reasons.push(VerdictReason::new(Verdict::Suspect, about, text));
}
