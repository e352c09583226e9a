//! Remarks of a reader on a file: lines that are no requests, choices, names of devices.

/// Lines of a trace that are no requests to replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// Reason why they are none.
    pub reason: &'static str,
    /// Number of lines.
    pub lines: u64,
    /// The first, counted from 1.
    pub first_line: u64,
}

/// Remarks of a reader on a file, beside its requests.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Remarks {
    /// Lines that are no requests, by reason.
    pub passed: Vec<Passed>,
    /// Choices and interpretations of the reader that could be different.
    pub notes: Vec<String>,
    /// Units that are hardly right, with the options that tell the right ones.
    pub doubts: Vec<String>,
    /// The names of devices 0, 1, …; none if the trace numbers them itself.
    pub names: Vec<String>,
}

impl Remarks {
    /// Name of a device in messages: its number, and its name if it has one.
    pub(crate) fn device_label(&self, device: u32) -> String {
        match self.names.get(device as usize) {
            Some(name) => format!("{device} = {}", name.escape_debug()),
            None => device.to_string(),
        }
    }
}
