//! The well-known heat map of a needle in a haystack: depth against length.

use plotters::prelude::{IntoDrawingArea, RGBColor, Rectangle, SVGBackend, WHITE};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::{Canvas, DARK, INK, LIGHT, drawing_error, write};
use crate::Error;
use crate::eval::niah::NiahGrid;

const WIDE: i32 = 56;
const HIGH: i32 = 26;
const GAP: i32 = 2;
const LEFT: i32 = 90;
const RIGHT: i32 = 20;
const TOP: i32 = 40;
const AXIS: i32 = 48;

/// Draws a grid of scores: a column a length, a row a depth, the score as a colour (light 0, dark 1)
/// and as a number in percent.
///
/// ```
/// use bosch::eval::niah::NiahGrid;
///
/// // From `NiahGrid::measure`: the needle is lost in the middle of the longer text.
/// let grid = NiahGrid {
///     lengths: vec![256, 1024],
///     depths: vec![0.0, 50.0, 100.0],
///     scores: vec![vec![1.0, 1.0], vec![1.0, 0.25], vec![1.0, 1.0]],
/// };
/// let svg = bosch::plots::niah_grid_svg("full attention", &grid)?;
/// assert!(svg.contains("25") && svg.contains("1024"));
/// # Ok::<(), bosch::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Shape`] for a grid without cells, with rows of another length than `lengths`, or with
/// a score outside 0..=1; [`Error::Drawing`] when the drawing library fails.
pub fn niah_grid_svg(title: &str, grid: &NiahGrid) -> Result<String, Error> {
    check(grid)?;
    let width = (LEFT + grid.lengths.len() as i32 * WIDE + RIGHT).max(320);
    let height = TOP + grid.depths.len() as i32 * HIGH + AXIS;
    let mut svg = String::new();
    {
        let area =
            SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(drawing_error)?;
        write(&area, title, (LEFT, TOP / 2), (14, HPos::Left, INK))?;
        for (row, scores) in grid.scores.iter().enumerate() {
            for (column, &score) in scores.iter().enumerate() {
                draw_cell(&area, (row, column), score)?;
            }
        }
        draw_axes(&area, grid)?;
        area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

fn check(grid: &NiahGrid) -> Result<(), Error> {
    let (rows, columns) = (grid.depths.len(), grid.lengths.len());
    let fits = rows * columns > 0
        && grid.scores.len() == rows
        && grid.scores.iter().all(|row| row.len() == columns);
    if !fits {
        let found: Vec<usize> = grid.scores.iter().map(Vec::len).collect();
        return Err(Error::Shape {
            what: "niah_grid_svg",
            expected: format!("at least one cell, and {rows} rows of {columns} scores"),
            got: format!("rows of {found:?}"),
        });
    }
    let mut scores = grid.scores.iter().flatten();
    match scores.find(|score| !(0.0..=1.0).contains(*score)) {
        Some(score) => Err(Error::Shape {
            what: "niah_grid_svg",
            expected: "scores in 0..=1".into(),
            got: score.to_string(),
        }),
        None => Ok(()),
    }
}

fn draw_cell(area: &Canvas<'_>, (row, column): (usize, usize), score: f64) -> Result<(), Error> {
    let (x, y) = (LEFT + column as i32 * WIDE, TOP + row as i32 * HIGH);
    let corners = [(x, y), (x + WIDE - GAP, y + HIGH - GAP)];
    area.draw(&Rectangle::new(corners, colour(score).filled()))
        .map_err(drawing_error)?;
    let ink = if score > 0.5 { WHITE } else { INK };
    let centre = (x + (WIDE - GAP) / 2, y + (HIGH - GAP) / 2);
    let percent = format!("{:.0}", 100.0 * score);
    write(area, &percent, centre, (11, HPos::Center, ink))
}

fn draw_axes(area: &Canvas<'_>, grid: &NiahGrid) -> Result<(), Error> {
    let right = (11, HPos::Right, INK);
    for (row, depth) in grid.depths.iter().enumerate() {
        let y = TOP + row as i32 * HIGH + HIGH / 2;
        write(area, &format!("{depth:.0} %"), (LEFT - 8, y), right)?;
    }
    let bottom = TOP + grid.depths.len() as i32 * HIGH;
    for (column, length) in grid.lengths.iter().enumerate() {
        let x = LEFT + column as i32 * WIDE + WIDE / 2;
        let middle = (11, HPos::Center, INK);
        write(area, &length.to_string(), (x, bottom + 10), middle)?;
    }
    write(area, "depth", (LEFT - 8, TOP - 12), right)?;
    let caption = "tokens; score in percent";
    write(area, caption, (LEFT, bottom + 30), (11, HPos::Left, INK))
}

/// Between light (0) and dark (1).
fn colour(score: f64) -> RGBColor {
    let mix = |from: u8, to: u8| {
        (f64::from(from) + score * (f64::from(to) - f64::from(from))).round() as u8
    };
    RGBColor(
        mix(LIGHT.0, DARK.0),
        mix(LIGHT.1, DARK.1),
        mix(LIGHT.2, DARK.2),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(scores: Vec<Vec<f64>>) -> NiahGrid {
        NiahGrid {
            lengths: vec![256, 4096],
            depths: vec![0.0, 50.0, 100.0],
            scores,
        }
    }

    /// The numbers of an SVG's texts, in the order of drawing.
    fn texts(svg: &str) -> Vec<&str> {
        let parts = svg.split("<text").skip(1);
        parts
            .filter_map(|part| Some(part.split_once('>')?.1.split_once('<')?.0.trim()))
            .collect()
    }

    #[test]
    fn each_cell_has_its_number_and_its_colour() {
        let scores = vec![vec![1.0, 0.0], vec![0.5, 0.125], vec![1.0, 1.0]];
        let svg = niah_grid_svg("a<b", &grid(scores)).unwrap();
        let expected = [
            "a&lt;b", "100", "0", "50", "12", "100", "100", "0 %", "50 %", "100 %", "256", "4096",
        ];
        assert_eq!(texts(&svg)[..expected.len()], expected);
        assert_eq!(svg.matches("fill=\"#184E77\"").count(), 3); // the score 1
        assert_eq!(svg.matches("fill=\"#D9E2EC\"").count(), 1); // the score 0
        assert_eq!(svg.matches("fill=\"#7998B2\"").count(), 1); // half way
    }

    #[test]
    fn a_column_lies_under_its_length() {
        let svg = niah_grid_svg("", &grid(vec![vec![0.25, 0.75]; 3])).unwrap();
        let x = |text: &str| {
            let part = svg.split("<text").find(|part| part.contains(text)).unwrap();
            let x = part
                .split_once("x=\"")
                .unwrap()
                .1
                .split_once('"')
                .unwrap()
                .0;
            x.parse::<i32>().unwrap()
        };
        assert!((x("\n25\n") - x("\n256\n")).abs() <= 2);
        assert!((x("\n75\n") - x("\n4096\n")).abs() <= 2);
    }

    #[test]
    fn no_cells_ragged_rows_and_wrong_scores_are_errors() {
        for scores in [vec![], vec![vec![1.0]; 3], vec![vec![0.0, 1.5]; 3]] {
            assert!(niah_grid_svg("", &grid(scores)).is_err());
        }
        assert!(niah_grid_svg("", &grid(vec![vec![f64::NAN, 0.0]; 3])).is_err());
    }
}
