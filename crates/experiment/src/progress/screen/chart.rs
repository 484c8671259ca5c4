//! A figure over time.

use std::time::Duration;

use fizeau_record::text::clock;
use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, Paragraph};

/// A figure over time, in one curve or two.
pub(super) struct Curves<'a> {
    /// What and in which unit.
    pub(super) title: &'a str,
    /// Seconds since the run began, and the figure.
    pub(super) main: &'a [(f64, f64)],
    /// What lies above it; drawn fainter.
    pub(super) above: &'a [(f64, f64)],
    pub(super) colour: Color,
    pub(super) marker: Marker,
}

/// Draws `curves` up to `now`.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, curves: &Curves<'_>, now: Duration) {
    let block = Block::new().borders(Borders::TOP).title(curves.title);
    if curves.main.is_empty() {
        let nothing = Paragraph::new("not enough yet").alignment(Alignment::Center).dim();
        return frame.render_widget(nothing.block(block), area);
    }
    let most = curves.main.iter().chain(curves.above).map(|(_, figure)| *figure);
    let top = round_up(most.fold(0.0, f64::max));
    let line = |data, style: Style| {
        Dataset::default().data(data).marker(curves.marker).graph_type(GraphType::Line).style(style)
    };
    let faint = Style::new().fg(Color::DarkGray);
    let sets = vec![line(curves.above, faint), line(curves.main, Style::new().fg(curves.colour))];
    let seconds = now.as_secs_f64().max(1.0);
    let x =
        Axis::default().bounds([0.0, seconds]).labels(["0:00".to_owned(), clock(now)]).style(faint);
    let y = Axis::default()
        .bounds([0.0, top])
        .labels(["0".to_owned(), number(top / 2.0), number(top)])
        .style(faint);
    let chart = Chart::new(sets).block(block).x_axis(x).y_axis(y).legend_position(None);
    frame.render_widget(chart, area);
}

/// The next of 1, 2, 4, 6, 8 and their tenfolds, so that its half is short too.
fn round_up(most: f64) -> f64 {
    if !(most > 0.0 && most.is_finite()) {
        return 1.0;
    }
    let unit = 10_f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0];
    steps.into_iter().map(|step| step * unit).find(|top| *top >= most).unwrap_or(10.0 * unit)
}

/// In as few digits as it takes.
fn number(figure: f64) -> String {
    match figure {
        1e6.. => format!("{}M", figure / 1e6),
        1e4.. => format!("{}k", figure / 1e3),
        // What is left of a division of binary fractions is no digit.
        _ => format!("{}", (figure * 1e4).round() / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use super::{number, round_up};

    #[test]
    fn the_top_is_a_short_number_that_is_not_below_the_curve() {
        let tops = [0.0, 0.003, 0.9, 1.0, 1.01, 37.0, 81.0, 1234.0, f64::INFINITY];
        assert_eq!(
            tops.map(round_up).map(number),
            ["1", "0.004", "1", "1", "2", "40", "100", "2000", "1"]
        );
        assert_eq!([10_000.0, 25_000.0, 2e6].map(number), ["10k", "25k", "2M"]);
    }
}
