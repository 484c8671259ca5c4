//! Where the words of a picture are: none lies on another, whatever the runs are called and however close their levels are.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};
use fizeau_report::{ChartGoal, ChartRun, Picture};
use proptest::prelude::*;

use super::runs::{many, run, run_with};
use super::size;

/// What a picture is laid out by.
static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../../assets/font/arimo-latin.ttf")).unwrap()
});

/// How much wider words are in DejaVu Sans, which many systems have in its place: from 1.12 to 1.165 for those of a key.
const WIDER: f64 = 1.15;

#[derive(Debug)]
struct Words {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The words of a picture, from capitals' upper ends to the line they stand on, in units of the drawing.
fn words(svg: &str) -> Vec<Words> {
    let element = |part: &str| {
        let (attributes, rest) = part.split_once(">\n").unwrap();
        let text = rest.split("\n</text>").next().unwrap();
        let of = |name: &str| {
            let mark = format!("{name}=\"");
            attributes.split_once(&mark).unwrap().1.split('"').next().unwrap()
        };
        let [x, y, size]: [f64; 3] = ["x", "y", "font-size"].map(|name| of(name).parse().unwrap());
        let text = ["lt;<", "gt;>", "quot;\"", "apos;'", "#39;'", "amp;&"].iter().fold(
            text.to_owned(),
            |text, pair| {
                let (escape, plain) = pair.split_at(pair.len() - 1);
                text.replace(&format!("&{escape}"), plain)
            },
        );
        let width = width(&text, size);
        let left = match of("text-anchor") {
            "start" => x,
            "middle" => x - width / 2.0,
            "end" => x - width,
            other => panic!("{other}"),
        };
        // Half of an x-height is 0.26 em.
        let base = match of("dy") {
            "0.5ex" => y + 0.26 * size,
            "-0.5ex" => y - 0.26 * size,
            "0.76em" => y + 0.76 * size,
            other => panic!("{other}"),
        };
        Words { text, left, right: left + width, top: base - 0.72 * size, bottom: base }
    };
    svg.split("<text ").skip(1).map(element).filter(|words| !words.text.trim().is_empty()).collect()
}

fn width(text: &str, size: f64) -> f64 {
    let font = &*FONT;
    let per_em = font.units_per_em().map_or(1.0, |units| font.height_unscaled() / units);
    let scaled = font.as_scaled(PxScale::from(size as f32 * per_em));
    let advance = |c: char| match font.glyph_id(c) {
        glyph if glyph.0 == 0 => size,
        glyph => f64::from(scaled.h_advance(glyph)),
    };
    text.chars().map(advance).sum::<f64>() * WIDER
}

/// Two that lie on each other, or one that leaves the picture.
fn fault(svg: &str) -> Option<String> {
    let words = words(svg);
    let right = 960.0 * 4.0;
    let beyond = |one: &&Words| one.left < 0.0 || one.right > right || one.top < 0.0;
    if let Some(one) = words.iter().find(beyond) {
        return Some(format!("beyond: {one:?}"));
    }
    let pairs = words
        .iter()
        .enumerate()
        .flat_map(|(index, one)| words.iter().skip(index + 1).map(move |other| (one, other)));
    let mut overlapping = pairs.filter(|(one, other)| {
        one.left < other.right
            && other.left < one.right
            && one.top < other.bottom
            && other.top < one.bottom
    });
    overlapping.next().map(|(one, other)| format!("{one:?} {other:?}"))
}

/// A second goal just beside the first.
fn with_two_goals(mut run: ChartRun) -> ChartRun {
    if let [goal] = run.goals.as_slice() {
        let other = ChartGoal {
            limit: goal.limit * 1.02,
            text: "p99 E2EL again".to_owned(),
            ..goal.clone()
        };
        run.goals.push(other);
    }
    run
}

/// A copy under a name, with all figures but a few times as large.
fn named(run: &ChartRun, name: &str, times: f64) -> ChartRun {
    let mut run = run.clone();
    run.name = name.to_owned();
    for level in &mut run.levels {
        for figure in level.figures.0.values_mut() {
            figure.value *= times;
            (figure.low, figure.high) =
                (figure.low.map(|low| low * times), figure.high.map(|high| high * times));
        }
    }
    run
}

#[test]
fn the_sample_has_words_apart() {
    let sets = [
        vec![run()],
        vec![run_with("baseline", 1.0), run_with("candidate", 0.97)],
        ["a", "b", "c", "d"]
            .iter()
            .zip([1.0, 0.9, 0.8, 0.7])
            .map(|(name, by)| run_with(name, by))
            .collect(),
    ];
    for (picture, runs) in
        Picture::ALL.into_iter().flat_map(|of| sets.iter().map(move |set| (of, set)))
    {
        let found = fault(&picture.svg(runs).unwrap());
        assert_eq!(found, None, "{picture:?} of {}", runs.len());
    }
}

#[test]
fn of_several_runs_the_ring_says_which_is_the_operating_point() {
    let svg = Picture::Frontier.svg(&[run_with("a", 1.0), run_with("b", 0.9)]).unwrap();
    assert!(!svg.contains("operating point:"));
    assert_eq!(svg.matches("operating point\n").count(), 1);
}

#[test]
fn a_long_name_leaves_the_quantity_and_what_the_other_axis_shows() {
    let name = "a-name-that-goes-on-and-on".repeat(9);
    let svg = Picture::Itl.svg(&[run_with(&name, 1.0), run_with("b", 0.9)]).unwrap();
    assert_eq!(svg.matches("\nGap between tokens, ms, at concurrency").count(), 2);
    assert_eq!(svg.matches("\nrequests in prefill\n").count(), 2);
    assert_eq!(fault(&svg), None);
}

proptest! {
    #![proptest_config(crate::cases(16))]

    #[test]
    fn no_two_labels_lie_on_each_other(
        figures in prop::collection::vec((size(), size(), size(), 0.01..0.6_f64), 1..10),
        names in prop::collection::vec(("\\PC{0,90}", 0.8..1.25_f64), 1..5),
        label in "[a-z0-9./]{1,14}",
        goal in size(),
    ) {
        let mut one = with_two_goals(many(&figures, goal).remove(0));
        for level in one.levels.iter_mut().step_by(2) {
            level.label.clone_from(&label);
            level.saturated = true;
        }
        let runs: Vec<ChartRun> =
            names.iter().map(|(name, times)| named(&one, name, *times)).collect();
        for picture in Picture::ALL {
            if let Ok(svg) = picture.svg(&runs) {
                let found = fault(&svg);
                prop_assert!(found.is_none(), "{picture:?}: {found:?}");
            }
        }
    }

    /// Levels that are close to each other, as of runs that differ little.
    #[test]
    fn levels_that_are_close_have_labels_apart(
        figures in prop::collection::vec((5.0..20.0_f64, 100.0..300.0_f64), 2..10),
        times in prop::collection::vec(0.95..1.05_f64, 1..5),
    ) {
        let figures: Vec<_> =
            figures.iter().map(|(rate, ms)| (Some(*rate), Some(*ms), Some(*rate), 0.05)).collect();
        let one = with_two_goals(many(&figures, Some(200.0)).remove(0));
        let names = ["baseline", "fp8 with a longer name", "c", "d"];
        let runs: Vec<ChartRun> =
            times.iter().zip(names).map(|(times, name)| named(&one, name, *times)).collect();
        for picture in [Picture::Frontier, Picture::Interactivity, Picture::Load] {
            let found = fault(&picture.svg(&runs).unwrap());
            prop_assert!(found.is_none(), "{picture:?}: {found:?}");
        }
    }
}
