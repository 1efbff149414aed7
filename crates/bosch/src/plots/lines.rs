//! Several lines over one axis, such as the scores of methods against the ratio.

use plotters::prelude::{
    ChartBuilder, Circle, IntoDrawingArea, LineSeries, Palette, Palette99, PathElement, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::Color;

use super::{INK, LIGHT, drawing_error};
use crate::Error;

/// Draws each named line through its points (x, y), with the names of the axes.
///
/// # Errors
///
/// [`Error::Shape`] where there is no point or one is not finite; [`Error::Drawing`] when the drawing library fails.
pub fn lines_svg(
    title: &str,
    (x_name, y_name): (&str, &str),
    lines: &[(&str, Vec<(f64, f64)>)],
) -> Result<String, Error> {
    let points = || lines.iter().flat_map(|(_, points)| points);
    if points().next().is_none() || !points().all(|(x, y)| x.is_finite() && y.is_finite()) {
        return Err(Error::Shape {
            what: "lines_svg",
            expected: "at least one point, all finite".into(),
            got: format!("{lines:?}"),
        });
    }
    let (low_x, high_x) = bounds(points().map(|point| point.0));
    let (low_y, high_y) = bounds(points().map(|point| point.1));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (860, 460)).into_drawing_area();
        area.fill(&WHITE).map_err(drawing_error)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(low_x..high_x, low_y..high_y)
            .map_err(drawing_error)?;
        chart
            .configure_mesh()
            .light_line_style(LIGHT.mix(0.4))
            .x_desc(x_name)
            .y_desc(y_name)
            .draw()
            .map_err(drawing_error)?;
        for (index, (name, points)) in lines.iter().enumerate() {
            let colour = Palette99::pick(index).to_rgba();
            chart
                .draw_series(LineSeries::new(
                    points.iter().copied(),
                    colour.stroke_width(2),
                ))
                .map_err(drawing_error)?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
            let dots = points
                .iter()
                .map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(dots).map_err(drawing_error)?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(INK.mix(0.3))
            .draw()
            .map_err(drawing_error)?;
        area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

/// A range with a margin, of some width.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let margin = (0.05 * (high - low)).max(1e-3);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_and_what_is_not_finite_is_refused() {
        let line = |y: f64| vec![("ours", vec![(0.25, 0.9), (0.5, y)])];
        let svg = lines_svg("Scores", ("ratio", "exact match"), &line(0.5)).unwrap();
        for text in ["Scores", "ratio", "exact match", "ours"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(lines_svg("x", ("", ""), &line(f64::NAN)).is_err());
        assert!(lines_svg("x", ("", ""), &[]).is_err());
    }
}
