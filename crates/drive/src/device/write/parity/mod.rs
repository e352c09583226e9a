//! Parity of host writes. Data that is due goes to flash with the rest of its stripe that the
//! buffer holds, and with new parity: an *update* of the stripe (`updates.rs`). It reads what the
//! parity needs, and programs its units, each in its own pool. They become current together, when
//! the last one is on flash. A stripe has one update at a time; what is written to it meanwhile
//! waits. A drive may let an update end while collection holds the flash of some of its units, which
//! are members of the stripe in memory until then (`tolerate.rs`, `off_flash.rs`).
//!
//! Trims change parity, too: the page of a trimmed unit is kept until the stripe has parity
//! without it (a *hole*).

mod commit;
mod gather;
mod holes;
mod lose;
mod program;
mod read;
#[cfg(test)]
mod tests;
mod tolerate;
