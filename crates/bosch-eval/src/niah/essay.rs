//! [`Essay`]: the running text of essay haystacks, in words and sentences.

use std::path::Path;

use crate::{Error, Result};

/// Running text that needles are hidden in.
///
/// ```
/// use bosch_eval::niah::Essay;
///
/// let essay = Essay::from_text("It rained. Dr. Hale stayed in. The J. Penn papers lay open!")?;
/// assert_eq!(essay.sentences(), 3);
/// assert_eq!(essay.words(), 12);
/// # Ok::<(), bosch_eval::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Essay {
    words: Vec<String>,
    /// For each word, whether a sentence ends with it; true for the last.
    ends: Vec<bool>,
    /// The words that begin a sentence.
    starts: Vec<usize>,
}

impl Essay {
    /// The text that comes with this crate: short pieces on everyday matters, written for it.
    pub fn built_in() -> Self {
        Self::from_words(include_str!("essay.txt").split_whitespace())
    }

    /// Any text; white space of all kinds separates words.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a text without a word.
    pub fn from_text(text: &str) -> Result<Self> {
        let essay = Self::from_words(text.split_whitespace());
        match essay.words.is_empty() {
            true => Err(Error::input(
                "essay",
                "a text with at least one word",
                "none",
            )),
            false => Ok(essay),
        }
    }

    /// A UTF-8 text file, or all files `.txt` and `.md` of a folder in the order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for what cannot be read, [`Error::Input`] if there is no word in it.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.is_dir() {
            return Self::from_text(&read(path)?);
        }
        let entries = std::fs::read_dir(path).map_err(Error::io(path))?;
        let mut files = Vec::new();
        for entry in entries {
            let file = entry.map_err(Error::io(path))?.path();
            if file
                .extension()
                .is_some_and(|extension| extension == "txt" || extension == "md")
            {
                files.push(file);
            }
        }
        files.sort();
        let texts: Vec<String> = files.iter().map(|file| read(file)).collect::<Result<_>>()?;
        Self::from_text(&texts.join("\n"))
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Number of sentences.
    pub fn sentences(&self) -> usize {
        self.starts.len()
    }

    /// The word that begins sentence `i`, counted round.
    pub(crate) fn start(&self, i: usize) -> usize {
        self.starts[i % self.starts.len()]
    }

    /// The sentences of `count` words from word `start` on; the text goes round, and the last
    /// sentence may be cut.
    pub(crate) fn excerpt(&self, start: usize, count: usize) -> Vec<String> {
        let mut sentences = Vec::new();
        let mut sentence = String::new();
        for i in start..start + count {
            let i = i % self.words.len();
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(&self.words[i]);
            if self.ends[i] {
                sentences.push(std::mem::take(&mut sentence));
            }
        }
        if !sentence.is_empty() {
            sentences.push(sentence);
        }
        sentences
    }

    fn from_words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let words: Vec<String> = words.map(str::to_owned).collect();
        let following = words.iter().skip(1).map(Some).chain([None]);
        let ends: Vec<bool> = words
            .iter()
            .zip(following)
            .map(|(word, next)| next.is_none_or(|next| ends_sentence(word, next)))
            .collect();
        let starts = (0..words.len())
            .filter(|&i| i == 0 || ends[i - 1])
            .collect();
        Self {
            words,
            ends,
            starts,
        }
    }
}

/// A rule of thumb: a full stop, question or exclamation mark, quotes and brackets aside, that
/// closes neither a usual abbreviation nor an initial, and no small letter after it.
fn ends_sentence(word: &str, next: &str) -> bool {
    const ABBREVIATIONS: [&str; 14] = [
        "Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "St.", "vs.", "e.g.", "i.e.", "cf.", "No.", "Jr.",
        "Sr.", "Fig.",
    ];
    let bare = word.trim_matches(|c| "\"'”’»)]“‘«([".contains(c));
    let stops = bare.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    let is_initial = bare
        .strip_suffix('.')
        .is_some_and(|rest| rest.chars().count() == 1 && rest.starts_with(char::is_uppercase));
    stops && !is_initial && !ABBREVIATIONS.contains(&bare) && !next.starts_with(char::is_lowercase)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_goes_round_and_cuts_the_last_sentence() {
        let essay = Essay::from_text("One two. Three four five. Six.").unwrap();
        assert_eq!(essay.excerpt(0, 4), ["One two.", "Three four"]);
        assert_eq!(essay.excerpt(2, 5), ["Three four five.", "Six.", "One"]);
        assert_eq!((essay.start(1), essay.start(3)), (2, 0));
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let text = "“Go!” said I. Was it 3.5 m? Ask Mr. Fry, e.g. Monday (or St. Ives). Yes… no.";
        let essay = Essay::from_text(text).unwrap();
        let sentences = essay.excerpt(0, essay.words());
        let expected = [
            "“Go!” said I.",
            "Was it 3.5 m?",
            "Ask Mr. Fry, e.g. Monday (or St. Ives).",
            "Yes… no.",
        ];
        // "I." is taken for an initial: the price of a rule of thumb.
        assert_eq!(sentences[0], expected[..2].join(" "));
        assert_eq!(sentences[1..], expected[2..]);
    }

    #[test]
    fn the_built_in_text_is_long_and_does_not_repeat_itself() {
        let essay = Essay::built_in();
        assert!(essay.words() >= 5000, "{}", essay.words());
        let mut sentences = essay.excerpt(0, essay.words());
        let count = sentences.len();
        sentences.sort();
        sentences.dedup();
        assert_eq!(sentences.len(), count);
    }

    #[test]
    fn folders_are_read_in_the_order_of_names_and_bad_paths_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("b.txt", "Second."), ("a.md", "First."), ("c.json", "{}")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let essay = Essay::from_path(folder.path()).unwrap();
        assert_eq!(essay.excerpt(0, 2), ["First.", "Second."]);
        let missing = Essay::from_path("no/such.txt").unwrap_err();
        assert_eq!(missing.to_string(), "cannot use no/such.txt");
        assert!(
            Essay::from_text(" \n")
                .unwrap_err()
                .to_string()
                .contains("at least one word")
        );
    }
}
