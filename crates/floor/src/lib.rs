//! floor
