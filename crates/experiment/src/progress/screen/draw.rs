//! The whole screen, of what is known: pure.

use std::time::Duration;

use fizeau_metrics::Metric;
use fizeau_record::text::{Charset, clock};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::LineGauge;

use super::chart::{self, Curves};
use super::{ScreenState, levels};
use crate::progress::{BatchFigures, HistoryPoint, RunHistory, RunningLevel};

/// Draws `state` as it is `now`, in the characters that the terminal has.
pub(super) fn draw(frame: &mut Frame<'_>, state: &ScreenState, now: Duration, charset: Charset) {
    let [head, figures, gauges, charts, finished, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    title(frame, head, state, now);
    let lines = state.progress.lines(now, figures.width.into());
    let lines: Vec<Line<'_>> = lines.lines().map(Line::from).collect();
    frame.render_widget(ratatui::text::Text::from(lines), figures);
    if let Some(running) = state.progress.level() {
        gauge(frame, gauges, running, state.history.most_in_flight, now);
    }
    curves(frame, charts, &state.history.points, now, charset);
    levels::draw(frame, finished, &state.history);
    frame.render_widget(self::foot(state), foot);
    if charset == Charset::Ascii {
        to_ascii(frame.buffer_mut());
    }
}

fn title(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, now: Duration) {
    let time = clock(now);
    let width = u16::try_from(time.len()).unwrap_or(u16::MAX);
    let [left, right] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).areas(area);
    frame.render_widget(Line::from(state.title.as_str()).bold(), left);
    frame.render_widget(Line::from(time), right);
}

/// How far the level is, and how much is in flight.
fn gauge(
    frame: &mut Frame<'_>,
    area: Rect,
    running: &RunningLevel,
    most_in_flight: u64,
    now: Duration,
) {
    let [left, _, right] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(2), Constraint::Fill(1)])
            .areas(area);
    let bar = |label: String, share: f64, colour| {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        LineGauge::default()
            .ratio(share)
            .label(label)
            .filled_symbol("━")
            .unfilled_symbol("─")
            .filled_style(Style::new().fg(colour))
            .unfilled_style(Style::new().fg(Color::DarkGray))
    };
    let done = running.share(now);
    let percent = (done * 100.0).floor();
    frame.render_widget(bar(format!("level {percent:>3.0}%"), done, Color::Blue), left);
    let in_flight = running.in_flight();
    let most = most_in_flight.max(in_flight);
    let label = format!("in flight {in_flight}, at most {most}");
    frame.render_widget(bar(label, in_flight as f64 / most as f64, Color::Cyan), right);
}

fn curves(
    frame: &mut Frame<'_>,
    area: Rect,
    points: &[HistoryPoint],
    now: Duration,
    charset: Charset,
) {
    // One dot a character where there are none of eight.
    let marker = if charset == Charset::Ascii { Marker::Dot } else { Marker::Braille };
    let metrics = RunHistory::followed();
    let areas = Layout::horizontal(vec![Constraint::Fill(1); metrics.len()]).spacing(1).split(area);
    for (index, (area, metric)) in areas.iter().zip(&metrics).enumerate() {
        let of = |part: fn(BatchFigures) -> Option<f64>| -> Vec<(f64, f64)> {
            let figure = |point: &HistoryPoint| part((*point.figures.get(index)?)?);
            points
                .iter()
                .filter_map(|point| Some((point.at.as_secs_f64(), figure(point)?)))
                .collect()
        };
        let (main, above) = (of(|figure| Some(figure.main)), of(|figure| figure.above));
        let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or(Color::White);
        let title = title_of(*metric);
        let curves = Curves { title: &title, main: &main, above: &above, colour, marker };
        chart::draw(frame, *area, &curves, now);
    }
}

const COLOURS: [Color; 5] = [Color::Green, Color::Yellow, Color::Magenta, Color::Cyan, Color::Blue];

/// Above a curve: `Output tokens/s`, `TTFT ms: median, slowest`.
fn title_of(metric: Metric) -> String {
    let entry = metric.entry();
    if metric.is_latency() {
        return format!("{} {}: median, slowest ", entry.label, entry.unit);
    }
    let mut letters = entry.name.concat();
    letters.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    letters + " "
}

/// The last note, or what keys do.
fn foot(state: &ScreenState) -> Line<'_> {
    if state.is_interrupted {
        return Line::from(
            "interrupted: ending the level and writing what was measured (Ctrl-C to quit)",
        )
        .fg(Color::Yellow);
    }
    match state.notes.last() {
        Some(note) => Line::from(note.as_str()).fg(Color::Yellow),
        None => {
            Line::from("q or Ctrl-C ends the run; what was measured is kept and reported").dim()
        }
    }
}

/// Puts characters that such a terminal has in the place of those that it has not.
fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(plain) = plain(cell.symbol()) {
            cell.set_symbol(plain);
        }
    }
}

/// What stands for `symbol`; none where it is plain.
fn plain(symbol: &str) -> Option<&'static str> {
    match symbol {
        _ if symbol.is_ascii() => None,
        "━" => Some("="),
        "─" => Some("-"),
        "│" => Some("|"),
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => Some("+"),
        "•" => Some("*"),
        _ => Some("?"),
    }
}

#[cfg(test)]
#[cfg(feature = "simulate")]
mod tests {
    use fizeau_core::FailureClass;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Cell;

    use super::*;
    use crate::progress::stand::watch;

    /// The screen in the midst of the fourth level.
    fn screen(columns: u16, rows: u16, touch: impl Fn(&mut ScreenState)) -> String {
        in_charset(Charset::Unicode, columns, rows, touch)
    }

    fn in_charset(
        charset: Charset,
        columns: u16,
        rows: u16,
        touch: impl Fn(&mut ScreenState),
    ) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut drawn = None;
        watch(&[1, 4, 16, 64], |state, now| {
            if drawn.is_none() && now > Duration::from_secs(150) {
                touch(state);
                terminal.draw(|frame| draw(frame, state, now, charset)).unwrap();
                drawn = Some(text(terminal.backend()));
            }
        });
        drawn.unwrap()
    }

    /// Its characters, without the spaces at the end of lines.
    fn text(backend: &TestBackend) -> String {
        let width = usize::from(backend.buffer().area.width);
        let rows = backend.buffer().content.chunks(width).map(|row| {
            let row: String = row.iter().map(Cell::symbol).collect();
            row.trim_end().to_owned() + "\n"
        });
        rows.collect()
    }

    #[test]
    fn each_figure_that_the_catalogue_has_followed_has_a_curve_and_its_columns() {
        let drawn = screen(200, 40, |_| ());
        for metric in Metric::live() {
            let entry = metric.entry();
            assert!(drawn.contains(&title_of(metric)), "{metric:?}: {drawn}");
            let heads = match metric.is_latency() {
                true => vec![format!("{} p50", entry.label), format!("{} p99", entry.label)],
                false => vec![entry.unit.to_owned()],
            };
            assert!(heads.iter().all(|head| drawn.contains(head)), "{metric:?}: {drawn}");
        }
    }

    #[test]
    fn a_small_terminal_has_all_of_it() {
        assert_eq!(screen(80, 24, |_| ()), include_str!("golden/80x24.txt"));
    }

    #[test]
    fn a_terminal_without_unicode_has_no_other_characters() {
        let touch = |state: &mut ScreenState| state.title = "fizeau sweep  modèle".to_owned();
        let drawn = in_charset(Charset::Ascii, 80, 24, touch);
        assert!(drawn.is_ascii(), "{drawn}");
        let (shown, unicode) = (drawn.lines(), include_str!("golden/80x24.txt").lines());
        for (plain, line) in shown.zip(unicode).skip(1) {
            let words = |line: &str| line.replace(|c: char| !c.is_ascii_alphanumeric(), "");
            assert_eq!(words(plain), words(line));
        }
        assert!(drawn.contains("mod?le"), "{drawn}");
        assert!(["====", "----", "|", "*"].iter().all(|mark| drawn.contains(mark)), "{drawn}");
    }

    #[test]
    fn a_large_terminal_has_room_for_errors_and_a_note() {
        let drawn = screen(120, 40, |state| {
            state.history.failures.extend([(FailureClass::Status, 12), (FailureClass::Connect, 3)]);
            state.notes.push("note: the budget is short".to_owned());
        });
        assert_eq!(drawn, include_str!("golden/120x40.txt"));
    }

    #[test]
    fn before_the_first_request_ends_and_on_no_room_at_all_nothing_breaks() {
        let mut looks = 0;
        watch(&[1], |state, now| {
            looks += 1;
            for (columns, rows) in [(80, 24), (20, 8), (3, 2), (1, 1)] {
                if looks < 6 {
                    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
                    terminal.draw(|frame| draw(frame, state, now, Charset::Unicode)).unwrap();
                }
            }
        });
    }

    #[test]
    fn what_comes_from_strangers_does_not_drive_the_terminal() {
        let drawn = screen(80, 24, |state| {
            state.title = "\u{1b}[2Jmodel\nat \u{7}".to_owned();
        });
        assert!(!drawn.lines().any(|line| line.contains('\u{1b}') || line.contains('\u{7}')));
    }
}
