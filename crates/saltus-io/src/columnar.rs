//! Results as Apache Arrow or Parquet files.
//!
//! Rows are gathered column by column and handed on in batches, so memory does not grow with the
//! length of a run.

use crate::table::{Column, ColumnKind, Instant, STAMPS, TableError, TableWriter, Value, check_row};
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::io::Write;
use std::sync::Arc;

/// Rows in a batch.
const BATCH: usize = 8192;

/// A file that takes batches.
trait Sink {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), TableError>;
    fn close(self: Box<Self>) -> Result<(), TableError>;
}

/// Writes a table as Arrow (IPC file) or Parquet.
pub struct ColumnarWriter {
    columns: Vec<Column>,
    schema: SchemaRef,
    stamps: (Float64Builder, UInt32Builder, UInt32Builder),
    cells: Vec<Cells>,
    rows: usize,
    sink: Box<dyn Sink>,
}

/// The gathered cells of a column.
enum Cells {
    Real(Float64Builder),
    Integer(Int64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
}

impl Cells {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Real => Cells::Real(Float64Builder::new()),
            ColumnKind::Integer => Cells::Integer(Int64Builder::new()),
            ColumnKind::Boolean => Cells::Boolean(BooleanBuilder::new()),
            ColumnKind::Text => Cells::Text(StringBuilder::new()),
        }
    }

    /// Adds a value of the column's kind; any other is missing.
    fn push(&mut self, value: &Value<'_>) {
        match (self, value) {
            (Cells::Real(cells), Value::Real(x)) => cells.append_value(*x),
            (Cells::Integer(cells), Value::Integer(k)) => cells.append_value(*k),
            (Cells::Boolean(cells), Value::Boolean(b)) => cells.append_value(*b),
            (Cells::Text(cells), Value::Text(text)) => cells.append_value(text),
            (Cells::Real(cells), _) => cells.append_null(),
            (Cells::Integer(cells), _) => cells.append_null(),
            (Cells::Boolean(cells), _) => cells.append_null(),
            (Cells::Text(cells), _) => cells.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Cells::Real(cells) => Arc::new(cells.finish()),
            Cells::Integer(cells) => Arc::new(cells.finish()),
            Cells::Boolean(cells) => Arc::new(cells.finish()),
            Cells::Text(cells) => Arc::new(cells.finish()),
        }
    }
}

fn schema(columns: &[Column]) -> SchemaRef {
    let kinds = [DataType::Float64, DataType::UInt32, DataType::UInt32];
    let stamps = STAMPS.into_iter().zip(kinds).map(|(name, kind)| Field::new(name, kind, false));
    let kind = |kind| match kind {
        ColumnKind::Real => DataType::Float64,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Boolean => DataType::Boolean,
        ColumnKind::Text => DataType::Utf8,
    };
    let cells = columns.iter().map(|c| Field::new(c.heading(), kind(c.kind), true));
    Arc::new(Schema::new(stamps.chain(cells).collect::<Vec<_>>()))
}

fn refused(error: impl std::fmt::Display) -> TableError {
    TableError::Format(error.to_string())
}

impl ColumnarWriter {
    /// Starts an Arrow file.
    ///
    /// ```
    /// use saltus_io::columnar::ColumnarWriter;
    /// use saltus_io::table::{Column, ColumnKind, Instant, TableWriter, Value};
    /// let columns = [Column::new("x", ColumnKind::Real), Column::new("control", ColumnKind::Text)];
    /// let path = std::env::temp_dir().join("saltus-columnar-example.arrow");
    /// let mut table = Box::new(ColumnarWriter::arrow(std::fs::File::create(&path)?, &columns)?);
    /// table.row(Instant { t: 0.5, n: 0, i: 0 }, &[Value::Real(0.1), Value::Text("Off")])?;
    /// table.finish()?;
    /// assert_eq!(&std::fs::read(&path)?[..6], b"ARROW1");
    /// # Ok::<(), saltus_io::table::TableError>(())
    /// ```
    #[cfg(feature = "arrow")]
    pub fn arrow(out: impl Write + 'static, columns: &[Column]) -> Result<Self, TableError> {
        let schema = schema(columns);
        let writer = arrow_ipc::writer::FileWriter::try_new(out, &schema).map_err(refused)?;
        Ok(Self::new(columns, schema, Box::new(ArrowSink(writer))))
    }

    /// Starts a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(out: impl Write + Send + 'static, columns: &[Column]) -> Result<Self, TableError> {
        let schema = schema(columns);
        let writer = parquet::arrow::ArrowWriter::try_new(out, schema.clone(), None).map_err(refused)?;
        Ok(Self::new(columns, schema, Box::new(ParquetSink(writer))))
    }

    fn new(columns: &[Column], schema: SchemaRef, sink: Box<dyn Sink>) -> Self {
        let stamps = (Float64Builder::new(), UInt32Builder::new(), UInt32Builder::new());
        let cells = columns.iter().map(|c| Cells::new(c.kind)).collect();
        Self { columns: columns.to_vec(), schema, stamps, cells, rows: 0, sink }
    }

    fn flush(&mut self) -> Result<(), TableError> {
        let (t, n, i) = &mut self.stamps;
        let stamps: [ArrayRef; 3] = [Arc::new(t.finish()), Arc::new(n.finish()), Arc::new(i.finish())];
        let arrays = stamps.into_iter().chain(self.cells.iter_mut().map(Cells::finish)).collect();
        self.rows = 0;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(refused)?;
        self.sink.batch(&batch)
    }
}

impl TableWriter for ColumnarWriter {
    fn row(&mut self, at: Instant, values: &[Value<'_>]) -> Result<(), TableError> {
        check_row(&self.columns, at, values)?;
        self.stamps.0.append_value(at.t);
        self.stamps.1.append_value(at.n);
        self.stamps.2.append_value(at.i);
        self.cells.iter_mut().zip(values).for_each(|(cells, value)| cells.push(value));
        self.rows += 1;
        if self.rows == BATCH { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), TableError> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.sink.close()
    }
}

#[cfg(feature = "arrow")]
struct ArrowSink<W: Write>(arrow_ipc::writer::FileWriter<W>);

#[cfg(feature = "arrow")]
impl<W: Write> Sink for ArrowSink<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.0.write(batch).map_err(refused)
    }

    fn close(mut self: Box<Self>) -> Result<(), TableError> {
        self.0.finish().map_err(refused)
    }
}

#[cfg(feature = "parquet")]
struct ParquetSink<W: Write + Send>(parquet::arrow::ArrowWriter<W>);

#[cfg(feature = "parquet")]
impl<W: Write + Send> Sink for ParquetSink<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.0.write(batch).map_err(refused)
    }

    fn close(self: Box<Self>) -> Result<(), TableError> {
        self.0.close().map(|_| ()).map_err(refused)
    }
}
