//! Columns for Polars, PyArrow or DuckDB: any library with Arrow's PyCapsule interface takes them
//! without a copy.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use drive::results::{self, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// Columns of equal length.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Table {
    #[pyo3(get)]
    name: &'static str,
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The table as an Arrow stream of one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore the schema that the consumer requests.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }
}

impl From<results::Table> for Table {
    fn from(table: results::Table) -> Self {
        let columns = table.columns.into_iter().map(|(name, values)| (name, array(values)));
        let batch =
            RecordBatch::try_from_iter(columns).expect("columns of a table are equally long");
        Self { name: table.name, batch }
    }
}

fn array(values: Values) -> ArrayRef {
    match values {
        Values::U64(values) => Arc::new(UInt64Array::from(values)),
        Values::F64(values) => Arc::new(Float64Array::from(values)),
        Values::Text(values) => Arc::new(StringArray::from(values)),
    }
}
