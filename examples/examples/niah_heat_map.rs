//! The heat map of a reader with a sliding window: where does it lose the needle? No libtorch.
//!
//!     cargo run -p bosch-examples --example niah_heat_map -- docs/images/niah-grid.svg
//!
//! The reader stands for a model all of whose heads are windows: it sees the last 500 words of a prompt and
//! copies each number that it finds there behind "is:". Any `TextModel` can take its place.

use std::convert::Infallible;
use std::path::PathBuf;

use bosch::eval::niah::{Essay, GridSettings, NiahConfig, NiahGrid, Subtask};
use bosch::eval::{BoxError, Generation, Prompt, Question, TextModel};
use bosch::plots::niah_grid_svg;
use clap::Parser;

#[derive(Parser)]
#[command(about = "Draws retrieval by depth and length of a reader with a sliding window")]
struct Arguments {
    /// SVG file to write.
    output: PathBuf,
}

/// Reads the last so many words.
struct WindowReader(usize);

impl WindowReader {
    fn answer(&self, prompt: &str) -> String {
        let words: Vec<&str> = prompt.split_whitespace().collect();
        let seen = &words[words.len().saturating_sub(self.0)..];
        let values = seen.windows(2).filter(|pair| pair[0] == "is:");
        values.map(|pair| pair[1]).collect::<Vec<&str>>().join(" ")
    }
}

impl TextModel for WindowReader {
    type Error = Infallible;

    fn generate(&mut self, prompts: &[Prompt], _: &Generation) -> Result<Vec<String>, Infallible> {
        let answers = prompts.iter().map(|prompt| self.answer(&prompt.to_text()));
        Ok(answers.collect())
    }

    fn answer_log_probabilities(&mut self, questions: &[Question]) -> Result<Vec<f64>, Infallible> {
        Ok(vec![0.0; questions.len()])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let words = |prompt: &Prompt| -> Result<usize, BoxError> {
        Ok(prompt.to_text().split_whitespace().count())
    };
    let config = NiahConfig::new(Subtask::MultiValue, 256);
    let settings = GridSettings {
        lengths: vec![256, 512, 768, 1024, 1536, 2048],
        depths: (0..=10).map(|tenth| f64::from(10 * tenth)).collect(),
        samples: 8,
        seed: 1,
    };
    let source = (&config, &Essay::built_in());
    let grid = NiahGrid::measure(
        &mut WindowReader(500),
        source,
        &words,
        &settings,
        |_, _, _| (),
    )?;
    let svg = niah_grid_svg("Multi-value NIAH, a reader of the last 500 words", &grid)?;
    std::fs::write(arguments.output, svg)?;
    Ok(())
}
