//! Lines of JSON in one buffer, and random numbers.

/// Lines, each without its end.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    pub fn put_number(&mut self, number: u64) {
        self.put_digits(number, 1);
    }

    /// Puts a number with zeros in front of it, up to `least` digits.
    pub fn put_digits(&mut self, mut number: u64, least: usize) {
        let (mut digits, mut begin) = ([b'0'; 20], 20);
        while number > 0 || 20 - begin < least {
            begin -= 1;
            digits[begin] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.text.extend_from_slice(&digits[begin..]);
    }

    /// Replaces the last byte.
    pub fn end_list(&mut self, by: &str) {
        self.text.pop();
        self.put(by);
    }

    pub fn end_line(&mut self) {
        self.ends.push(self.text.len());
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.text[begin..*end])
    }
}

/// Numbers that look random and are the same in each run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// `mean`, by up to a twentieth less or more.
    pub fn near(&mut self, mean: u64) -> u64 {
        mean - mean / 20 + self.below(mean / 10 + 1)
    }
}
