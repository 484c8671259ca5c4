//! Settings of several values, and the configurations that they make.

use fizeau_experiment::{GridCase, GridError, GridSetting, GridWay, RepeatedSetting, SettingGrid};

fn setting(name: &str, value: u32) -> GridSetting<u32> {
    GridSetting {
        name: name.to_owned(),
        label: name.to_owned(),
        text: value.to_string(),
        values: vec![value],
        repeated: RepeatedSetting::Replaced,
    }
}

fn way(name: &str, value: u32) -> GridWay<u32> {
    GridWay { label: name.to_owned(), text: value.to_string(), setting: Some(setting(name, value)) }
}

fn without(name: &str) -> GridWay<u32> {
    GridWay { label: name.to_owned(), text: "none".to_owned(), setting: None }
}

fn names(grid: &SettingGrid<u32>) -> Vec<String> {
    grid.cases().unwrap().iter().map(GridCase::name).collect()
}

#[test]
fn what_all_configurations_have_sets_none_apart() {
    let grid = SettingGrid::new().with(setting("pp", 2)).vary(vec![way("tp", 1), without("tp")]);
    assert_eq!(names(&grid), ["tp 1", "tp none"]);
    let cases = grid.cases().unwrap();
    assert!(cases.iter().all(|case| case.has("pp")));
    assert!(cases[0].has("tp") && !cases[1].has("tp"));
}

#[test]
fn a_set_counts_against_what_varies_and_extends_what_adds_up() {
    let more = GridSetting { repeated: RepeatedSetting::Extended, ..setting("goal", 3) };
    let grid = SettingGrid::new()
        .with(setting("tp", 1))
        .with(setting("goal", 2))
        .set(vec![setting("tp", 4), more.clone()])
        .set(vec![setting("seed", 9)]);
    assert_eq!(names(&grid), ["tp 4, goal 3", "seed 9"]);
    let cases = grid.cases().unwrap();
    let of = |case: usize| -> Vec<_> {
        cases[case].values.iter().map(|of| (&*of.name, &*of.values)).collect()
    };
    assert_eq!(of(0), [("tp", &[4][..]), ("goal", &[2, 3])]);
    assert_eq!(of(1), [("tp", &[1][..]), ("goal", &[2]), ("seed", &[9])]);
}

#[test]
fn what_depends_on_a_setting_goes_where_the_setting_goes() {
    let grid = SettingGrid::new()
        .vary(vec![way("draft", 3), without("draft")])
        .with(setting("acceptance", 80))
        .depend("draft", &["acceptance"]);
    let has = |grid: &SettingGrid<u32>| -> Vec<bool> {
        grid.cases().unwrap().iter().map(|case| case.has("acceptance")).collect()
    };
    assert_eq!(has(&grid), [true, false]);
    // Where no configuration has the setting, whoever reads the other one tells of it.
    let slip = SettingGrid::new().with(setting("acceptance", 80)).depend("draft", &["acceptance"]);
    assert_eq!(has(&slip), [true]);
}

#[test]
fn too_many_configurations_and_two_alike_are_refused() {
    let ways = |name: &str, count: u32| (0..count).map(|value| way(name, value)).collect();
    let grid = SettingGrid::new().vary(ways("a", 16)).vary(ways("b", 16));
    assert_eq!(grid.cases().unwrap().len(), SettingGrid::<u32>::MOST);
    let refused = grid.vary(ways("c", 2)).cases();
    assert_eq!(refused, Err(GridError::TooMany { most: 256 }));
    let named = |label: &str| GridSetting { label: label.to_owned(), ..setting("isl", 5) };
    let alike = SettingGrid::new().set(vec![named("isl")]).set(vec![named("input-len")]);
    let same = GridError::Same { number: 2, name: "input-len 5".to_owned() };
    assert_eq!(alike.cases(), Err(same));
}
