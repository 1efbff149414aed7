//! Keys and values, drawn so that none comes twice in a sample.

use std::collections::HashSet;

use super::config::NeedleKind;
use super::words::{ADJECTIVES, NOUNS, WORD_KEYS};
use crate::rng::Rng;
use crate::{Error, Result};

/// Draws keys and values, each different from all before it.
pub(crate) struct NeedleSource {
    rng: Rng,
    seen: HashSet<String>,
    words: usize,
}

impl NeedleSource {
    pub(crate) fn new(rng: Rng) -> Self {
        Self {
            rng,
            seen: HashSet::new(),
            words: 0,
        }
    }

    /// A key or value that was not drawn before.
    pub(crate) fn draw(&mut self, kind: NeedleKind) -> Result<String> {
        // At most half of the possible ones, so that a redraw is rare.
        if kind == NeedleKind::Words {
            self.words += 1;
            if self.words > WORD_KEYS / 2 {
                let expected = format!("at most {}; uuids do not run out", WORD_KEYS / 2);
                return Err(Error::input("words of a sample", expected, self.words));
            }
        }
        loop {
            let text = random(kind, &mut self.rng);
            if self.seen.insert(text.clone()) {
                return Ok(text);
            }
        }
    }
}

fn random(kind: NeedleKind, rng: &mut Rng) -> String {
    match kind {
        NeedleKind::Words => {
            let (adjective, noun) = (rng.below(ADJECTIVES.len()), rng.below(NOUNS.len()));
            format!("{}-{}", ADJECTIVES[adjective], NOUNS[noun])
        }
        NeedleKind::Numbers => (1_000_000 + rng.below(9_000_000)).to_string(),
        NeedleKind::Uuids => uuid(rng.bits(), rng.bits()),
    }
}

/// 122 random bits as a version 4, variant 1 UUID (RFC 9562, section 5.4).
fn uuid(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(0b11 << 62)) | (0b10 << 62);
    let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    let (d, e) = (low >> 48, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_stability() {
        let mut source = NeedleSource::new(Rng::stream(42, "needles"));
        let drawn = [NeedleKind::Words, NeedleKind::Numbers, NeedleKind::Uuids]
            .map(|kind| source.draw(kind).unwrap());
        assert_eq!(
            drawn,
            [
                "fierce-key",
                "3444964",
                "d8ca2b44-c749-4e96-aaea-93bcfb7c492d"
            ]
        );
    }

    #[test]
    fn uuids_are_version_4_variant_1() {
        assert_eq!(uuid(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(
            uuid(u64::MAX, u64::MAX),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
    }

    #[test]
    fn thousands_of_keys_are_unique_and_then_refused() {
        let mut source = NeedleSource::new(Rng::stream(1, "many"));
        let keys: HashSet<String> = (0..WORD_KEYS / 2)
            .map(|_| source.draw(NeedleKind::Words).unwrap())
            .collect();
        assert_eq!(keys.len(), WORD_KEYS / 2);
        assert!(
            source
                .draw(NeedleKind::Words)
                .unwrap_err()
                .to_string()
                .contains("at most")
        );
    }
}
