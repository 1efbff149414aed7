//! What a mask saves as texts grow: bytes of the cache and milliseconds of a decoding step.

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, DrawingArea, IntoDrawingArea, LineSeries, PathElement, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::Color;

use super::{DARK, INK, LIGHT, ORANGE, TEAL, drawing_error};
use crate::Error;

/// The measurements at one length of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// Tokens stored, T.
    pub tokens: usize,
    /// Bytes allocated with every group full.
    pub full_bytes: usize,
    /// Bytes allocated under the mask.
    pub hybrid_bytes: usize,
    /// Bytes that the formula gives for the mask.
    pub formula_bytes: usize,
    /// Milliseconds of a decoding step with every group full.
    pub full_ms: f64,
    /// Milliseconds of a decoding step under the mask.
    pub hybrid_ms: f64,
}

impl Saving {
    /// The milliseconds of a step whose time shrinks as its bytes do: the full step's by the formula's share of the bytes.
    #[must_use]
    pub fn formula_ms(&self) -> f64 {
        self.full_ms * self.formula_bytes as f64 / self.full_bytes.max(1) as f64
    }
}

/// Draws T against MiB and against milliseconds: measured points, full and hybrid, and the formula's line.
///
/// # Errors
///
/// [`Error::Shape`] where there is nothing to draw or a time is not finite; [`Error::Drawing`] when the drawing library
/// fails.
pub fn savings_svg(title: &str, savings: &[Saving]) -> Result<String, Error> {
    let finite = |saving: &Saving| saving.full_ms.is_finite() && saving.hybrid_ms.is_finite();
    if savings.is_empty() || !savings.iter().all(finite) {
        return Err(Error::Shape {
            what: "savings_svg",
            expected: "at least one length and finite times".into(),
            got: format!("{savings:?}"),
        });
    }
    let series = |value: &dyn Fn(&Saving) -> f64| -> Vec<(usize, f64)> {
        savings
            .iter()
            .map(|saving| (saving.tokens, value(saving)))
            .collect()
    };
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (960, 420)).into_drawing_area();
        area.fill(&WHITE).map_err(drawing_error)?;
        let area = area
            .titled(title, ("sans-serif", 16))
            .map_err(drawing_error)?;
        let (left, right) = area.split_horizontally(480);
        let bytes = Panel {
            unit: "MiB of the cache",
            full: series(&|saving| mib(saving.full_bytes)),
            hybrid: series(&|saving| mib(saving.hybrid_bytes)),
            formula: series(&|saving| mib(saving.formula_bytes)),
        };
        let time = Panel {
            unit: "ms a step",
            full: series(&|saving| saving.full_ms),
            hybrid: series(&|saving| saving.hybrid_ms),
            formula: series(&Saving::formula_ms),
        };
        bytes.draw(&left)?;
        time.draw(&right)?;
        area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

/// One chart over T.
struct Panel<'a> {
    unit: &'a str,
    full: Vec<(usize, f64)>,
    hybrid: Vec<(usize, f64)>,
    formula: Vec<(usize, f64)>,
}

impl Panel<'_> {
    fn draw(self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Error> {
        let points = || self.full.iter().chain(&self.hybrid).chain(&self.formula);
        let last = points().map(|point| point.0).max().unwrap_or(0) + 1;
        let high = points().map(|point| point.1).fold(1e-9, f64::max);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..last, 0.0..high * 1.05)
            .map_err(drawing_error)?;
        chart
            .configure_mesh()
            .light_line_style(LIGHT.mix(0.4))
            .x_desc("tokens")
            .y_desc(self.unit)
            .draw()
            .map_err(drawing_error)?;
        for (name, colour, points) in [("full", DARK, &self.full), ("hybrid", TEAL, &self.hybrid)] {
            chart
                .draw_series(
                    points
                        .iter()
                        .map(|point| Circle::new(*point, 3, colour.filled())),
                )
                .map_err(drawing_error)?
                .label(name)
                .legend(move |(x, y)| Circle::new((x + 8, y), 3, colour.filled()));
        }
        chart
            .draw_series(LineSeries::new(self.formula.iter().copied(), ORANGE))
            .map_err(drawing_error)?
            .label("formula")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], ORANGE));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(INK.mix(0.3))
            .draw()
            .map_err(drawing_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVING: Saving = Saving {
        tokens: 4096,
        full_bytes: 8 << 20,
        hybrid_bytes: 4 << 20,
        formula_bytes: 4 << 20,
        full_ms: 3.0,
        hybrid_ms: 1.6,
    };

    #[test]
    fn both_panels_show_points_and_the_formula() {
        let svg = savings_svg("saved", &[SAVING]).unwrap();
        assert_eq!(SAVING.formula_ms(), 1.5);
        for text in ["saved", "MiB of the cache", "ms a step", "formula"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn nothing_and_nan_are_refused() {
        let nan = Saving {
            full_ms: f64::NAN,
            ..SAVING
        };
        assert!(savings_svg("x", &[]).is_err() && savings_svg("x", &[nan]).is_err());
    }
}
