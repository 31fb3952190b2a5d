//! Column names with placeholders: `AR_RTR_{row:0-5}_{column:0-7}_…` and `port_xmit_wait#{port}`.

/// A column's name, with a part of a component in it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pieces: Vec<Piece>,
    fixed: Fixed,
}

/// What is the same in all columns of a pattern, in whatever case; most other columns differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Length in bytes and last byte, in small letters.
    End(usize, u8),
    /// The first byte, in small letters, where a placeholder is the end.
    Begin(u8),
    /// Nothing.
    Neither,
}

impl Fixed {
    fn of_pieces(pieces: &[Piece]) -> Fixed {
        let lengths = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Some(text.len()),
            Piece::Digit { .. } => Some(1),
            Piece::Rest { .. } => None,
        });
        match (lengths.sum::<Option<usize>>(), pieces.first(), pieces.last()) {
            (Some(length), _, Some(Piece::Text(end))) => {
                Fixed::End(length, end.bytes().last().unwrap_or_default().to_ascii_lowercase())
            }
            (_, Some(Piece::Text(begin)), _) => {
                Fixed::Begin(begin.bytes().next().unwrap_or_default().to_ascii_lowercase())
            }
            _ => Fixed::Neither,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// One digit of a range.
    Digit {
        name: String,
        least: u8,
        most: u8,
    },
    /// Whatever follows, to the end of the name.
    Rest {
        name: String,
    },
}

/// Most placeholders of a pattern.
pub const PLACEHOLDERS_MAX: usize = 4;

/// Values of a pattern's placeholders, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values<'a> {
    found: [&'a str; PLACEHOLDERS_MAX],
    count: usize,
    /// Whether the column is spelt as the pattern is, or in another case.
    pub is_exact: bool,
}

impl<'a> Values<'a> {
    fn push(&mut self, value: &'a str) -> Option<()> {
        *self.found.get_mut(self.count)? = value;
        self.count += 1;
        Some(())
    }

    /// The values.
    pub fn as_slice(&self) -> &[&'a str] {
        &self.found[..self.count]
    }
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A brace without its other one, or nothing between both.
    #[error("a placeholder is {{name}} or {{name:0-9}}")]
    Placeholder,
    /// Something follows a placeholder without a range.
    #[error("{{{0}}} must be the end: only a digit, as {{{0}:0-9}}, has something behind it")]
    NotAtTheEnd(String),
    /// Too many placeholders.
    #[error("more than {PLACEHOLDERS_MAX} placeholders")]
    TooMany,
    /// No digits.
    #[error("{0:?} is no range of digits such as 0-7")]
    Range(String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, behind) = after.split_once('}').ok_or(PatternError::Placeholder)?;
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_string()));
            }
            pieces.push(placeholder(inside)?);
            if let Some(Piece::Rest { name }) = pieces.last()
                && !behind.is_empty()
            {
                return Err(PatternError::NotAtTheEnd(name.clone()));
            }
            rest = behind;
        }
        if rest.contains('}') {
            return Err(PatternError::Placeholder);
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_string()));
        }
        let fixed = Fixed::of_pieces(&pieces);
        let pattern = Pattern { pieces, fixed };
        if pattern.placeholders().count() > PLACEHOLDERS_MAX {
            Err(PatternError::TooMany)
        } else {
            Ok(pattern)
        }
    }

    /// Whether it names a part.
    pub fn names_a_part(&self) -> bool {
        self.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)))
    }

    /// What is the same in all its columns.
    pub fn fixed(&self) -> Fixed {
        self.fixed
    }

    /// Names of its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Digit { name, .. } | Piece::Rest { name } => Some(name.as_str()),
        })
    }

    /// The values of the placeholders in `column`, in their order, if it is such a column in whatever case; values keep theirs.
    pub fn values<'a>(&self, column: &'a str) -> Option<Values<'a>> {
        let (mut values, mut rest) = (Values { is_exact: true, ..Values::default() }, column);
        for piece in &self.pieces {
            let length = match piece {
                Piece::Text(text) => {
                    let begin = rest.get(..text.len())?;
                    let is_exact = begin == text;
                    values.is_exact &= is_exact;
                    (is_exact || begin.eq_ignore_ascii_case(text)).then_some(text.len())?
                }
                Piece::Digit { least, most, .. } => {
                    values.push(rest.get(..1)?)?;
                    let digit = rest.as_bytes().first()?.checked_sub(b'0')?;
                    (*least..=*most).contains(&digit).then_some(1)?
                }
                Piece::Rest { .. } => {
                    values.push(rest)?;
                    rest.len()
                }
            };
            rest = &rest[length..];
        }
        rest.is_empty().then_some(values)
    }
}

fn placeholder(inside: &str) -> Result<Piece, PatternError> {
    let (name, range) = inside.split_once(':').map_or((inside, None), |(name, range)| (name, Some(range)));
    if name.is_empty() || name.contains('{') {
        return Err(PatternError::Placeholder);
    }
    let name = name.to_string();
    let Some(range) = range else { return Ok(Piece::Rest { name }) };
    match range.as_bytes() {
        [least @ b'0'..=b'9', b'-', most @ b'0'..=b'9'] if least <= most => {
            Ok(Piece::Digit { name, least: least - b'0', most: most - b'0' })
        }
        _ => Err(PatternError::Range(range.to_string())),
    }
}
