//! A search that takes a while, for the test that kills it: `slow_search TRACE MILLISECONDS`.
//! Its last line is the mask that it found.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

use bosch::core::StagedSettings;
use bosch::{SelectSettings, select_heads};
use bosch_tests::{PlantedModel, samples};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let trace = arguments.next().ok_or("expected TRACE")?;
    let pause = arguments.next().ok_or("expected MILLISECONDS")?.parse()?;
    let mut model = PlantedModel { pause: Duration::from_millis(pause), ..PlantedModel::new() };
    let settings = SelectSettings {
        trace: Some(trace.into()),
        ..SelectSettings::new("planted", StagedSettings::new(0.75, 120).seed(3))
    };
    let selected = select_heads(&mut model, &samples(1)?, &settings, |_| ControlFlow::Continue(()))?;
    println!("{} evaluations paid for", model.evaluations);
    println!("{}", selected.selection.mask());
    Ok(())
}
