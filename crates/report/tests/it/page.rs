//! The page: whole, escaped, the same every time.

use fizeau_metrics::{Concern, Reason, Verdict};
use fizeau_report::{Engine, SpeedOfLight, SweepReport};
use fizeau_roofline::Measured;

use crate::sample;

const EVIL: &str = "<script>alert('x')</script>\"&";

#[test]
fn it_is_the_same_every_time() {
    assert_eq!(sample::sweep().page(), sample::sweep().page());
}

#[test]
fn it_loads_nothing() {
    let page = sample::sweep().page();
    for loader in ["<script", "<link", "<img", "<iframe", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(loader), "{loader}");
    }
}

#[test]
fn every_foreign_text_is_escaped() {
    let mut setup = sample::setup();
    let evil = || EVIL.to_owned();
    setup.endpoint.model = evil();
    setup.endpoint.base_url = evil();
    setup.endpoint.path = evil();
    setup.endpoint.backend = evil();
    setup.engine = Engine::Simulated { description: evil() };
    setup.workload.dataset = evil();
    setup.workload.arrivals = evil();
    setup.host.cpu = Some(evil());
    setup.command_line = vec![evil()];
    setup.started = evil();
    let mut level = sample::level(64);
    level.validity.reasons =
        vec![Reason { verdict: Verdict::Suspect, about: Concern::Client, text: evil() }];
    level.speed_of_light = SpeedOfLight::Absent { reason: evil() };
    let mut left_out = sample::level(8);
    left_out.status = fizeau_report::LevelStatus::Partial { reason: evil() };
    let page = SweepReport::new(setup, vec![level, left_out], None).page();
    assert!(!page.contains("<script"));
    let escaped = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;";
    // Model (title, heading, list), URL, path, backend, engine (banner, list), ...
    assert!(page.matches(escaped).count() >= 15, "{}", page.matches(escaped).count());
}

#[test]
fn every_element_is_closed() {
    let page = sample::sweep().page();
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let name = tag.split(['>', ' ', '\n']).next().unwrap();
        let (inside, _) = tag.split_once('>').unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "at </{inside}>"),
            None if inside.ends_with('/') || matches!(name, "!doctype" | "meta") => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn it_says_all_that_it_must() {
    let page = sample::sweep().page();
    for text in [
        "The engine was simulated, not run on hardware.",
        "Llama-3.1-8B bf16 on one H100 SXM, 32 slots",
        "concurrency 32",
        "Highest concurrency within the goals: about 45",
        "dominated by 32",
        "goal: p99 E2EL &lt; 600 ms",
        "1.6 % of requests failed",
        "Example CPU at 3 GHz",
        "fizeau sweep --slo &#39;p99 ttft&lt;150ms, p99 e2el&lt;600ms&#39;",
        "class=\"operating\"",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Two charts, each for wide and narrow pages, each with a text in its stead.
    assert_eq!(page.matches("<svg class=\"wide\" role=\"img\"").count(), 2);
    assert_eq!(page.matches("<svg class=\"narrow\" role=\"img\"").count(), 2);
    assert_eq!(page.matches("\n<desc>").count(), 4);
}

/// A level beyond the speed of light is invalid, and no share of it was reached there.
#[test]
fn an_invalid_level_is_no_headline() {
    let mut beyond = sample::level(64);
    beyond.validity.verdict = Verdict::Invalid;
    if let SpeedOfLight::Known(light) = &mut beyond.speed_of_light {
        let measured = Measured {
            output_tokens_per_s: Some(light.bound.output_tokens_per_s * 2.5),
            ..Measured::default()
        };
        light.shares = measured.percent_of(&light.bound);
    }
    let page = SweepReport::new(sample::setup(), vec![sample::level(1), beyond], None).page();
    assert!(!page.contains("250 %"));
    assert!(page.contains("<p class=\"headline\">83 %</p>"));
}

#[test]
fn nothing_measured_is_a_page_too() {
    let page = SweepReport::new(sample::setup(), Vec::new(), None).page();
    assert!(page.contains("No level was measured."));
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn it_shows_what_the_client_saw_of_itself() {
    let page = sample::sweep().page();
    assert!(page.contains("Was the client the bottleneck?"), "{page}");
    assert!(page.contains("<td>kernel</td><td>0.035 / 0.050 / 0.050</td>"), "{page}");
}
