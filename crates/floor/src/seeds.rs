//! Seeds of random tests: the environment may choose another, and each is printed.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

/// Environment variable with the seed of all random tests. Python's tests take it, too.
pub const VARIABLE: &str = "FLASHSCAPE_TEST_SEED";

/// The seed of a test, which is printed: that of the environment, or else the usual one.
///
/// # Panics
/// If the environment has something else than a whole number.
pub fn seed(usual: u64) -> u64 {
    print(given().unwrap_or(usual))
}

/// So many seeds, the first of which is the seed of the test.
pub fn seeds(usual: u64, count: u64) -> Range<u64> {
    let first = seed(usual);
    first..first + count
}

/// The seed of a test that has no usual one: without that of the environment, a new one each time.
pub fn new_seed() -> u64 {
    print(given().unwrap_or_else(|| RandomState::new().build_hasher().finish() >> 32))
}

fn given() -> Option<u64> {
    let given = std::env::var(VARIABLE).ok().filter(|given| !given.is_empty())?;
    Some(given.parse().unwrap_or_else(|_| panic!("{VARIABLE}={given} is not a whole number")))
}

fn print(seed: u64) -> u64 {
    println!("{VARIABLE}={seed}");
    seed
}

/// Configuration of the random cases of a `proptest!`, of which there are usually 256: their seed is that
/// of the environment, or a new one.
#[macro_export]
macro_rules! cases {
    ($($cases:expr)?) => {
        proptest::test_runner::Config {
            $(cases: $cases,)?
            rng_seed: proptest::test_runner::RngSeed::Fixed($crate::new_seed()),
            ..proptest::test_runner::Config::default()
        }
    };
}
