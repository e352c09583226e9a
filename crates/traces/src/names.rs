//! Numbers for devices that a trace knows by name, in the order in which they first appear.

use hashbrown::HashTable;

/// The devices that appeared so far.
#[derive(Default)]
pub(crate) struct Names {
    names: Vec<String>,
    /// Every way in which a device was written, with its number.
    spellings: Vec<(Box<[u8]>, u32)>,
    /// The spelling of a hash; used for look-ups only, so its order never shows.
    by_hash: HashTable<u32>,
    /// The spelling in the row before: traces stay on one device for a while.
    last: usize,
}

impl Names {
    /// The number of the device that `spelling` denotes; for a new spelling, `name` returns the
    /// name of the device.
    #[inline]
    pub fn number(&mut self, spelling: &[u8], name: impl FnOnce(&[u8]) -> String) -> u32 {
        if let Some((last, number)) = self.spellings.get(self.last)
            && **last == *spelling
        {
            return *number;
        }
        self.last = match self.find(spelling) {
            Some(known) => known,
            None => self.add(spelling, name(spelling)),
        };
        self.spellings[self.last].1
    }

    /// True for a spelling that has appeared.
    #[inline]
    pub fn has(&mut self, spelling: &[u8]) -> bool {
        if self.spellings.get(self.last).is_some_and(|(last, _)| **last == *spelling) {
            return true;
        }
        let found = self.find(spelling);
        self.last = found.unwrap_or(self.last);
        found.is_some()
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    #[inline(never)]
    fn find(&self, spelling: &[u8]) -> Option<usize> {
        let is_same = |place: &u32| *self.spellings[*place as usize].0 == *spelling;
        self.by_hash.find(hash(spelling), is_same).map(|place| *place as usize)
    }

    /// Adds a spelling of the device `name`, which may already have another one.
    #[inline(never)]
    fn add(&mut self, spelling: &[u8], name: String) -> usize {
        let number = match self.find(name.as_bytes()) {
            Some(known) => self.spellings[known].1,
            None => {
                let number = self.names.len() as u32;
                self.insert(name.as_bytes(), number);
                self.names.push(name);
                number
            }
        };
        // The spelling may be the name itself, which is in by now.
        self.find(spelling).unwrap_or_else(|| self.insert(spelling, number))
    }

    fn insert(&mut self, spelling: &[u8], number: u32) -> usize {
        let place = self.spellings.len();
        self.spellings.push((spelling.into(), number));
        let spellings = &self.spellings;
        let rehash = |place: &u32| hash(&spellings[*place as usize].0);
        self.by_hash.insert_unique(hash(spelling), place as u32, rehash);
        place
    }
}

/// FNV-1a with a multiplication that carries to the upper bits, which the table
/// looks at first.
fn hash(key: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    key.iter().fold(0xcbf2_9ce4_8422_2325, step).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let mut names = Names::default();
        let trimmed = |key: &[u8]| String::from_utf8_lossy(key).trim().to_owned();
        let numbers = ["b", "a", "b", " a", "c", "a ", "c"];
        let numbers = numbers.map(|key| names.number(key.as_bytes(), trimmed));
        assert_eq!(numbers, [0, 1, 0, 1, 2, 1, 2]);
        assert_eq!(names.names(), ["b", "a", "c"]);
    }

    #[test]
    fn many_names_stay_apart() {
        let mut names = Names::default();
        let name = |number: u32| format!("disk{number}");
        for round in 0..2 {
            for number in 0..5_000 {
                let key = name(number);
                let found = names.number(key.as_bytes(), |_| key.clone());
                assert_eq!(found, number, "round {round}");
            }
        }
    }
}
