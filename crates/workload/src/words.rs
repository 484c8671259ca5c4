//! The words that prompts are made of.

/// The words of `symbols`, numbers below 256, in a row.
pub(crate) fn words(symbols: impl Iterator<Item = u64>) -> String {
    let mut text = String::new();
    for word in symbols.filter_map(|symbol| WORDS.get(symbol as usize)) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// 256 short, common English words, all lower case, each one token in OpenAI's vocabularies, with or without a
/// space before it, and in most others. Eight of them can spell any 64-bit number. Their order is part of what
/// a seed means.
#[rustfmt::skip] // One word a line would fill five screens.
pub(crate) const WORDS: [&str; 256] = [
    "able", "above", "add", "again", "ago", "all", "along", "always", "and", "answer", "apple",
    "arm", "ask", "baby", "ball", "bank", "beat", "before", "better", "bird", "blue", "boat",
    "bone", "born", "box", "bread", "brown", "bus", "call", "can", "card", "case", "catch",
    "cell", "check", "city", "clean", "close", "coat", "color", "cook", "copy", "could", "course",
    "cow", "cup", "day", "deep", "door", "draw", "dress", "drop", "each", "earth", "easy", "edge",
    "end", "ever", "eye", "fact", "fall", "fast", "feel", "fill", "find", "fire", "fish", "flat",
    "flow", "food", "force", "four", "fresh", "from", "fruit", "fun", "girl", "glass", "gold",
    "grass", "great", "ground", "grow", "hair", "hall", "happy", "hat", "head", "heat", "help",
    "high", "hold", "home", "hot", "house", "ice", "iron", "join", "just", "key", "king", "lake",
    "large", "late", "lead", "learn", "letter", "lie", "light", "line", "live", "look", "love",
    "machine", "make", "many", "mark", "match", "may", "mean", "metal", "minute", "money", "moon",
    "most", "mouth", "much", "name", "neck", "never", "news", "night", "north", "now", "off",
    "office", "old", "one", "open", "order", "our", "over", "page", "pair", "park", "party",
    "past", "pay", "people", "phone", "picture", "plan", "play", "pool", "power", "price",
    "public", "push", "question", "quiet", "race", "ran", "ready", "red", "rich", "right",
    "river", "rock", "room", "rose", "row", "run", "said", "sand", "say", "sea", "season",
    "second", "seed", "send", "set", "share", "she", "shop", "show", "sign", "simple", "sit",
    "size", "sky", "slow", "soft", "son", "soon", "sound", "space", "spot", "square", "stand",
    "start", "stay", "still", "stop", "storm", "street", "study", "sun", "sweet", "tail", "talk",
    "tell", "than", "their", "then", "these", "thing", "this", "three", "time", "today", "tool",
    "touch", "track", "train", "tree", "true", "turn", "type", "unit", "upon", "value", "view",
    "wait", "wall", "warm", "watch", "wave", "wear", "week", "well", "west", "when", "which",
    "white", "why", "wife", "will", "window", "with", "wood", "work", "would", "wrong", "year",
    "yes", "you",
];
