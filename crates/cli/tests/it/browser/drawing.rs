//! What charts make of odd data: asked of the page's own scripts, since no server is odd on demand.

use serde_json::{Value, json};

use super::tab::Tab;

/// A run with a level for each load, and its throughput; the light goes far beyond them.
const RUN: &str = "const view = { width: 800, isNarrow: false, isStill: true, colours: fizeau.colours() };
  const level = (load, rate, detail) => ({ load: `concurrency ${load}`, label: String(load), load_kind: 'concurrency', load_value: load, \
    place: 'frontier', verdict: 'valid', detail, figures: { requests_per_s: { value: rate }, output_tps: { value: 100 * rate }, \
    p99_e2el_ms: { value: 100 }, p99_ttft_ms: { value: 40 }, user_tps: { value: 100 } } });
  const point = (concurrency) => ({ concurrency, requests_per_s: 10 * concurrency, output_tps: 1000 * concurrency, user_tps: 120, e2el_ms: 90 });
  const light = { bound: [1, 2, 4, 8, 16, 1024].map(point), expected: [], calibrated: [] };
  const run = (more) => ({ name: 'a', levels: [1, 2, 4].map((load) => level(load, 10 * load)), frontier: [0, 1, 2], operating: null, goals: [], light, ...more });
  const built = (chart, runs, state) => fizeau.charts[chart].build(runs, state, view).option;";

fn found(tab: &mut Tab, expression: &str) -> Value {
    tab.eval(&format!("(() => {{ {RUN} return {expression}; }})()"))
}

pub(super) fn of_what_is_odd(tab: &mut Tab) {
    gaps_of_zero_are_on_the_axis(tab);
    a_bin_alone_is_a_dot(tab);
    what_was_said_of_a_level_lies_under_one_cursor(tab);
    the_light_ends_where_nothing_was_measured(tab);
    a_light_that_is_one_point_is_seen(tab);
    a_light_of_one_run_is_not_that_of_all(tab);
    the_nearest_goal_comes_first(tab);
    prompts_of_one_length_stand_in_the_middle(tab);
}

/// A timeline of three bins with these median gaps.
fn itl(gaps: &str, what: &str) -> String {
    format!(
        "(() => {{ const timeline = {{ bin_s: 1, window_s: null, in_flight: [1, 1, 1], prefilling: [0, 0, 0], output_tps: [1, 1, 1], \
         itl_p50_ms: {gaps}, itl_p99_ms: [9, 9, 9], itl_max_ms: [300, 300, 300] }}; \
         const option = built('itl', [run({{ levels: [level(1, 1, {{ timeline }})] }})], {{ level: '0:0' }}); return {what}; }})()"
    )
}

/// A timeline of three bins, of which servers said `server`.
fn timeline(server: &str, what: &str) -> String {
    format!(
        "(() => {{ const timeline = {{ bin_s: 1, window_s: [1, 2], window_kind: 'steady part', in_flight: [1, 1, 1], prefilling: [0, 0, 0], output_tps: [1, 1, 1], \
         ttft_p50_ms: [null, 20, 30], ttft_max_ms: [null, 20, 900], server: {server} }}; \
         const option = built('timeline', [run({{ levels: [level(1, 1, {{ timeline }})] }})], {{ level: '0:0' }}); return {what}; }})()"
    )
}

fn what_was_said_of_a_level_lies_under_one_cursor(tab: &mut Tab) {
    let all =
        "[option.grid.length, option.xAxis.length, option.yAxis.length, option.axisPointer.link]";
    let alone = found(tab, &timeline("undefined", all));
    assert_eq!(alone, json!([3, 3, 3, [{ "xAxisIndex": "all" }]]));
    let said = "{ running: [1, 2, 3], waiting: [0, 4, 8], kv_percent: [1, 50, 99], power_w: [300, 650, 700] }";
    let both = found(tab, &timeline(said, all));
    assert_eq!(both, json!([4, 4, 5, [{ "xAxisIndex": "all" }]]));
    let places = "option.series.map((one) => [one.name, one.xAxisIndex ?? 0, one.yAxisIndex ?? 0])";
    let places = found(tab, &timeline(said, places));
    for place in [
        json!(["median TTFT", 0, 0]),
        json!(["longest TTFT", 0, 0]),
        json!(["in flight", 2, 2]),
        json!(["waiting (by the server)", 2, 2]),
        json!(["KV cache in use, %", 3, 3]),
        json!(["power of all devices, W", 3, 4]),
    ] {
        assert!(places.as_array().unwrap().contains(&place), "{place}: {places}");
    }
    // A device without an engine that tells of itself has its power, and nothing else.
    let watts = "{ running: [null, null, null], waiting: [null, null, null], kv_percent: [null, null, null], power_w: [300, 650, 700] }";
    let names = found(tab, &timeline(watts, "option.series.map((one) => one.name)"));
    let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        names.contains(&"power of all devices, W") && !names.contains(&"KV cache in use, %"),
        "{names:?}"
    );
}

fn gaps_of_zero_are_on_the_axis(tab: &mut Tab) {
    let axis = "[option.yAxis[0].type, option.yAxis[0].min]";
    assert_eq!(found(tab, &itl("[1, 0, 1]", axis)), json!(["value", 0]));
    assert_eq!(found(tab, &itl("[1, 2, 1]", axis))[0], "log");
}

fn a_bin_alone_is_a_dot(tab: &mut Tab) {
    let symbols = "[0, 1, 2].map((dataIndex) => option.series[1].symbol(null, { dataIndex }))";
    assert_eq!(found(tab, &itl("[null, 3, null]", symbols)), json!(["none", "circle", "none"]));
    assert_eq!(found(tab, &itl("[2, 3, null]", symbols)), json!(["none", "none", "none"]));
}

fn the_light_ends_where_nothing_was_measured(tab: &mut Tab) {
    let last = "built('interactivity', [run()], {}).series[0].data.at(-1)[1]";
    assert_eq!(found(tab, last), 8000, "twice the greatest load is 8");
    let slow = "built('interactivity', [run({ levels: [level(4, 1)] })], {}).yAxis.type";
    assert_eq!(found(tab, slow), "log", "a fortieth of the light would lie on the axis");
    assert_eq!(found(tab, "built('interactivity', [run()], {}).yAxis.type"), "value");
}

fn a_light_that_is_one_point_is_seen(tab: &mut Tab) {
    let light = "light: { bound: [1, 2, 4].map(() => point(1)), expected: [], calibrated: [] }";
    let symbol =
        |more: &str| format!("built('interactivity', [run({{ {more} }})], {{}}).series[0].symbol");
    assert_eq!(found(tab, &symbol(light)), "diamond", "as where one request keeps a device busy");
    assert_eq!(found(tab, &symbol("")), "none");
}

fn a_light_of_one_run_is_not_that_of_all(tab: &mut Tab) {
    let names = |other: &str| {
        format!(
            "built('interactivity', [run(), run({{ name: 'b'{other} }})], {{}}).series.map((one) => one.name).filter((name) => /light/.test(name))"
        )
    };
    assert_eq!(found(tab, &names("")), json!(["speed of light (bound)"]));
    assert_eq!(found(tab, &names(", light: null")), json!(["a: speed of light (bound)"]));
}

fn the_nearest_goal_comes_first(tab: &mut Tab) {
    let opens = |operating: &str| {
        format!(
            "fizeau.charts.frontier.controls([run({{ operating: {operating}, goals: [{{ figure: 'p99_e2el_ms', metric: 'e2el', limit: 1000 }}, \
             {{ figure: 'p99_ttft_ms', metric: 'ttft', limit: 50 }}] }})])[0].first"
        )
    };
    assert_eq!([found(tab, &opens("1")), found(tab, &opens("null"))], [json!(1), json!(1)]);
    assert_eq!(found(tab, "fizeau.charts.frontier.controls([run()])[0].first"), 0);
}

fn prompts_of_one_length_stand_in_the_middle(tab: &mut Tab) {
    let axis = "(({ min, max }) => [min, max])(built('lengths', [run({ levels: [level(1, 1, { ttft_by_input: [[1000, 5], [1000, 6]] })] })], \
                { level: 'all' }).xAxis)";
    let ends = found(tab, axis);
    let [least, most] = [0, 1].map(|end| ends[end].as_f64().unwrap());
    assert!(least > 0.0 && (most - 1000.0 - (1000.0 - least)).abs() < 1.0, "{ends}");
}
