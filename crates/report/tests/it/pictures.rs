//! Charts as files. With `FIZEAU_WRITE_PAGES` set, the golden files are written instead; they are to be looked at then.

mod axes;
mod runs;
mod words;

use std::path::{Path, PathBuf};

use fizeau_report::{ChartFigure, ChartLevelPosition, ChartSpeedOfLight, Picture, PictureError};
use proptest::prelude::*;

use runs::{beside, many, run, run_with};

/// A number of an attribute, wherever it stands.
fn numbers<'a>(svg: &'a str, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    let mark = format!(" {name}=\"");
    let starts: Vec<usize> = svg.match_indices(&mark).map(|(at, mark)| at + mark.len()).collect();
    starts.into_iter().map(move |start| {
        let value = svg[start..].split('"').next().unwrap();
        value.parse().unwrap_or_else(|_| panic!("{name}={value}"))
    })
}

/// Fails unless all that is drawn lies on the picture, each number is one, and each element is closed.
fn check(svg: &str) {
    let view = svg.split_once("viewBox=\"0 0 ").unwrap().1.split('"').next().unwrap();
    let (width, height) = view.split_once(' ').unwrap();
    let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
    for (names, most) in [(["x", "x1", "x2", "cx"], width), (["y", "y1", "y2", "cy"], height)] {
        for name in names {
            for value in numbers(svg, name) {
                assert!((-8.0..=most + 8.0).contains(&value), "{name}={value} beyond {most}");
            }
        }
    }
    for points in svg.split(" points=\"").skip(1) {
        for pair in points.split('"').next().unwrap().split_whitespace() {
            let (x, y) = pair.split_once(',').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            let inside = (-8.0..=width + 8.0).contains(&x) && (-8.0..=height + 8.0).contains(&y);
            assert!(inside, "{pair}");
        }
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    let style = svg.split_once("</style>").unwrap().1;
    assert!(!style.contains("<style") && !svg.contains("http://w3") && !svg.contains("href"));
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/pictures").join(name)
}

/// Compares with a golden file, or writes it.
fn same(name: &str, text: &str) {
    let path = golden(name);
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} is drawn otherwise; see the head of this file");
}

#[test]
fn each_chart_of_a_sweep_is_as_it_was() {
    for picture in Picture::ALL {
        let svg = picture.svg(&[run()]).unwrap();
        check(&svg);
        same(&format!("{}.svg", picture.key()), &svg);
    }
}

#[test]
fn several_runs_lie_over_each_other() {
    for picture in Picture::ALL {
        let svg = picture.svg(&[run_with("baseline", 1.0), beside()]).unwrap();
        check(&svg);
        assert!(svg.contains("baseline") && svg.contains("fp8 &lt;candidate&gt;"), "{picture:?}");
        same(&format!("{}-two.svg", picture.key()), &svg);
    }
}

#[test]
fn names_lead_back_to_pictures() {
    for picture in Picture::ALL {
        assert_eq!(Picture::from_key(picture.key()), Some(picture));
    }
    assert_eq!(Picture::from_key("pie"), None);
}

#[test]
fn a_frontier_shows_what_it_says() {
    let svg = Picture::Frontier.svg(&[run()]).unwrap();
    let texts =
        ["operating point: 32", "goal: p99 E2EL", "dominated", "speed of light", "Labels: "];
    for text in texts {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("prefers-color-scheme: dark"));
    assert!(svg.contains("<title>End-to-end latency against throughput</title>"));
    assert!(svg.contains("<desc>"));
}

#[test]
fn foreign_text_stays_text() {
    let attack = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>&\u{1b}\u{0}\u{ffff}";
    let mut run = run_with(attack, 1.0);
    run.title = attack.to_owned();
    for level in &mut run.levels {
        level.load = attack.to_owned();
        level.label = attack.to_owned();
    }
    for goal in &mut run.goals {
        goal.text = attack.to_owned();
    }
    for picture in Picture::ALL {
        for runs in [vec![run.clone()], vec![run.clone(), run.clone()]] {
            let svg = picture.svg(&runs).unwrap();
            check(&svg);
            assert!(!svg.contains("<script") && !svg.contains("<img"), "{picture:?}");
            assert!(!svg.contains(|c: char| c.is_control() && c != '\n'), "{picture:?}");
            assert!(!svg.contains('\u{ffff}'), "{picture:?}");
        }
    }
}

#[test]
fn what_is_missing_is_said_and_never_drawn_as_zero() {
    let mut nothing = run();
    (nothing.levels, nothing.operating) = (Vec::new(), None);
    for picture in Picture::ALL {
        for runs in [vec![], vec![nothing.clone()], vec![nothing.clone(), nothing.clone()]] {
            let error = picture.svg(&runs).unwrap_err();
            assert!(matches!(error, PictureError::Empty { .. }), "{error}");
            assert!(
                error.to_string().starts_with(&format!("{}: nothing to draw: ", picture.key()))
            );
        }
    }
    let mut no_tapes = run();
    no_tapes.levels.iter_mut().for_each(|level| level.detail = None);
    for picture in [Picture::Quantiles, Picture::Itl, Picture::Timeline, Picture::Lengths] {
        let error = picture.svg(&[no_tapes.clone()]).unwrap_err().to_string();
        assert!(error.contains("no tapes were read"), "{error}");
    }
    let mut left_out = run();
    for level in &mut left_out.levels {
        (level.position, level.left_out) =
            (ChartLevelPosition::LeftOut, Some("it is invalid".to_owned()));
    }
    let error = Picture::Frontier.svg(&[left_out]).unwrap_err().to_string();
    assert_eq!(error, "frontier: nothing to draw: no level can be compared: it is invalid");
}

#[test]
fn one_level_is_enough() {
    let mut one = run();
    one.levels.truncate(1);
    (one.operating, one.light) = (None, None);
    for picture in Picture::ALL {
        check(&picture.svg(&[one.clone()]).unwrap());
    }
}

#[cfg(feature = "png")]
#[test]
fn a_png_is_twice_as_large_and_has_something_on_it() {
    let file = Picture::Frontier.png(&[run()]).unwrap();
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("frontier.png"), &file).unwrap();
    }
    let decoder = png::Decoder::new(std::io::Cursor::new(&file));
    let mut reader = decoder.read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut dots).unwrap();
    assert_eq!((frame.width, frame.height), (1920, 1080));
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let title = &reader.info().utf8_text[0];
    assert_eq!(title.keyword, "Title");
    // Paper at the corner; ink where the title stands.
    assert_eq!(dots[..3], [255, 255, 255]);
    let row = |y: usize| dots[y * 1920 * 3..][..1920 * 3].chunks(3);
    let dark = (40..72).flat_map(row).filter(|dot| dot.iter().all(|part| *part < 80)).count();
    assert!((500..20_000).contains(&dark), "{dark}");
}

/// Values of every size, and none.
fn size() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(0.0)),
        6 => (-6.0..9.0_f64).prop_map(|power| Some(10_f64.powf(power))),
    ]
}

proptest! {
    #![proptest_config(crate::cases(32))]

    /// Whatever the figures are, all that is drawn lies on the picture.
    #[test]
    fn nothing_leaves_the_picture(
        figures in prop::collection::vec((size(), size(), size(), 0.1..3.0_f64), 1..12),
        goal in size(),
    ) {
        let runs = many(&figures, goal);
        for picture in Picture::ALL {
            match picture.svg(&runs) {
                Ok(svg) => check(&svg),
                Err(error) => prop_assert!(matches!(error, PictureError::Empty { .. }), "{error}"),
            }
        }
    }

    /// Labels of levels that are apart cover nothing of each other.
    #[test]
    fn labels_of_few_levels_do_not_touch(rates in prop::collection::vec(0.5..100.0_f64, 2..7)) {
        let mut run = run();
        run.levels.truncate(rates.len());
        (run.operating, run.light, run.goals) = (None, None, Vec::new());
        for (index, (level, rate)) in run.levels.iter_mut().zip(&rates).enumerate() {
            level.position = ChartLevelPosition::Frontier;
            let figure = |value| ChartFigure { value, low: None, high: None, stand_in: false };
            level.label = format!("L{index}");
            level.figures.0.insert("requests_per_s".to_owned(), figure(*rate));
            level.figures.0.insert("p99_e2el_ms".to_owned(), figure(rate * rate));
        }
        let svg = Picture::Frontier.svg(&[run]).unwrap();
        let boxes: Vec<[f64; 2]> = svg.split("<text ").filter_map(label).collect();
        prop_assert_eq!(boxes.len(), rates.len());
        for (index, a) in boxes.iter().enumerate() {
            for b in &boxes[index + 1..] {
                // A letter and a digit are some 15 pixels wide, 60 units, and 14 high.
                let apart = (a[0] - b[0]).abs() > 56.0
                    || (a[1] - b[1]).abs() > 40.0;
                prop_assert!(apart, "{a:?} {b:?}");
            }
        }
    }
}

/// Where the label of a level begins, in units: the middle of what is written there.
fn label(text: &str) -> Option<[f64; 2]> {
    let content = text.split_once(">\n")?.1.split('\n').next()?;
    let rest = content.strip_prefix('L')?;
    rest.parse::<u32>().ok()?;
    let of = |name: &str| -> Option<&str> {
        text.split_once(&format!("{name}=\""))?.1.split('"').next()
    };
    let (x, y): (f64, f64) = (of("x")?.parse().ok()?, of("y")?.parse().ok()?);
    let middle = match of("text-anchor")? {
        "start" => 30.0,
        "end" => -30.0,
        _ => 0.0,
    };
    Some([x + middle, y])
}

#[test]
fn curves_of_what_could_be_are_drawn_only_where_they_are() {
    let mut run = run();
    run.light =
        Some(ChartSpeedOfLight { bound: Vec::new(), expected: Vec::new(), calibrated: Vec::new() });
    let svg = Picture::Frontier.svg(&[run]).unwrap();
    assert!(!svg.contains("speed of light") && !svg.contains("curves"), "{svg}");
}
