//! The words that keys are made of.

/// First halves.
#[rustfmt::skip]
pub(crate) const ADJECTIVES: [&str; 259] = [
    "able", "agile", "airy", "amber", "ample", "ancient", "angular", "aquatic", "arctic",
    "autumn", "azure", "balmy", "bitter", "blank", "bleak", "blunt", "bold", "brave",
    "breezy", "brief", "bright", "brisk", "broad", "bronze", "bumpy", "calm", "candid",
    "careful", "cheerful", "chilly", "clever", "cloudy", "coastal", "cobalt", "cold",
    "compact", "copper", "coral", "cosmic", "crimson", "crisp", "curious", "curly", "damp",
    "daring", "dazzling", "deep", "dense", "dim", "distant", "dizzy", "double", "dreamy",
    "dry", "dusky", "dusty", "eager", "early", "earnest", "eastern", "elastic", "elegant",
    "emerald", "empty", "faint", "fancy", "fast", "feathery", "fertile", "fierce", "flat",
    "fluffy", "foamy", "focal", "fond", "foreign", "fragrant", "frank", "fresh", "frosty",
    "frozen", "gallant", "gentle", "giant", "glad", "glassy", "gleaming", "global", "glossy",
    "golden", "graceful", "grand", "grassy", "gritty", "hardy", "hasty", "hazel", "hazy",
    "heavy", "hidden", "hollow", "honest", "humble", "hungry", "icy", "idle", "indigo",
    "inland", "ivory", "jolly", "jovial", "keen", "kind", "lasting", "lavish", "leafy",
    "lean", "level", "lilac", "linen", "little", "lively", "local", "lofty", "lonely", "loud",
    "loyal", "lucid", "lucky", "lunar", "marble", "marine", "mellow", "merry", "mighty",
    "mild", "minor", "misty", "modern", "modest", "mossy", "muddy", "muted", "narrow",
    "native", "neat", "nimble", "noble", "noisy", "northern", "oaken", "olive", "open",
    "orange", "orderly", "ornate", "oval", "pale", "patient", "peaceful", "pearly", "plain",
    "playful", "pleasant", "plucky", "polished", "polite", "proud", "prudent", "purple",
    "quaint", "quick", "quiet", "rapid", "rare", "ready", "regal", "restless", "ripe",
    "robust", "rocky", "rosy", "rough", "round", "royal", "ruby", "rural", "russet", "rustic",
    "sandy", "scarlet", "secret", "serene", "shady", "shallow", "sharp", "shiny", "silent",
    "silky", "silver", "simple", "sleek", "sleepy", "slender", "smooth", "snowy", "snug",
    "sober", "soft", "solar", "solid", "southern", "spare", "spicy", "stately", "steady",
    "steep", "stern", "stormy", "sturdy", "subtle", "sunny", "supple", "swift", "tall",
    "tame", "tangy", "tender", "thrifty", "tidy", "timid", "tiny", "tranquil", "trusty",
    "upper", "urban", "useful", "vague", "valiant", "vast", "velvet", "verdant", "vivid",
    "wandering", "warm", "wary", "wavy", "weary", "western", "whole", "wild", "windy",
    "winter", "wise", "witty", "wooden", "worthy", "young", "zesty",
];

/// Second halves.
#[rustfmt::skip]
pub(crate) const NOUNS: [&str; 374] = [
    "abbey", "acorn", "airport", "alley", "almond", "anchor", "ankle", "antler", "apple",
    "apron", "arbor", "arch", "arrow", "atlas", "attic", "avenue", "axle", "badge", "bakery",
    "ballad", "bamboo", "banjo", "banner", "barge", "barley", "barn", "barrel", "basin",
    "basket", "bathtub", "bay", "beacon", "bead", "beaver", "bell", "bench", "berry",
    "bicycle", "birch", "biscuit", "blanket", "blossom", "boat", "bobbin", "bonnet", "book",
    "boot", "bottle", "boulder", "bowl", "box", "bracelet", "branch", "brick", "bridge",
    "brook", "broom", "brush", "bucket", "buckle", "bundle", "bush", "butter", "button",
    "cabin", "cable", "cactus", "camel", "camera", "canal", "candle", "canoe", "canvas",
    "canyon", "carpet", "carriage", "castle", "cavern", "cedar", "cellar", "chain", "chair",
    "chalk", "chapel", "cherry", "chestnut", "chimney", "chisel", "church", "cider", "circle",
    "clarinet", "cliff", "clock", "cloud", "clover", "coat", "cobweb", "coin", "compass",
    "copse", "cork", "corner", "cottage", "cotton", "cradle", "crane", "crater", "creek",
    "cricket", "crown", "crystal", "cup", "curtain", "cushion", "dairy", "daisy", "desk",
    "diamond", "dock", "dome", "donkey", "door", "drawer", "drum", "eagle", "easel", "elbow",
    "elm", "engine", "envelope", "fabric", "falcon", "farm", "feather", "fence", "fern",
    "ferry", "fiddle", "field", "finch", "fjord", "flag", "flask", "flute", "forest", "fork",
    "fountain", "fox", "frame", "garden", "garlic", "gate", "geyser", "ginger", "glacier",
    "glove", "goat", "grain", "grape", "gravel", "grove", "guitar", "gull", "hammer",
    "hammock", "harbor", "harp", "harvest", "hatch", "hedge", "helmet", "heron", "hill",
    "hinge", "honey", "hook", "horizon", "hotel", "house", "island", "ivy", "jacket", "jar",
    "jewel", "jungle", "kayak", "kennel", "kettle", "key", "kitchen", "kite", "ladder",
    "ladle", "lagoon", "lake", "lamp", "lantern", "lark", "laurel", "leaf", "ledger", "lemon",
    "lens", "letter", "lighthouse", "lily", "lobby", "locket", "loom", "lute", "magnet",
    "mallet", "mango", "mantle", "maple", "market", "marsh", "mast", "meadow", "melon",
    "mill", "mirror", "mitten", "moat", "monument", "moon", "mosaic", "mountain", "mushroom",
    "napkin", "needle", "nest", "nickel", "notebook", "nutmeg", "oar", "oasis", "ocean",
    "onion", "orchard", "organ", "otter", "oven", "owl", "oyster", "paddle", "palace",
    "panel", "paper", "parcel", "parrot", "pasture", "path", "pavilion", "peach", "pebble",
    "pelican", "pencil", "pepper", "petal", "piano", "pier", "pillow", "pine", "pipe",
    "pitcher", "plank", "plateau", "plaza", "plum", "pocket", "pond", "porch", "portrait",
    "pottery", "prairie", "pulley", "pumpkin", "puzzle", "quarry", "quill", "quilt", "rabbit",
    "radio", "raft", "rail", "raven", "reef", "ribbon", "ridge", "river", "road", "robin",
    "roof", "rope", "rose", "rudder", "saddle", "sail", "salmon", "satchel", "saw", "scarf",
    "school", "seed", "shed", "shelf", "shell", "ship", "shoe", "shovel", "shutter", "sieve",
    "signal", "slope", "snail", "sofa", "spark", "sparrow", "spindle", "spoon", "spring",
    "stable", "staircase", "station", "statue", "stove", "stream", "street", "sunflower",
    "table", "tavern", "teapot", "temple", "thimble", "thistle", "thread", "tower", "trail",
    "train", "trellis", "trumpet", "trunk", "tulip", "tunnel", "turnip", "turtle", "umbrella",
    "valley", "vase", "veranda", "village", "vineyard", "violin", "wagon", "walnut", "walrus",
    "water", "weaver", "well", "wharf", "wheat", "wheel", "whistle", "willow", "window",
    "wing", "wolf", "wood", "workshop", "wren", "yard", "zebra",
];

/// How many different keys there are.
pub(crate) const WORD_KEYS: usize = ADJECTIVES.len() * NOUNS.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_comes_twice() {
        assert!(ADJECTIVES.is_sorted_by(|a, b| a < b));
        assert!(NOUNS.is_sorted_by(|a, b| a < b));
    }
}
