//! Time series of a run: named columns, one row per interval.
//!
//! Memory is bounded. When the rows are used up, neighbours are merged in pairs, and each row
//! covers twice as many intervals from then on. The caller continues to append a row per interval
//! and need not know. The column defines how two values merge. Every row has its end time, so
//! rates stay exact however often rows were merged.

use engine::{Instant, Span};

/// Method of a column for merging two neighbouring rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// The sum: pages written in the interval.
    Sum,
    /// The later value: free blocks at the interval's end.
    Last,
    /// The greater value: the longest queue in the interval.
    Max,
}

/// Declaration of a column: its name, its type and its method of merging.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    merge: Merge,
    empty: Values,
}

impl Field {
    /// A column of whole numbers.
    pub fn u64(name: impl Into<String>, merge: Merge) -> Self {
        Self { name: name.into(), merge, empty: Values::U64(Vec::new()) }
    }
    /// A column of fractions.
    pub fn f64(name: impl Into<String>, merge: Merge) -> Self {
        Self { name: name.into(), merge, empty: Values::F64(Vec::new()) }
    }
}

/// The values of a column, in order of time.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Fractions.
    F64(Vec<f64>),
}

/// One value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// For a column of whole numbers.
    U64(u64),
    /// For a column of fractions.
    F64(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}
impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

/// Rows of named columns, at most a fixed number of them.
#[derive(Clone, Debug)]
pub struct Series {
    begin: Instant,
    rows_max: usize,
    columns: Vec<(Field, Values)>,
    ends: Vec<Instant>,
    intervals_per_row: u64,
    /// Number of intervals in the last row.
    intervals_in_last: u64,
}

impl Series {
    /// An empty series whose first interval begins at `begin`.
    ///
    /// # Panics
    /// If `rows_max` is odd or zero: rows merge in pairs.
    pub fn new(begin: Instant, rows_max: usize, fields: impl IntoIterator<Item = Field>) -> Self {
        assert!(rows_max > 0 && rows_max.is_multiple_of(2), "rows merge in pairs");
        let columns = fields.into_iter().map(|field| (field.clone(), field.empty)).collect();
        Self {
            begin,
            rows_max,
            columns,
            ends: Vec::new(),
            intervals_per_row: 1,
            // As if a full row lay before the first.
            intervals_in_last: 1,
        }
    }

    /// Appends the interval that begins where the last one ended and ends at `end`,
    /// with one value for each column.
    ///
    /// # Panics
    /// If `row` does not fit the columns, or `end` lies before the last one.
    pub fn append(&mut self, end: Instant, row: &[Number]) {
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
        assert!(
            self.ends.last().is_none_or(|last| *last <= end) && self.begin <= end,
            "intervals follow each other"
        );
        if self.intervals_in_last < self.intervals_per_row {
            self.merge_into_last(end, row);
            return;
        }
        if self.ends.len() == self.rows_max {
            // All rows are complete, and still are once merged, and a new one begins.
            self.merge_pairs();
        }
        self.ends.push(end);
        for ((_, values), number) in self.columns.iter_mut().zip(row) {
            values.push(*number);
        }
        self.intervals_in_last = 1;
    }

    /// Appends `count` intervals of `length` each without any event: like [`Series::append`] of
    /// `row` for each, with zeroes in the columns that add up, but in time that grows with the
    /// rows and not with the intervals.
    ///
    /// # Panics
    /// As [`Series::append`]; also if a column that adds up is not zero.
    pub fn append_quiet(&mut self, mut count: u64, length: Span, row: &[Number]) {
        let adds = |(field, _): &(Field, Values)| field.merge == Merge::Sum;
        let is_zero = |number: &Number| matches!(number, Number::U64(0) | Number::F64(0.0));
        assert!(
            self.columns.iter().zip(row).all(|(column, number)| !adds(column) || is_zero(number)),
            "nothing happens in a quiet interval"
        );
        let mut end = self.ends.last().copied().unwrap_or(self.begin);
        while count > 0 {
            // Either the intervals that complete the last row or (because widening comes first) a
            // row.
            let is_full = self.intervals_in_last == self.intervals_per_row;
            if is_full && self.ends.len() == self.rows_max {
                self.merge_pairs();
            }
            let missing = match is_full {
                true => self.intervals_per_row,
                false => self.intervals_per_row - self.intervals_in_last,
            };
            let taken = missing.min(count);
            end += length * taken;
            self.append(end, row);
            self.intervals_in_last += taken - 1;
            count -= taken;
        }
    }

    fn merge_into_last(&mut self, end: Instant, row: &[Number]) {
        let last = self.ends.len() - 1;
        self.ends[last] = end;
        for ((field, values), number) in self.columns.iter_mut().zip(row) {
            values.push(*number);
            values.merge(field.merge, last, last, last + 1);
            values.truncate(last + 1);
        }
        self.intervals_in_last += 1;
    }

    fn merge_pairs(&mut self) {
        let pairs = self.rows_max / 2;
        for pair in 0..pairs {
            self.ends[pair] = self.ends[2 * pair + 1];
        }
        self.ends.truncate(pairs);
        for (field, values) in &mut self.columns {
            for pair in 0..pairs {
                values.merge(field.merge, pair, 2 * pair, 2 * pair + 1);
            }
            values.truncate(pairs);
        }
        self.intervals_per_row *= 2;
        // A pair of complete rows is a complete row.
        self.intervals_in_last = self.intervals_per_row;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of appended intervals in a row; the last row may have fewer.
    pub fn intervals_per_row(&self) -> u64 {
        self.intervals_per_row
    }

    /// Beginnings of the rows.
    pub fn begins(&self) -> impl Iterator<Item = Instant> + '_ {
        std::iter::once(self.begin).chain(self.ends.iter().copied()).take(self.len())
    }

    /// Ends of the rows.
    pub fn ends(&self) -> &[Instant] {
        &self.ends
    }

    /// Each column's name and values, in the order in which they were declared.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.columns.iter().map(|(field, values)| (field.name.as_str(), values))
    }

    /// The values of the column called `name`.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns().find_map(|(known, values)| (known == name).then_some(values))
    }
}

impl Values {
    fn push(&mut self, number: Number) {
        match (self, number) {
            (Self::U64(values), Number::U64(value)) => values.push(value),
            (Self::F64(values), Number::F64(value)) => values.push(value),
            _ => panic!("a column holds whole numbers or fractions, not both"),
        }
    }

    /// Merges rows `earlier` and `later` into row `to`.
    fn merge(&mut self, merge: Merge, to: usize, earlier: usize, later: usize) {
        match self {
            Self::U64(v) => v[to] = join(merge, v[earlier], v[later]),
            Self::F64(v) => v[to] = join(merge, v[earlier], v[later]),
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Self::U64(values) => values.truncate(rows),
            Self::F64(values) => values.truncate(rows),
        }
    }
}

fn join<N: Copy + PartialOrd + std::ops::Add<Output = N>>(merge: Merge, a: N, b: N) -> N {
    match merge {
        Merge::Sum => a + b,
        Merge::Last => b,
        Merge::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(rows_max: usize) -> Series {
        let fields = [
            Field::u64("writes", Merge::Sum),
            Field::f64("free_share", Merge::Last),
            Field::u64("queue_max", Merge::Max),
        ];
        Series::new(Instant::from_ns(100), rows_max, fields)
    }

    fn row(n: u64) -> [Number; 3] {
        // 7n mod 11 wanders, so that the greatest of a row is often not the last.
        [n.into(), (n as f64).into(), (7 * n % 11).into()]
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn rows_are_what_merging_whole_chunks_gives(half in 1usize..6, intervals in 0u64..200) {
            let mut series = series(2 * half);
            for n in 0..intervals {
                series.append(Instant::from_ns(110 + 10 * n), &row(n));
            }
            let all: Vec<u64> = (0..intervals).collect();
            let chunks: Vec<&[u64]> = all.chunks(series.intervals_per_row() as usize).collect();
            prop_assert!(series.len() <= 2 * half);
            // Never more merged than needed: with half as many per row it would not fit.
            prop_assert!(
                series.intervals_per_row() == 1
                    || intervals > half as u64 * series.intervals_per_row()
            );
            let sums = chunks.iter().map(|chunk| chunk.iter().sum()).collect();
            let last = chunks.iter().map(|chunk| *chunk.last().unwrap() as f64).collect();
            let most =
                chunks.iter().map(|chunk| chunk.iter().map(|n| 7 * n % 11).max().unwrap()).collect();
            prop_assert_eq!(series.column("writes"), Some(&Values::U64(sums)));
            prop_assert_eq!(series.column("free_share"), Some(&Values::F64(last)));
            prop_assert_eq!(series.column("queue_max"), Some(&Values::U64(most)));
            let ends: Vec<_> = chunks
                .iter()
                .map(|chunk| Instant::from_ns(110 + 10 * chunk.last().unwrap()))
                .collect();
            prop_assert_eq!(series.ends(), ends);
        }
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn quiet_intervals_are_as_if_they_came_one_by_one(
            half in 1usize..6,
            steps in prop::collection::vec((0u64..40, 0u64..90), 0..6),
        ) {
            let (mut together, mut alone) = (series(2 * half), series(2 * half));
            let length = Span::from_ns(10);
            let mut end = Instant::from_ns(100);
            for (busy, quiet) in steps {
                for n in 0..busy {
                    end += length;
                    together.append(end, &row(n));
                    alone.append(end, &row(n));
                }
                let nothing = [0u64.into(), 0.5.into(), 0u64.into()];
                together.append_quiet(quiet, length, &nothing);
                for _ in 0..quiet {
                    end += length;
                    alone.append(end, &nothing);
                }
            }
            prop_assert_eq!(together.ends(), alone.ends());
            prop_assert!(together.columns().eq(alone.columns()));
            prop_assert_eq!(together.intervals_per_row(), alone.intervals_per_row());
        }
    }

    #[test]
    fn years_without_a_request_take_no_time() {
        let mut series = series(4096);
        // 2^57 intervals of a nanosecond: 2^12 rows of 2^45 each.
        series.append_quiet(1 << 57, Span::from_ns(1), &[0u64.into(), 1.0.into(), 0u64.into()]);
        assert_eq!((series.len(), series.intervals_per_row()), (4096, 1 << 45));
        assert_eq!(series.ends().last(), Some(&Instant::from_ns(100 + (1 << 57))));
    }

    #[test]
    fn a_row_begins_where_the_one_before_ended() {
        let mut series = series(2);
        assert_eq!(series.begins().count(), 0);
        for (n, end) in [150, 175, 300].into_iter().enumerate() {
            series.append(Instant::from_ns(end), &row(n as u64));
        }
        let begins: Vec<_> = series.begins().map(Instant::as_ns).collect();
        assert_eq!(begins, [100, 175]);
        assert_eq!(series.ends(), [175, 300].map(Instant::from_ns));
    }

    #[test]
    fn columns_come_in_the_order_declared() {
        let names: Vec<_> = series(2).columns().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["writes", "free_share", "queue_max"]);
        assert_eq!(series(2).column("reads"), None);
    }

    #[test]
    #[should_panic(expected = "whole numbers or fractions")]
    fn a_fraction_in_a_column_of_whole_numbers_is_refused() {
        series(2).append(Instant::from_ns(200), &[1.0.into(), 1.0.into(), 1u64.into()]);
    }
}
