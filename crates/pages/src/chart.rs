//! SVG charts: a few lines or bars with an axis, in the colors of the page.

use crate::blocks::class;
use crate::document::{Chart, Series, Shape};
use crate::escape::escaped;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 230.0;
/// Room for the numbers on the left, and for the labels below.
const LEFT: f64 = 72.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 10.0;
const BELOW: f64 = 30.0;

impl Chart {
    /// The highest point drawn.
    #[must_use]
    pub fn largest(&self) -> f64 {
        let at = |place: usize| {
            let values = self.series.iter().filter_map(|series| series.values.get(place).copied().flatten());
            match self.shape {
                Shape::Line => values.fold(0.0, f64::max),
                Shape::Stacked => values.sum(),
            }
        };
        (0..self.places.len()).map(at).fold(0.0, f64::max)
    }

    /// A round number above all values.
    fn top(&self) -> f64 {
        self.top.unwrap_or_else(|| {
            let largest = self.largest().max(2.0);
            let step = 10f64.powf(largest.log10().floor());
            let rounds = [1.0, 2.0, 4.0, 5.0, 10.0].map(|times| step * times);
            rounds.into_iter().find(|round| *round >= largest).unwrap_or(largest)
        })
    }

    fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().all(Option::is_none))
    }
}

/// A chart with its title and legend.
pub(crate) fn figure(chart: &Chart) -> String {
    let mut text = format!("<figure>\n<h4>{}</h4>\n", escaped(chart.title));
    if chart.is_empty() {
        text.push_str("<p>nothing to draw yet</p>\n");
    } else {
        text.push_str(&drawn(chart));
    }
    text.push_str("<figcaption>");
    for series in &chart.series {
        text.push_str(&format!("<span><b class=\"f-{}\"></b>{}</span>", class(series.tone), escaped(series.name)));
    }
    text.push_str("</figcaption>\n</figure>\n");
    text
}

fn drawn(chart: &Chart) -> String {
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}; the table below has the figures\">\n",
        escaped(chart.title)
    );
    let axes = Axes { top: chart.top(), places: chart.places.len().max(1) };
    axes.grid(&mut svg, chart);
    match chart.shape {
        Shape::Line => chart.series.iter().for_each(|series| axes.line(&mut svg, chart, series)),
        Shape::Stacked => axes.bars(&mut svg, chart),
    }
    svg.push_str("</svg>\n");
    svg
}

/// What a pointer that rests on a value reads.
fn hover(chart: &Chart, series: &Series, (place, value): (usize, f64)) -> String {
    let day = chart.places.get(place).map(String::as_str).unwrap_or_default();
    let shown = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
    format!("<title>{}, {}: {shown}{}</title>", escaped(day), escaped(series.name), escaped(chart.unit))
}

struct Axes {
    top: f64,
    places: usize,
}

impl Axes {
    fn slot(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.places as f64
    }

    /// The center of a label's slot.
    fn x(&self, place: usize) -> f64 {
        LEFT + self.slot() * (place as f64 + 0.5)
    }

    fn y(&self, value: f64) -> f64 {
        let height = HEIGHT - ABOVE - BELOW;
        ABOVE + height * (1.0 - (value / self.top).clamp(0.0, 1.0))
    }

    fn grid(&self, svg: &mut String, chart: &Chart) {
        for value in [0.0, self.top / 2.0, self.top] {
            let y = self.y(value);
            svg.push_str(&format!(
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\"/>",
                WIDTH - RIGHT
            ));
            let shown = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
            svg.push_str(&format!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{shown}{}</text>\n",
                LEFT - 6.0,
                y + 5.0,
                escaped(chart.unit)
            ));
        }
        for place in self.labelled() {
            let Some(name) = chart.places.get(place) else { continue };
            svg.push_str(&format!(
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                self.x(place).clamp(LEFT + 20.0, WIDTH - RIGHT - 20.0),
                HEIGHT - 7.0,
                escaped(name)
            ));
        }
    }

    /// Which slots get a label: at most six, so that labels do not touch.
    fn labelled(&self) -> impl Iterator<Item = usize> + use<> {
        let step = self.places.div_ceil(6).max(1);
        let last = self.places.saturating_sub(1);
        (0..=last).rev().step_by(step)
    }

    /// Joins consecutive points; a slot without a value is a gap.
    fn line(&self, svg: &mut String, chart: &Chart, series: &Series) {
        let tone = class(series.tone);
        let mut run: Vec<String> = Vec::new();
        for (place, value) in series.values.iter().enumerate().chain([(usize::MAX, &None)]) {
            if let Some(value) = value {
                run.push(format!("{:.1},{:.1}", self.x(place), self.y(*value)));
                svg.push_str(&format!(
                    "<circle class=\"f-{tone}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\">{}</circle>",
                    self.x(place),
                    self.y(*value),
                    hover(chart, series, (place, *value))
                ));
            } else {
                if run.len() > 1 {
                    svg.push_str(&format!("<polyline class=\"series s-{tone}\" points=\"{}\"/>\n", run.join(" ")));
                }
                run.clear();
            }
        }
    }

    fn bars(&self, svg: &mut String, chart: &Chart) {
        let width = (self.slot() * 0.7).min(48.0);
        for place in 0..self.places {
            let mut below = 0.0;
            for series in &chart.series {
                let value = series.values.get(place).copied().flatten().unwrap_or_default();
                let (top, bottom) = (self.y(below + value), self.y(below));
                if value > 0.0 {
                    svg.push_str(&format!(
                        "<rect class=\"f-{}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\">{}</rect>",
                        class(series.tone),
                        self.x(place) - width / 2.0,
                        bottom - top,
                        hover(chart, series, (place, value))
                    ));
                }
                below += value;
            }
        }
        svg.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Tone;

    fn chart(shape: Shape, values: &[&[Option<f64>]]) -> Chart {
        let series = values.iter().map(|values| Series { name: "x", tone: Tone::Plain, values: values.to_vec() });
        let places = (0..values[0].len()).map(|place| place.to_string()).collect();
        Chart { title: "t", shape, unit: "", top: None, places, series: series.collect() }
    }

    #[test]
    fn the_axis_ends_at_a_round_number_above_everything() {
        let of = |shape, values: &[&[Option<f64>]]| chart(shape, values).top();
        assert_eq!(of(Shape::Line, &[&[Some(3.0), Some(37.0)]]), 40.0);
        assert_eq!(of(Shape::Stacked, &[&[Some(300.0)], &[Some(150.0)]]), 500.0);
        assert_eq!(of(Shape::Line, &[&[None]]), 2.0);
    }

    #[test]
    fn a_day_without_figures_is_a_gap_and_not_a_zero() {
        let drawn = figure(&chart(Shape::Line, &[&[Some(1.0), Some(2.0), None, Some(1.0), Some(1.0)]]));
        assert_eq!(drawn.matches("<polyline").count(), 2);
        assert_eq!(drawn.matches("<circle").count(), 4);
        assert!(figure(&chart(Shape::Line, &[&[None]])).contains("nothing to draw yet"));
    }
}
