//! Tables written as Arrow and Parquet read back unchanged, over several batches.
#![cfg(all(feature = "arrow", feature = "parquet"))]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use saltus_io::columnar::ColumnarWriter;
use saltus_io::table::{Column, ColumnKind, Instant, TableError, TableWriter, Value};
use std::fs::File;
use std::path::PathBuf;

const ROWS: usize = 20_000;

fn columns() -> Vec<Column> {
    vec![
        Column::new("x", ColumnKind::Real),
        Column::new("i", ColumnKind::Integer),
        Column::new("flag", ColumnKind::Boolean),
        Column::new("mode", ColumnKind::Text),
    ]
}

fn write(mut table: Box<ColumnarWriter>) -> Result<(), TableError> {
    for k in 0..ROWS {
        let at = Instant { t: (k / 2) as f64 * 0.1, n: (k % 2) as u32, i: 0 };
        let x = if k % 7 == 0 { Value::Missing } else { Value::Real(1.0 / k as f64) };
        let mode = if k % 3 == 0 { "On" } else { "Off" };
        table.row(at, &[x, Value::Integer(k as i64), Value::Boolean(k % 2 == 0), Value::Text(mode)])?;
    }
    table.finish()
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("saltus-columnar-{}-{name}", std::process::id()))
}

fn check(batches: impl Iterator<Item = RecordBatch>) {
    let mut k = 0;
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).expect("column");
        for row in 0..batch.num_rows() {
            assert_eq!(column("t").as_primitive::<Float64Type>().value(row), (k / 2) as f64 * 0.1);
            assert_eq!(column("n").as_primitive::<UInt32Type>().value(row), (k % 2) as u32);
            assert_eq!(column("i").as_primitive::<UInt32Type>().value(row), 0);
            assert_eq!(column("model.i").as_primitive::<Int64Type>().value(row), k as i64);
            let x = column("x").as_primitive::<Float64Type>();
            assert_eq!(x.is_null(row), k % 7 == 0);
            assert!(x.is_null(row) || x.value(row).to_bits() == (1.0 / k as f64).to_bits());
            assert_eq!(column("mode").as_string::<i32>().value(row), if k % 3 == 0 { "On" } else { "Off" });
            k += 1;
        }
    }
    assert_eq!(k, ROWS);
}

#[test]
fn arrow_reads_back() {
    let path = path("a.arrow");
    write(Box::new(ColumnarWriter::arrow(File::create(&path).unwrap(), &columns()).unwrap())).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(&path).unwrap(), None).unwrap();
    check(reader.map(Result::unwrap));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn parquet_reads_back() {
    let path = path("a.parquet");
    write(Box::new(ColumnarWriter::parquet(File::create(&path).unwrap(), &columns()).unwrap())).unwrap();
    let file = File::open(&path).unwrap();
    let builder = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    check(builder.build().unwrap().map(Result::unwrap));
    std::fs::remove_file(path).unwrap();
}
