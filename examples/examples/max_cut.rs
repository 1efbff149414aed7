//! Max-cut by large neighbourhood search with policies of your own choice. No libtorch.
//!
//! A random graph with a planted cut: most edges run between the two sides. One policy is written here,
//! the others come with the crate; the search chooses among them by their recent success.

use bosch::core::lns::{
    Annealing, Destroy, DestroyBlock, DestroyRandom, Experience, Lns, RepairAdvised, RepairRandom,
    Settings,
};
use bosch::core::{Blocks, Evaluator, Event, Mask, Rng, Space, from_fn, maximize};

const NODES: usize = 60;

/// Edges that cross the planted cut nine times out of ten.
fn graph(planted: &Mask, rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    while edges.len() < 4 * NODES {
        let (a, b) = (rng.below(NODES), rng.below(NODES));
        let crosses = planted.get(a) != planted.get(b);
        if a != b && crosses == rng.chance(0.9) {
            edges.push((a, b));
        }
    }
    edges
}

/// Frees a random node and its neighbours.
struct DestroyNeighbours {
    edges: Vec<(usize, usize)>,
}

impl Destroy for DestroyNeighbours {
    fn destroy(&mut self, mask: &Mask, _: &Experience, rng: &mut Rng) -> Vec<usize> {
        let node = rng.below(mask.len());
        let touching = self.edges.iter().filter(|(a, b)| *a == node || *b == node);
        touching.flat_map(|(a, b)| [*a, *b]).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = Rng::stream(1, "example/max-cut");
    let space = Space::any(NODES);
    let planted = space.random(&mut rng);
    let edges = graph(&planted, &mut rng);
    let cut = |side: &Mask| {
        let crosses = |(a, b): &&(usize, usize)| side.get(*a) != side.get(*b);
        edges.iter().filter(crosses).count() as f64
    };
    let policies = Settings {
        destroy: vec![
            Box::new(DestroyRandom::new(3)),
            Box::new(DestroyBlock::new(Blocks::uniform(12, 5)?)),
            Box::new(DestroyNeighbours {
                edges: edges.clone(),
            }),
        ],
        repair: vec![Box::new(RepairRandom), Box::new(RepairAdvised)],
        accept: Box::new(Annealing::new(3.0, 0.1, 3000)),
    };
    let mut evaluator = Evaluator::new(from_fn(NODES, cut)).with_observer(|event| {
        if let Event::Improved { number, score, .. } = event {
            println!("evaluation {number:>4}: {score} edges cut");
        }
        std::ops::ControlFlow::Continue(())
    });
    let mut solver = Lns::new(space.clone(), policies, 1);
    let best = maximize(&mut evaluator, &mut solver, &space, 3000)?;
    println!(
        "cut {} of {} edges; the planted cut has {}",
        best.score,
        edges.len(),
        cut(&planted)
    );
    assert!(best.score >= cut(&planted));
    Ok(())
}
