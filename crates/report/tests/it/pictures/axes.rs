//! How much room an axis gives to what was measured.

use fizeau_report::{ChartRun, Picture};

use super::runs::run;

/// Where the dots of a radius are, as shares of the picture's width and height. A unit is a quarter of a pixel.
fn dots(svg: &str, radius: u32) -> Vec<(f64, f64)> {
    let circles = svg.split("<circle ").skip(1).map(|rest| rest.split("/>").next().unwrap());
    let own = circles.filter(|circle| {
        circle.contains(&format!(" r=\"{radius}\"")) && !circle.contains("fill=\"none\"")
    });
    let number = |text: &str, name: &str| -> f64 {
        text.split_once(&format!("{name}=\""))
            .unwrap()
            .1
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    own.map(|circle| (number(circle, "cx") / 3840.0, number(circle, "cy") / 2160.0)).collect()
}

/// The sample of which only the lowest loads were measured.
fn low() -> ChartRun {
    let mut run = run();
    run.levels.truncate(3);
    (run.operating, run.goals) = (None, Vec::new());
    run
}

#[test]
fn what_could_be_leaves_room_for_what_was_measured() {
    assert!(low().light.unwrap().bound.last().unwrap().requests_per_s > 100.0);
    for picture in [Picture::Frontier, Picture::Interactivity] {
        let svg = picture.svg(&[low()]).unwrap();
        let dots = dots(&svg, 22);
        assert_eq!(dots.len(), 3, "{picture:?}");
        let most = dots.iter().map(|dot| dot.0).fold(0.0, f64::max);
        let top = dots.iter().map(|dot| dot.1).fold(1.0, f64::min);
        assert!(most > 0.3 && top < 0.65, "{picture:?}: {dots:?}");
        assert!(svg.contains("speed of light") && svg.contains("go on beyond the axes"));
    }
}

#[test]
fn gaps_of_nothing_stretch_no_axis() {
    let mut run = run();
    for level in &mut run.levels {
        let timeline = &mut level.detail.as_mut().unwrap().timeline;
        timeline.itl_p50_ms.iter_mut().step_by(2).for_each(|gap| *gap = Some(0.001));
        timeline.itl_p99_ms.iter_mut().step_by(5).for_each(|gap| *gap = Some(0.0));
    }
    let svg = Picture::Itl.svg(&[run]).unwrap();
    assert!(!svg.contains("\n0.001\n") && !svg.contains("\n0.01\n"), "{svg}");
    assert!(svg.contains("Gaps too short for the axis"));
}

#[test]
fn prompts_of_one_length_lie_in_the_middle() {
    let mut run = run();
    for level in &mut run.levels {
        let pairs = &mut level.detail.as_mut().unwrap().ttft_by_input;
        pairs.iter_mut().for_each(|pair| pair.0 = 1000);
    }
    let dots = dots(&Picture::Lengths.svg(&[run]).unwrap(), 9);
    assert_eq!(dots.len(), 200);
    assert!(dots.iter().all(|dot| (0.4..0.6).contains(&dot.0)), "{dots:?}");
}
