//! The convergence of a search: best score against evaluations.

use plotters::prelude::{
    ChartBuilder, Circle, IntoDrawingArea, LineSeries, PathElement, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::Color;

use super::{DARK, INK, LIGHT, ORANGE, TEAL, drawing_error};
use crate::Error;

/// What a search went through.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// (number of the evaluation, score of the mask), in the order of the numbers.
    pub trials: &'a [(usize, f64)],
    /// (number of the evaluation, best score of a mask with exactly K ones so far).
    pub best: &'a [(usize, f64)],
    /// Levels to compare with, such as full attention or single-group ablation.
    pub references: &'a [(&'a str, f64)],
}

/// Draws all trials as dots (those far below at the lower edge), the incumbent's score as a line and the references as level lines.
///
/// # Errors
///
/// [`Error::Shape`] when there is no trial or a score is not finite; [`Error::Drawing`] when the
/// drawing library fails.
pub fn convergence_svg(title: &str, curve: &Curve<'_>) -> Result<String, Error> {
    let scores: Vec<f64> = curve
        .trials
        .iter()
        .chain(curve.best)
        .map(|(_, s)| *s)
        .chain(curve.references.iter().map(|(_, s)| *s))
        .collect();
    if curve.trials.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        return Err(Error::Shape {
            what: "convergence_svg",
            expected: "at least one trial and finite scores".into(),
            got: format!("{} trials, scores {scores:?}", curve.trials.len()),
        });
    }
    let (low, high) = range(curve);
    let last = curve
        .trials
        .iter()
        .chain(curve.best)
        .map(|(number, _)| *number)
        .max()
        .unwrap_or(0)
        + 1;

    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (720, 420)).into_drawing_area();
        area.fill(&WHITE).map_err(drawing_error)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..last, low..high)
            .map_err(drawing_error)?;
        chart
            .configure_mesh()
            .light_line_style(LIGHT.mix(0.4))
            .x_desc("evaluations")
            .y_desc("score")
            .draw()
            .map_err(drawing_error)?;
        chart
            .draw_series(
                curve
                    .trials
                    .iter()
                    .map(|(number, score)| (*number, score.clamp(low, high)))
                    .map(|point| Circle::new(point, 2, TEAL.mix(0.5).filled())),
            )
            .map_err(drawing_error)?;
        for (index, (name, level)) in curve.references.iter().enumerate() {
            let style = ORANGE.mix(1.0 / (1.0 + index as f64)).stroke_width(1);
            chart
                .draw_series(LineSeries::new([(0, *level), (last, *level)], style))
                .map_err(drawing_error)?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .draw_series(LineSeries::new(
                curve.best.iter().copied(),
                DARK.stroke_width(2),
            ))
            .map_err(drawing_error)?
            .label("best so far")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], DARK.stroke_width(2)));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(INK.mix(0.3))
            .draw()
            .map_err(drawing_error)?;
        area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

/// The lowest and the highest score of the picture: the incumbents and the references, with as much
/// room again below, where most trials lie.
fn range(curve: &Curve<'_>) -> (f64, f64) {
    let levels = curve.best.iter().map(|(_, score)| *score);
    let levels = levels.chain(curve.references.iter().map(|(_, score)| *score));
    let levels: Vec<f64> = levels
        .chain(curve.trials.iter().map(|(_, score)| *score).take(1))
        .collect();
    let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let high = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = (high - low).max(1e-9);
    (low - room, high + 0.1 * room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trial_is_a_dot_and_every_reference_has_its_name() {
        let trials = [(0, -2.0), (1, -1.0), (2, -1.5)];
        let curve = Curve {
            trials: &trials,
            best: &[(0, -2.0), (1, -1.0), (2, -1.0)],
            references: &[("full", -0.5)],
        };
        let svg = convergence_svg("search", &curve).unwrap();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("full") && svg.contains("evaluations"));
    }

    #[test]
    fn equal_scores_are_drawn() {
        let trials = [(0, 1.0)];
        assert!(
            convergence_svg(
                "one",
                &Curve {
                    trials: &trials,
                    best: &trials,
                    references: &[]
                }
            )
            .is_ok()
        );
    }

    #[test]
    fn nothing_to_draw_and_nan_are_errors() {
        assert!(
            convergence_svg(
                "x",
                &Curve {
                    trials: &[],
                    best: &[],
                    references: &[]
                }
            )
            .is_err()
        );
        assert!(
            convergence_svg(
                "x",
                &Curve {
                    trials: &[(0, f64::NAN)],
                    best: &[],
                    references: &[]
                }
            )
            .is_err()
        );
    }
}
