//! [`LayeredHeads`]: an instance of the layered-heads benchmark.

use bosch::core::{Blocks, InvalidInput, Mask};
use serde_json::Value;

/// A black box that imitates the selection of heads: converting heads does damage, by weights, by pairs
/// inside a layer up to the layer's cap, and by pairs of different layers.
///
/// `examples/benchmark` holds instances and the definition in Python.
#[derive(Debug, Clone)]
pub struct LayeredHeads {
    blocks: Blocks,
    ones: usize,
    weights: Vec<i64>,
    caps: Vec<i64>,
    inside: Vec<(usize, usize, i64)>,
    across: Vec<(usize, usize, i64)>,
    half: i64,
    all: i64,
    levels: i64,
    best: f64,
    random: f64,
}

impl LayeredHeads {
    /// The instance in a file's text.
    ///
    /// # Errors
    ///
    /// If it is not JSON, of another format, or lacks a part or has one of another length.
    pub fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let value: Value = serde_json::from_str(text)?;
        if value["format"] != "layered-heads/1" {
            let found = &value["format"];
            return Err(InvalidInput::new("format", "layered-heads/1", found).into());
        }
        let number = |key: &str| serde_json::from_value::<i64>(value[key].clone());
        let count = |key: &str| serde_json::from_value::<usize>(value[key].clone());
        let float = |pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_f64);
            found.ok_or_else(|| InvalidInput::new(pointer, "a number", "nothing"))
        };
        let blocks = Blocks::uniform(count("layers")?, count("heads")?)?;
        let (dim, ones) = (blocks.dim(), count("target_ones")?);
        if ones > dim {
            return Err(InvalidInput::new("target_ones", format!("at most {dim}"), ones).into());
        }
        let numbers = |key: &str, len: usize| -> Result<Vec<i64>, Box<dyn std::error::Error>> {
            let numbers: Vec<i64> = serde_json::from_value(value[key].clone())?;
            match numbers.len() == len {
                true => Ok(numbers),
                false => {
                    Err(InvalidInput::new(format!("numbers in {key}"), len, numbers.len()).into())
                }
            }
        };
        let pairs = |key: &str| -> Result<Vec<_>, Box<dyn std::error::Error>> {
            let pairs: Vec<(usize, usize, i64)> = serde_json::from_value(value[key].clone())?;
            match pairs.iter().map(|pair| pair.0.max(pair.1)).max() {
                Some(most) if most >= dim => {
                    let expected = format!("a variable below {dim}");
                    Err(InvalidInput::new(format!("pair in {key}"), expected, most).into())
                }
                _ => Ok(pairs),
            }
        };
        Ok(Self {
            ones,
            weights: numbers("w", dim)?,
            caps: numbers("cap", blocks.len())?,
            inside: pairs("intra")?,
            across: [pairs("inter")?, pairs("redundant")?].concat(),
            half: number("K")?,
            all: number("d_all")?,
            levels: number("levels")?,
            best: float("/best_known/score")?,
            random: float("/reference/random_mean_score")?,
            blocks,
        })
    }

    /// The layers and their heads.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// How many heads are to be converted.
    pub fn ones(&self) -> usize {
        self.ones
    }

    fn damage(&self, mask: &Mask) -> i64 {
        let both = |pair: &&(usize, usize, i64)| mask.get(pair.0) && mask.get(pair.1);
        let mut layers = vec![0; self.blocks.len()];
        let heads = self.blocks.size(0);
        mask.iter_ones()
            .for_each(|i| layers[i / heads] += self.weights[i]);
        for pair in self.inside.iter().filter(both) {
            layers[pair.0 / heads] += pair.2;
        }
        let capped = (layers.iter().zip(&self.caps)).map(|(damage, &cap)| (*damage).clamp(0, cap));
        let across = self.across.iter().filter(both).map(|pair| pair.2);
        (capped.sum::<i64>() + across.sum::<i64>()).max(0)
    }

    /// Two products and a division in this order, as the format demands, then the levels.
    pub fn score(&self, mask: &Mask) -> f64 {
        let damage = self.damage(mask);
        let square = |x: i64| (x * x) as f64;
        let (half, all, damage) = (square(self.half), square(self.all), square(damage));
        let score = (half * (all - damage)) / (all * (half + damage));
        match self.levels {
            0 => score,
            levels => (score * levels as f64).floor() / levels as f64,
        }
    }

    /// The regret of a score in percent: 0 for the best known, 100 for the mean of random masks.
    pub fn regret(&self, score: f64) -> f64 {
        (100.0 * (self.best - score) / (self.best - self.random)).clamp(0.0, 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benchmark/open");

    #[test]
    fn scores_are_those_of_the_instances_checks_to_the_last_bit() {
        let mut checked = 0;
        for entry in std::fs::read_dir(FOLDER).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let instance = LayeredHeads::parse(&text).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            for check in value["checks"].as_array().unwrap() {
                let mask: Mask = check["z"].as_str().unwrap().parse().unwrap();
                let bits = format!("0x{:016x}", instance.score(&mask).to_bits());
                assert_eq!(check["score_bits"], bits);
                checked += 1;
            }
        }
        assert!(checked > 24, "{checked}");
    }

    #[test]
    fn what_is_no_instance_is_refused_with_what_was_expected() {
        let text = std::fs::read_to_string(format!("{FOLDER}/lh-n032-r500.json")).unwrap();
        let refused = |from: &str, to: &str| {
            assert!(text.contains(from));
            LayeredHeads::parse(&text.replacen(from, to, 1))
                .unwrap_err()
                .to_string()
        };
        assert!(refused("layered-heads/1", "other").contains("expected layered-heads/1"));
        assert!(refused("\"w\":[", "\"w\":[7,").contains("numbers in w: expected 32, found 33"));
        assert!(refused("\"intra\":[[", "\"intra\":[[99,1,1],[").contains("found 99"));
        assert!(refused("\"target_ones\":16", "\"target_ones\":99").contains("at most 32"));
    }
}
