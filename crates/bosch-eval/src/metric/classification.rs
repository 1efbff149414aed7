//! Classification by the class names in a prediction (LongBench, `metrics.py`).

/// 1 by the number of classes found if the right one is among them, else 0.
///
/// A class that is part of the right one is not counted. The official loop removes such classes
/// from the list that it walks over and so passes over the one after each; scores agree with it.
///
/// Cost: the length of the prediction times the number of classes.
///
/// ```
/// use bosch_eval::classification_score;
///
/// let classes = ["City", "Country"];
/// assert_eq!(classification_score("City or Country", "City", &classes), 0.5);
/// ```
pub fn classification_score<S: AsRef<str>>(
    prediction: &str,
    ground_truth: &str,
    all_classes: &[S],
) -> f64 {
    let classes = all_classes.iter().map(AsRef::as_ref);
    let mut found: Vec<&str> = classes.filter(|class| prediction.contains(class)).collect();
    let mut i = 0;
    while i < found.len() {
        let class = found[i];
        if class != ground_truth && ground_truth.contains(class) {
            // Python's `list.remove`: the first that is equal.
            if let Some(first) = found.iter().position(|&other| other == class) {
                found.remove(first);
            }
        }
        i += 1;
    }
    if found.contains(&ground_truth) {
        1.0 / found.len() as f64
    } else {
        0.0
    }
}
