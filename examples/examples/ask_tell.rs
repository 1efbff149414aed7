//! Ask and tell: you own the loop and evaluate wherever you like. No libtorch.

use bosch::core::{LocalSearch, Mask, Optimizer, Space, Trial};

/// Number of edges between the two sides of a ring of 16 with some chords.
fn cut(mask: &Mask) -> f64 {
    let edges = (0..16).flat_map(|i| [(i, (i + 1) % 16), (i, (i + 5) % 16)]);
    edges.filter(|(a, b)| mask.get(*a) != mask.get(*b)).count() as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two sides of equal size: exactly 8 ones.
    let mut optimizer = LocalSearch::new(Space::exactly(16, 8)?, 1);
    let mut best: Option<Trial> = None;
    for round in 0..100 {
        let masks = optimizer.ask(4);
        let numbered = (1 + 4 * round..).zip(masks);
        let trials: Vec<Trial> = numbered
            .map(|(number, mask)| {
                let score = cut(&mask);
                Trial::new(mask, score, number)
            })
            .collect();
        optimizer.tell(&trials);
        for trial in trials {
            if best.as_ref().is_none_or(|best| trial.score > best.score) {
                best = Some(trial);
            }
        }
    }
    let best = best.ok_or("nothing was asked")?;
    println!("cut {} of 32 edges with {}", best.score, best.mask);
    assert_eq!(best.score, 32.0);
    Ok(())
}
