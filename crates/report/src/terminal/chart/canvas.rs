//! A field of characters to draw on.

use super::{Charset, TextStyle};

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// The operating point.
    Chosen,
    /// On the frontier.
    Frontier,
    /// Compared, and beaten by another.
    Other,
}

impl Ink {
    /// As the table marks its rows.
    const fn mark(self) -> char {
        match self {
            Self::Chosen => '>',
            Self::Frontier => '+',
            Self::Other => 'o',
        }
    }
}

fizeau_core::words! {
    Ink::colour {
        Chosen = "\u{1b}[1;32m", Frontier = "\u{1b}[1m", Other = "\u{1b}[2m",
    }
}

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CanvasCell {
    /// Dots of a line, a bit each; none where nothing is drawn.
    Dots(u8),
    Mark(Ink),
    Word(char),
    /// The line of a goal.
    Goal(char),
}

/// Places in rows, the topmost first. A place is given as shares of the way across and up.
#[derive(Debug)]
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    charset: Charset,
    places: Vec<CanvasCell>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize, charset: Charset) -> Self {
        Self { columns, rows, charset, places: vec![CanvasCell::Dots(0); columns * rows] }
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    /// The column of a share of the way across.
    pub(super) fn column(&self, share: f64) -> usize {
        self.dot((share, 0.0)).0 / self.fineness().0
    }

    /// The row of a share of the way up.
    pub(super) fn row(&self, share: f64) -> usize {
        self.dot((0.0, share)).1 / self.fineness().1
    }

    /// A line from the bottom to the top.
    pub(super) fn upright(&mut self, share: f64, with: char) {
        let column = self.column(share);
        for row in 0..self.rows {
            self.set((column, row), CanvasCell::Goal(with));
        }
    }

    /// A straight line of dots.
    pub(super) fn segment(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (from, to) = (self.dot(from), self.dot(to));
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let between =
                |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * share).round() as usize;
            self.add_dot((between(from.0, to.0), between(from.1, to.1)));
        }
    }

    /// A level; one that matters more stays where two are at one place.
    pub(super) fn mark(&mut self, at: (f64, f64), ink: Ink) {
        let place = (self.column(at.0), self.row(at.1));
        let matters_less = match self.get(place) {
            Some(CanvasCell::Mark(Ink::Chosen)) => true,
            Some(CanvasCell::Mark(Ink::Frontier)) => ink == Ink::Other,
            _ => false,
        };
        if !matters_less {
            self.set(place, CanvasCell::Mark(ink));
        }
    }

    /// A word right behind what is at a place, else right before it, else nowhere.
    pub(super) fn label(&mut self, at: (f64, f64), word: &str) {
        let (column, row) = (self.column(at.0), self.row(at.1));
        let length = word.chars().count();
        let starts = [Some(column + 1), column.checked_sub(length)];
        let is_free = |start: &usize| {
            let mut places = (*start..start + length).map(|column| self.get((column, row)));
            // A label may lie on a line, not on a mark or another label.
            places.all(|place| matches!(place, Some(CanvasCell::Dots(_))))
        };
        if let Some(start) = starts.into_iter().flatten().find(is_free) {
            for (column, letter) in (start..).zip(word.chars()) {
                self.set((column, row), CanvasCell::Word(letter));
            }
        }
    }

    /// A row as it is written.
    pub(super) fn line(&self, row: usize, style: TextStyle) -> String {
        let places = (0..self.columns).filter_map(|column| self.get((column, row)));
        let mut line = String::new();
        let mut blanks = 0;
        for place in places {
            let (character, colour) = self.written(place);
            if character == ' ' {
                blanks += 1;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', blanks));
            blanks = 0;
            match (style, colour) {
                (TextStyle::Ansi, Some(colour)) => {
                    line.push_str(colour);
                    line.push(character);
                    line.push_str("\u{1b}[0m");
                }
                _ => line.push(character),
            }
        }
        line
    }

    fn written(&self, place: CanvasCell) -> (char, Option<&'static str>) {
        match (place, self.charset) {
            (CanvasCell::Dots(0), _) => (' ', None),
            (CanvasCell::Dots(_), Charset::Ascii) => ('.', None),
            // The block of braille patterns, in which each bit is a dot.
            (CanvasCell::Dots(dots), Charset::Unicode) => {
                (char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'), None)
            }
            (CanvasCell::Mark(ink), _) => (ink.mark(), Some(ink.colour())),
            (CanvasCell::Word(letter), _) => (letter, None),
            (CanvasCell::Goal(line), _) => (line, Some(Ink::Other.colour())),
        }
    }

    /// How many dots a place has across and up.
    const fn fineness(&self) -> (usize, usize) {
        match self.charset {
            Charset::Ascii => (1, 1),
            Charset::Unicode => (2, 4),
        }
    }

    /// The dot nearest to shares of the way across and up, counted from the left and the top.
    fn dot(&self, (across, up): (f64, f64)) -> (usize, usize) {
        let (fine_across, fine_up) = self.fineness();
        let nearest = |share: f64, count: usize| {
            (share.clamp(0.0, 1.0) * count.saturating_sub(1) as f64).round() as usize
        };
        (nearest(across, self.columns * fine_across), nearest(1.0 - up, self.rows * fine_up))
    }

    fn add_dot(&mut self, (x, y): (usize, usize)) {
        let (across, up) = self.fineness();
        let bit = match (x % across, y % up) {
            (0, 3) => 6,
            (_, 3) => 7,
            (column, row) => 3 * column + row,
        };
        let place = (x / across, y / up);
        match self.get(place) {
            Some(CanvasCell::Dots(dots)) => self.set(place, CanvasCell::Dots(dots | 1 << bit)),
            Some(CanvasCell::Goal(_)) => self.set(place, CanvasCell::Dots(1 << bit)),
            _ => {}
        }
    }

    fn get(&self, (column, row): (usize, usize)) -> Option<CanvasCell> {
        (column < self.columns).then(|| self.places.get(row * self.columns + column).copied())?
    }

    fn set(&mut self, (column, row): (usize, usize), place: CanvasCell) {
        if column < self.columns
            && let Some(at) = self.places.get_mut(row * self.columns + column)
        {
            *at = place;
        }
    }
}
