//! Remarks of a reader on a file: lines that are no requests, choices, names of devices.

/// Lines of a trace that are no requests to replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// Why they are none.
    pub reason: &'static str,
    /// How many there are.
    pub lines: u64,
    /// The first, counted from 1.
    pub first_line: u64,
}

/// What a reader says of a file beside its requests.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Remarks {
    /// Lines that are no requests, by reason.
    pub passed: Vec<Passed>,
    /// What was chosen or understood in a way that could be another.
    pub notes: Vec<String>,
    /// The names of devices 0, 1, …; none where the trace numbers them itself.
    pub names: Vec<String>,
}

impl Remarks {
    /// How messages call a device: its number, and its name where it has one.
    pub(crate) fn device_label(&self, device: u32) -> String {
        match self.names.get(device as usize) {
            Some(name) => format!("{device} = {}", name.escape_debug()),
            None => device.to_string(),
        }
    }
}
