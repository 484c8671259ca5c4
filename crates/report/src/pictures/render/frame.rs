//! Panels: axes, grid and titles by plotters' chart builder, and the marks within.

use plotters::backend::DrawingBackend;
use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::style::Color;

use super::{AXIS, DrawResult, Root, TICK, UNITS, marks, units, write};
use crate::pictures::axis::Axis;
use crate::pictures::ink::Ink;
use crate::pictures::labels::{OccupiedAreas, PixelPoint, Side};
use crate::pictures::sheet::{AxisPoint, Dash, DotShape, Mark, Panel, Sheet, Stroke};
use crate::pictures::text::{fitted, span};

/// Left, top, right and bottom in pixels.
type Area = [f64; 4];

/// What stands above a plot, and between panels.
const ABOVE: f64 = 28.0;
const BETWEEN: f64 = 28.0;

/// The height below which a plot shows nothing.
const LEAST: f64 = 100.0;

fn rows(sheet: &Sheet) -> usize {
    sheet.panels.len().div_ceil(sheet.columns.max(1)).max(1)
}

/// The room below the plots of a row.
fn under(sheet: &Sheet, row: usize) -> f64 {
    let columns = sheet.columns.max(1);
    let mut panels = sheet.panels.iter().skip(row * columns).take(columns);
    if panels.any(|panel| panel.x_title.is_some()) { 50.0 } else { 26.0 }
}

/// What all panels of `sheet` take at least.
pub(super) fn least_height(sheet: &Sheet) -> f64 {
    (0..rows(sheet)).map(|row| ABOVE + LEAST + under(sheet, row)).sum()
}

/// Draws all panels of `sheet` within `area`, each column with its vertical axes under each other.
pub(super) fn panels<DB: DrawingBackend>(
    sheet: &Sheet,
    root: &Root<DB>,
    area: Area,
) -> DrawResult<(), DB> {
    let (columns, rows) = (sheet.columns.max(1), rows(sheet));
    let under = |row: usize| under(sheet, row);
    let [left, top, right, bottom] = area;
    // All plots are of one height, whatever stands below them.
    let around: f64 = (0..rows).map(|row| ABOVE + under(row)).sum();
    let height = (bottom - top - around) / rows as f64;
    let wide = (right - left - BETWEEN * (columns as f64 - 1.0)) / columns as f64;
    let mut from = top;
    for row in 0..rows {
        let until = from + ABOVE + height + under(row);
        for (column, panel) in sheet.panels.iter().skip(row * columns).take(columns).enumerate() {
            let start = left + (wide + BETWEEN) * column as f64;
            let of_column = sheet.panels.iter().skip(column).step_by(columns);
            let labels = of_column.map(|panel| label_width(&panel.y)).fold(0.0, f64::max);
            Frame { panel, area: [start, from, start + wide, until], labels, under: under(row) }
                .draw(root)?;
        }
        from = until;
    }
    Ok(())
}

/// What the labels of a vertical axis take, with the gap to the axis.
fn label_width(axis: &Axis) -> f64 {
    axis.ticks().iter().map(|tick| span(&tick.1, TICK)).fold(0.0, f64::max) + 8.0
}

/// A panel and where it goes.
struct Frame<'a> {
    panel: &'a Panel,
    area: Area,
    /// The room of the labels on the left.
    labels: f64,
    /// The room below the plot.
    under: f64,
}

impl Frame<'_> {
    /// Where the plot itself lies.
    fn plot(&self) -> Area {
        let [left, top, right, bottom] = self.area;
        let beside = match &self.panel.right {
            Some((axis, _)) => label_width(axis),
            // Half of the last label of the horizontal axis sticks out.
            None => 18.0,
        };
        [left + self.labels, top + ABOVE, right - beside, bottom - self.under]
    }

    fn draw<DB: DrawingBackend>(&self, root: &Root<DB>) -> DrawResult<(), DB> {
        let plot = self.plot();
        self.behind(root, plot)?;
        self.mesh(root, plot)?;
        let mut taken = OccupiedAreas::default();
        for mark in &self.panel.marks {
            self.mark(root, plot, mark, &mut taken)?;
        }
        self.limits(root, plot, &mut taken)?;
        self.labels(root, plot, &mut taken)
    }

    /// What the limits say, each beside its line.
    fn limits<DB: DrawingBackend>(
        &self,
        root: &Root<DB>,
        plot: Area,
        taken: &mut OccupiedAreas,
    ) -> DrawResult<(), DB> {
        let [left, _, right, _] = plot;
        for mark in &self.panel.marks {
            let Mark::Limit { at, text, ink } = mark else { continue };
            let text = fitted(text, TICK, right - left - 16.0);
            let (_, y) = self.spot(plot, (0.0, *at));
            if let Some(place) = taken.beside_line(y, &text, TICK, plot) {
                write::label(root, place, &text, TICK, *ink)?;
            }
        }
        Ok(())
    }

    /// What the dots are.
    fn labels<DB: DrawingBackend>(
        &self,
        root: &Root<DB>,
        plot: Area,
        taken: &mut OccupiedAreas,
    ) -> DrawResult<(), DB> {
        let [left, top, right, bottom] = plot;
        let limits = [left + 2.0, top + 2.0, right + 16.0, bottom - 2.0];
        for mark in &self.panel.marks {
            let Mark::Label { at, texts, ink, shape } = mark else { continue };
            let (dot, radius) = (self.spot(plot, *at), shape.radius());
            if let Some((text, place)) = taken.label(dot, radius, texts, TICK, limits) {
                write::label(root, place, text, TICK, *ink)?;
            }
        }
        Ok(())
    }

    /// Axes, grid, labels and titles.
    fn mesh<DB: DrawingBackend>(&self, root: &Root<DB>, plot: Area) -> DrawResult<(), DB> {
        let [left, top, right, bottom] = plot;
        let length = right - left;
        let x = self.panel.x.clone().thinned(length, 10.0, |label| span(label, TICK));
        let below = self.under;
        let mut chart = ChartBuilder::on(root)
            .margin_left(units(left - self.labels))
            .margin_top(units(top))
            .margin_right(units(pixels(root).0 - right))
            .margin_bottom(units(pixels(root).1 - bottom - below))
            .set_label_area_size(LabelAreaPosition::Left, units(self.labels))
            .set_label_area_size(LabelAreaPosition::Bottom, units(below))
            .build_cartesian_2d(x, self.panel.y.clone())?;
        let mut mesh = chart.configure_mesh();
        let line = units(1.0).unsigned_abs();
        mesh.bold_line_style(Ink::Rule.rgb().stroke_width(line))
            .axis_style(Ink::Soft.rgb().stroke_width(line))
            .label_style(write::style(TICK, Ink::Soft))
            .axis_desc_style(write::style(AXIS, Ink::Text))
            .set_all_tick_mark_size(units(3.0));
        if let Some(title) = &self.panel.x_title {
            mesh.x_desc(fitted(title, AXIS, length));
        }
        mesh.draw()?;
        let [start, above, end, _] = self.area;
        let y = above + ABOVE / 2.0 - 2.0;
        let beside = self.panel.right.as_ref().map_or(0.0, |(_, title)| 24.0 + span(title, AXIS));
        let title = fitted(&self.panel.y_title, AXIS, end - start - beside);
        write::text(root, (start, y), Side::Start, &title, AXIS, Ink::Text)?;
        let Some((axis, title)) = &self.panel.right else { return Ok(()) };
        write::text(root, (end, y), Side::End, title, AXIS, Ink::Soft)?;
        for (value, label) in axis.ticks() {
            let y = bottom - axis.part(*value) * (bottom - top);
            write::text(root, (right + 6.0, y), Side::Start, label, TICK, Ink::Soft)?;
        }
        Ok(())
    }

    /// What the grid lies on.
    fn behind<DB: DrawingBackend>(&self, root: &Root<DB>, plot: Area) -> DrawResult<(), DB> {
        let [left, top, right, bottom] = plot;
        let across = |value: f64| left + self.panel.x.part(value) * (right - left);
        for mark in &self.panel.marks {
            match mark {
                Mark::Band { from, to, ink } => {
                    let (from, to) = (across(*from), across(*to));
                    let corners = [(from, top), (to, top), (to, bottom), (from, bottom)];
                    marks::area(root, corners, *ink)?;
                }
                Mark::Behind { places, ink } => {
                    let Some((axis, _)) = &self.panel.right else { continue };
                    let up = |value: f64| bottom - axis.part(value) * (bottom - top);
                    let line = places.iter().map(|(x, y)| (across(*x), up(*y)));
                    let ends = [places.last(), places.first()].into_iter().flatten();
                    let ends = ends.map(|(x, _)| (across(*x), bottom));
                    marks::area(root, line.chain(ends), *ink)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn mark<DB: DrawingBackend>(
        &self,
        root: &Root<DB>,
        plot: Area,
        mark: &Mark,
        taken: &mut OccupiedAreas,
    ) -> DrawResult<(), DB> {
        let at = |place: AxisPoint| self.spot(plot, place);
        match mark {
            Mark::Line { places, stroke } => {
                for part in places.split(Option::is_none) {
                    let line: Vec<PixelPoint> =
                        part.iter().flatten().map(|place| at(*place)).collect();
                    if let [alone] = line.as_slice() {
                        marks::circle(root, *alone, stroke.ink, DotShape::Point)?;
                    }
                    line.windows(2).for_each(|pair| {
                        if let [from, to] = pair {
                            taken.line(*from, *to);
                        }
                    });
                    marks::path(root, &line, *stroke)?;
                }
                Ok(())
            }
            Mark::Limit { at: height, ink, .. } => {
                let ([left, _, right, _], y) = (plot, at((0.0, *height)).1);
                taken.line((left, y), (right, y));
                marks::path(root, &[(left, y), (right, y)], Stroke::thin(*ink, Dash::Dashed))
            }
            Mark::Dot { at: place, ink, shape } => {
                taken.dot(at(*place), shape.radius());
                marks::circle(root, at(*place), *ink, *shape)
            }
            Mark::Interval { low, high, ink } => {
                let (low, high) = (at(*low), at(*high));
                // A whisker; what lies on the light fill of a box can be read.
                if (low.0 - high.0).abs() < 0.5 || (low.1 - high.1).abs() < 0.5 {
                    taken.line(low, high);
                }
                marks::interval(root, low, high, *ink)
            }
            Mark::Label { .. } | Mark::Band { .. } | Mark::Behind { .. } => Ok(()),
        }
    }

    /// Where a place lies on the picture.
    fn spot(&self, [left, top, right, bottom]: Area, (x, y): AxisPoint) -> PixelPoint {
        let across = self.panel.x.part(x) * (right - left);
        let up = self.panel.y.part(y) * (bottom - top);
        (left + across, bottom - up)
    }
}

/// The size of the whole picture in pixels.
fn pixels<DB: DrawingBackend>(root: &Root<DB>) -> (f64, f64) {
    let (width, height) = root.dim_in_pixel();
    (f64::from(width) / UNITS, f64::from(height) / UNITS)
}
