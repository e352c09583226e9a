//! Properties of every trace format: bytes of any kind give rows or one error, and
//! rows written out by a plain writer are read back.

use crate::written::{Meant, can, has_devices, written};
use engine::Streams;
use host::{Command, Issue, Kind, Source, WorkloadConfig};
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use traces::{Format, survey};

/// A file that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(content: &[u8]) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("flashscape-properties-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A request of a trace, in units that every format can write.
#[derive(Clone, Debug)]
struct Made {
    /// Seconds from the one before.
    gap_s: u64,
    us: u64,
    device: u32,
    kind: Kind,
    sector: u64,
    sectors: u64,
}

fn made() -> impl Strategy<Value = Made> {
    let kind =
        prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Trim), Just(Kind::Flush)];
    (0..3u64, 0..1_000_000u64, 0..5u32, kind, 0..1u64 << 40, 1..1u64 << 20).prop_map(
        |(gap_s, us, device, kind, sector, sectors)| Made {
            gap_s,
            us,
            device,
            kind,
            sector,
            sectors,
        },
    )
}

/// The requests that `format` can express.
fn meant(format: Format, made: &[Made]) -> Vec<Meant> {
    let (kinds, is_fine) = can(format);
    let mut second = 0;
    let mut meant = Vec::new();
    for made in made.iter().filter(|made| kinds.contains(&made.kind)) {
        // Stamps rise, so that no reader has to sort them.
        second += made.gap_s + 1;
        let us = second * 1_000_000 + if is_fine { made.us } else { 0 };
        let command = match made.kind {
            Kind::Flush => Command::FLUSH,
            kind => Command { kind, offset: made.sector * 512, bytes: made.sectors * 512 },
        };
        meant.push((us, if has_devices(format) { made.device } else { 0 }, command));
    }
    meant
}

/// Requests of a replay of a device, with their times in nanoseconds; nothing if the trace has no
/// such device.
fn replayed(file: &Scratch, format: Format, keys: &str) -> Result<Vec<(u64, Command)>, String> {
    let (path, format) = (file.0.display(), format.name());
    let text = format!(
        "name = 'x'\n[trace]\nfile = '{path}'\nformat = '{format}'\ndisorder = 'sort'\n\
         out_of_range = 'wrap'\n{keys}"
    );
    let config: WorkloadConfig = toml::from_str(&text).unwrap();
    let text = |error: host::HostError| error.to_string();
    let mut source = Source::build(&config, 1 << 62, Streams::new(1)).map_err(text)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next().map_err(text)? {
        let Issue::At(at) = request.issue else { panic!("open loop by default") };
        requests.push((at.as_ns(), request.command));
    }
    Ok(requests)
}

/// Lines of a file that resemble the format's, damaged here and there.
fn nearly(format: Format) -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b','), Just(b'\n')]);
    (vec(made(), 1..12), vec(damage, 0..4)).prop_map(move |(made, damage)| {
        let mut text = written(format, &meant(format, &made)).into_bytes();
        for (place, byte) in damage {
            if !text.is_empty() {
                let place = place.index(text.len());
                text[place] = byte;
            }
        }
        text
    })
}

/// Reads a file of any content to its end in every format: the result is rows or an error.
fn read_in_every_way(file: &Scratch) {
    for format in Format::ALL {
        match survey(&file.0, Some(*format)) {
            Ok(known) => {
                let keys = "combine = 'fold'\nspread = 'uniform'";
                let requests = replayed(file, *format, keys).expect("it was surveyed");
                assert_eq!(requests.len() as u64, known.rows);
                assert!(!known.to_string().is_empty());
            }
            Err(told) => assert!(!told.problem.is_empty()),
        }
    }
    if let Ok(found) = survey(&file.0, None) {
        assert!(found.rows > 0);
    }
}

proptest! {
    #![proptest_config(floor::cases!(24))]

    #[test]
    fn any_bytes_give_rows_or_an_error(content in vec(any::<u8>(), 0..400)) {
        read_in_every_way(&Scratch::new(&content));
    }

    #[test]
    fn any_bytes_behind_a_packed_beginning_give_an_error(
        magic in prop_oneof![
            Just(vec![0x1f, 0x8b, 8]),
            Just(vec![0x28, 0xb5, 0x2f, 0xfd]),
            Just(vec![0x52, 0x2a, 0x4d, 0x18]),
        ],
        content in vec(any::<u8>(), 0..200),
    ) {
        read_in_every_way(&Scratch::new(&[magic, content].concat()));
    }

    #[test]
    fn nearly_sound_files_give_rows_or_an_error(
        content in prop::sample::select(Format::ALL).prop_flat_map(nearly),
    ) {
        read_in_every_way(&Scratch::new(&content));
    }

    #[test]
    fn rows_are_read_back_as_they_were_written(made in vec(made(), 1..40)) {
        for format in Format::ALL {
            let rows = meant(*format, &made);
            if rows.is_empty() {
                continue;
            }
            let file = Scratch::new(written(*format, &rows).as_bytes());
            let found = survey(&file.0, Some(*format)).map_err(|e| TestCaseError::fail(e.to_string()))?;
            let first = rows[0].0;
            prop_assert_eq!(found.first_stamp.as_ns(), first * 1_000);
            prop_assert_eq!(found.rows, rows.len() as u64);
            // Names are numbered as they appear, and each has its number in it.
            for device in &found.devices {
                let own = match found.device_name(device.device) {
                    Some(name) => name.trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned(),
                    None => device.device.to_string(),
                };
                let own = own.trim_start_matches("8,").to_owned();
                let keys = format!("devices = [{}]", device.device);
                let read = replayed(&file, *format, &keys).map_err(TestCaseError::fail)?;
                let wanted: Vec<(u64, Command)> = rows
                    .iter()
                    .filter(|(_, device, _)| device.to_string() == own)
                    .map(|(us, _, command)| ((us - first) * 1_000, *command))
                    .collect();
                prop_assert_eq!(read, wanted, "{}, device {}", format.name(), own);
            }
        }
    }
}
