//! The log of requests as a Parquet file, written in row groups during the run.

use drive::requests::{Logged, RequestLog};
use metrics::State;
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

/// Approximate requests in a row group: they take 10 MB in memory, and columns of them compress
/// well.
const ROWS: usize = 1 << 16;

/// Columns that ascend, or nearly: only their differences are stored.
const RISING: [&str; 3] = ["index", "arrived_ns", "finished_ns"];

/// A file of requests that is being written.
pub struct RequestsFile {
    writer: SerializedFileWriter<BufWriter<File>>,
    /// Names of the initiators.
    initiators: Vec<ByteArray>,
}

impl RequestsFile {
    /// Creates the file, for requests of initiators with these names.
    pub fn create(path: &Path, names: Vec<String>) -> Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let schema = Arc::new(parse_message_type(&schema())?);
        let mut properties = WriterProperties::builder().set_compression(Compression::LZ4_RAW);
        for name in RISING {
            let path = ColumnPath::from(name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
        let initiators = names.into_iter().map(|name| name.into_bytes().into()).collect();
        Ok(Self { writer, initiators })
    }

    /// Writes and empties the log if it suffices for a row group.
    pub fn write_if_full(&mut self, log: &mut RequestLog) -> Result<()> {
        if log.rows().len() < ROWS {
            return Ok(());
        }
        self.write(log)
    }

    /// Writes the rest of the log, then the keys and values about the run.
    pub fn end(mut self, log: &mut RequestLog, about: Vec<(String, String)>) -> Result<()> {
        if !log.rows().is_empty() {
            self.write(log)?;
        }
        for (key, value) in about {
            self.writer.append_key_value_metadata(KeyValue::new(key, value));
        }
        self.writer.finish()?;
        self.writer.inner().get_ref().sync_all()?;
        Ok(())
    }

    fn write(&mut self, log: &mut RequestLog) -> Result<()> {
        let rows = log.rows();
        let mut group = self.writer.next_row_group()?;
        let initiator = |row: &Logged| self.initiators[row.initiator as usize].clone();
        let kinds = host::Kind::ALL.map(|kind| ByteArray::from(kind.name()));
        let latency = |row: &Logged| (row.finished - row.arrived).as_ns();
        texts(&mut group, rows.iter().map(initiator))?;
        numbers(&mut group, rows.iter().map(|row| row.number))?;
        texts(&mut group, rows.iter().map(|row| kinds[row.command.kind.index()].clone()))?;
        numbers(&mut group, rows.iter().map(|row| row.command.offset))?;
        numbers(&mut group, rows.iter().map(|row| row.command.bytes))?;
        numbers(&mut group, rows.iter().map(|row| row.arrived.as_ns()))?;
        numbers(&mut group, rows.iter().map(|row| row.finished.as_ns()))?;
        numbers(&mut group, rows.iter().map(latency))?;
        numbers(&mut group, rows.iter().map(|row| u64::from(row.unmapped)))?;
        numbers(&mut group, rows.iter().map(|row| u64::from(row.failed)))?;
        for state in State::ALL {
            numbers(&mut group, log.spent_ns(state).into_iter())?;
        }
        group.close()?;
        log.clear();
        Ok(())
    }
}

/// Names and types of the columns, in the schema language of Parquet.
fn schema() -> String {
    let text = |name: &str| format!("required binary {name} (STRING);");
    let number = |name: &str| format!("required int64 {name} (INTEGER(64,false));");
    let mut fields = vec![text("initiator"), number("index"), text("kind")];
    let figures = ["offset_bytes", "length_bytes", "arrived_ns", "finished_ns", "latency_ns"];
    fields.extend(figures.map(number));
    fields.extend(["unmapped", "failed"].map(number));
    fields.extend(State::ALL.map(|state| number(&format!("{}_ns", state.name()))));
    format!("message requests {{ {} }}", fields.join(" "))
}

type Group<'a> = SerializedRowGroupWriter<'a, BufWriter<File>>;

fn numbers(group: &mut Group<'_>, values: impl Iterator<Item = u64>) -> Result<()> {
    // Parquet stores unsigned numbers as signed ones with the same bits.
    let values: Vec<i64> = values.map(|value| value as i64).collect();
    next(group, |writer| match writer {
        ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&values, None, None),
        _ => Err(ParquetError::General("the column has no numbers".into())),
    })
}

fn texts(group: &mut Group<'_>, values: impl Iterator<Item = ByteArray>) -> Result<()> {
    let values: Vec<ByteArray> = values.collect();
    next(group, |writer| match writer {
        ColumnWriter::ByteArrayColumnWriter(writer) => writer.write_batch(&values, None, None),
        _ => Err(ParquetError::General("the column has no texts".into())),
    })
}

fn next(
    group: &mut Group<'_>,
    write: impl FnOnce(&mut ColumnWriter<'_>) -> Result<usize>,
) -> Result<()> {
    let missing = || ParquetError::General("there are more columns than the schema has".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    write(column.untyped())?;
    column.close()
}
