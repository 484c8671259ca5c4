//! What is to be said of a config.

/// Sentences on a config, and the names of what was not understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Remarks {
    pub(super) warnings: Vec<String>,
    /// What may mean that the model is another than the one that was read.
    pub(super) unread: Vec<String>,
}

impl Remarks {
    /// Something to know, which leaves no doubt about what the model is.
    pub(super) fn say(&mut self, text: String) {
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// `what` was not understood, and could matter.
    pub(super) fn doubt(&mut self, what: String, text: String) {
        self.say(text);
        if !self.unread.contains(&what) {
            self.unread.push(what);
        }
    }

    /// A field that nothing reads, by its path.
    pub(super) fn not_understood(&mut self, path: &str) {
        self.doubt(format!("`{path}`"), format!("`{path}` is not understood and could matter"));
    }

    pub(super) fn append(&mut self, more: &Self) {
        more.warnings.iter().for_each(|text| self.say(text.clone()));
        let new = more.unread.iter().filter(|what| !self.unread.contains(*what));
        let new: Vec<String> = new.cloned().collect();
        self.unread.extend(new);
    }
}
