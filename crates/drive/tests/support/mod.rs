//! What several test files share.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod case;
pub mod ordeal;
