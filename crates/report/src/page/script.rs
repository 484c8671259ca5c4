//! The scripts of the page, as one text: the chart library as it was made, then ours in the order that they need.

/// The chart library, with its licence inside: see `assets/echarts/vendored.json`.
pub(super) const LIBRARY: &str = include_str!("../../assets/echarts/echarts.common.min.js");

/// Ours. The first file says what they have in common.
pub(super) const SCRIPT: &str = concat!(
    include_str!("../../assets/base.js"),
    include_str!("../../assets/axes.js"),
    include_str!("../../assets/levels.js"),
    include_str!("../../assets/labels.js"),
    include_str!("../../assets/charts.js"),
    include_str!("../../assets/controls.js"),
    include_str!("../../assets/keys.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/frontier.js"),
    include_str!("../../assets/interactivity.js"),
    include_str!("../../assets/load.js"),
    include_str!("../../assets/quantiles.js"),
    include_str!("../../assets/timeline.js"),
    include_str!("../../assets/lengths.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/start.js"),
);

/// How the script's own elements look; colours are those of the page.
pub(super) const STYLE: &str = include_str!("../../assets/charts.css");
