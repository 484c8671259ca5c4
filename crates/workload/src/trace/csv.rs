//! Rows of comma-separated fields, as RFC 4180 has them, but for line breaks within quotes: the traces have none.

use super::error::Fault;

/// Where the three wanted columns of a table are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    places: [usize; 3],
    columns: usize,
}

impl Table {
    /// The table with this `header`, out of which the columns `names` are wanted.
    pub(super) fn of(header: &[u8], names: [&'static str; 3]) -> Result<Self, Fault> {
        let mut places = [None; 3];
        let mut columns = 0;
        for field in fields(header) {
            let field = field?;
            let wanted = names.iter().position(|name| field.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(place) = wanted.and_then(|wanted| places.get_mut(wanted)) {
                *place = Some(columns);
            }
            columns += 1;
        }
        let [Some(first), Some(second), Some(third)] = places else {
            let expected = format!("a header with the columns {}", names.join(", "));
            return Err(Fault::at("header", header, &expected));
        };
        Ok(Self { places: [first, second, third], columns })
    }

    /// The wanted fields of a row, without quotes and the space about them.
    pub(super) fn row<'a>(&self, line: &'a [u8]) -> Result<[&'a [u8]; 3], Fault> {
        let [first, second, third] = self.places;
        let mut row = [&b""[..]; 3];
        let mut columns = 0;
        for field in fields(line) {
            let field = field?;
            // The columns may stand in any order.
            for (slot, place) in row.iter_mut().zip([first, second, third]) {
                if place == columns {
                    *slot = field;
                }
            }
            columns += 1;
        }
        if columns != self.columns {
            let expected = format!("{} fields as in the header", self.columns);
            let found = format!("{columns} fields");
            return Err(Fault { field: "line", found, expected });
        }
        Ok(row)
    }
}

fn fields(line: &[u8]) -> impl Iterator<Item = Result<&[u8], Fault>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let (field, after) = match line.trim_ascii_start() {
            [b'"', quoted @ ..] => match unquoted(quoted) {
                Some(found) => found,
                None => {
                    rest = None;
                    let expected = "a closing quote, then a comma or the end of the line";
                    return Some(Err(Fault::at("line", line, expected)));
                }
            },
            line => match line.iter().position(|byte| *byte == b',') {
                Some(comma) => (line.get(..comma)?, line.get(comma + 1..)),
                None => (line, None),
            },
        };
        rest = after;
        Some(Ok(field.trim_ascii()))
    })
}

/// What stands between the quote before `quoted` and the one that closes it, and what follows after the comma. A doubled
/// quote within is left doubled: no field that is read has one.
fn unquoted(quoted: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let mut from = 0;
    loop {
        let close = from + quoted.get(from..)?.iter().position(|byte| *byte == b'"')?;
        let after = quoted.get(close + 1..)?;
        match after.trim_ascii_start() {
            [b'"', ..] if after.first() == Some(&b'"') => from = close + 2,
            [] => return Some((quoted.get(..close)?, None)),
            [b',', next @ ..] => return Some((quoted.get(..close)?, Some(next))),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Option<Vec<&str>> {
        let fields = fields(line.as_bytes()).collect::<Result<Vec<_>, _>>().ok()?;
        Some(fields.into_iter().map(|field| std::str::from_utf8(field).unwrap()).collect())
    }

    #[test]
    fn fields_are_parted_by_commas_outside_of_quotes() {
        assert_eq!(split("a,b , c").unwrap(), ["a", "b", "c"]);
        assert_eq!(split(r#""a","b, c", "d" ,"#).unwrap(), ["a", "b, c", "d", ""]);
        assert_eq!(split(r#""say ""no""",2"#).unwrap(), [r#"say ""no"""#, "2"]);
        assert_eq!(split(""), Some(vec![""]));
        assert_eq!((split(r#""open,2"#), split(r#""a"b,2"#)), (None, None));
    }
}
