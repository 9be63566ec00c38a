//! Results as files; the ending of a name says the format.

use crate::Error;
use saltus_io::csv::CsvWriter;
use saltus_io::scene::Scene;
use saltus_io::table::{Column, TableWriter};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Image pixels for each pixel of a picture.
#[cfg(feature = "png")]
const PNG_SCALE: f64 = 2.0;

/// Formats of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Scalable.
    Svg,
    /// Pixels.
    Png,
}

/// Formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated text.
    Csv,
    /// Apache Arrow.
    Arrow,
    /// Apache Parquet.
    Parquet,
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn unknown(path: &Path, what: &str, known: &str) -> Error {
    let reason = match ending(path).as_str() {
        "" => format!("its name has no ending that says the format; {what} are {known}"),
        other => format!("`.{other}` is not a format for {what}; these are {known}"),
    };
    Error::Format { path: path.into(), reason }
}

fn missing(path: &Path, feature: &str) -> Error {
    let reason = format!("this build is without {feature}; build with `--features {feature}`");
    Error::Format { path: path.into(), reason }
}

impl PictureFormat {
    /// The format that the name of a file asks for.
    ///
    /// ```
    /// use saltus::PictureFormat;
    /// assert_eq!(PictureFormat::of("run.svg".as_ref())?, PictureFormat::Svg);
    /// assert!(PictureFormat::of("run.gif".as_ref()).is_err());
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn of(path: &Path) -> Result<Self, Error> {
        match ending(path).as_str() {
            "svg" => Ok(Self::Svg),
            "png" if cfg!(feature = "png") => Ok(Self::Png),
            "png" => Err(missing(path, "png")),
            _ => Err(unknown(path, "pictures", "`.svg` and `.png`")),
        }
    }
}

impl TableFormat {
    /// The format that the name of a file asks for.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match ending(path).as_str() {
            "csv" => Ok(Self::Csv),
            "arrow" if cfg!(feature = "arrow") => Ok(Self::Arrow),
            "parquet" if cfg!(feature = "parquet") => Ok(Self::Parquet),
            "arrow" => Err(missing(path, "arrow")),
            "parquet" => Err(missing(path, "parquet")),
            _ => Err(unknown(path, "tables", "`.csv`, `.arrow` and `.parquet`")),
        }
    }
}

fn failed(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Write { path: path.into(), reason: reason.to_string() }
}

/// Writes a picture in the format its name asks for.
pub fn save_picture(scene: &Scene, path: &Path) -> Result<(), Error> {
    let bytes = match PictureFormat::of(path)? {
        PictureFormat::Svg => saltus_io::svg::write(scene).into_bytes(),
        #[cfg(feature = "png")]
        PictureFormat::Png => saltus_io::png::write(scene, PNG_SCALE).map_err(|e| failed(path, e))?,
        #[cfg(not(feature = "png"))]
        PictureFormat::Png => return Err(missing(path, "png")),
    };
    std::fs::write(path, bytes).map_err(|e| failed(path, e))
}

/// Writes a table in the format its name asks for; `rows` gives its rows to the writer.
pub(crate) fn save_table(
    path: &Path,
    columns: &[Column],
    rows: impl FnOnce(Box<dyn TableWriter>) -> Result<(), saltus_io::table::TableError>,
) -> Result<(), Error> {
    let format = TableFormat::of(path)?;
    let file = BufWriter::new(File::create(path).map_err(|e| failed(path, e))?);
    let writer = table_writer(format, file, columns).map_err(|e| failed(path, e))?;
    rows(writer).map_err(|e| failed(path, e))
}

fn table_writer(
    format: TableFormat,
    file: BufWriter<File>,
    columns: &[Column],
) -> Result<Box<dyn TableWriter>, saltus_io::table::TableError> {
    match format {
        TableFormat::Csv => Ok(Box::new(CsvWriter::new(file, columns)?)),
        #[cfg(feature = "arrow")]
        TableFormat::Arrow => Ok(Box::new(saltus_io::columnar::ColumnarWriter::arrow(file, columns)?)),
        #[cfg(feature = "parquet")]
        TableFormat::Parquet => Ok(Box::new(saltus_io::columnar::ColumnarWriter::parquet(file, columns)?)),
        #[cfg(not(all(feature = "arrow", feature = "parquet")))]
        other => {
            let reason = format!("this build cannot write {other:?} files");
            Err(saltus_io::table::TableError::Format(reason))
        }
    }
}
