//! Starts from files, in place of random ones.

use super::Failure;
use super::cars::{CARS, Car};
use super::corridor::Start;
use serde_json::Value;
use std::path::Path;

/// Grazing and clear starts of the corridor: `cases` and `clear_cases`, each a list of
/// `[x, y, heading, ...]`.
pub fn corridor(path: &Path) -> Result<(Vec<Start>, Vec<Start>), Failure> {
    let data = read(path)?;
    let starts = |key: &str| {
        let rows = rows(&data[key]).filter(|r| r.len() >= 3);
        rows.map(|r| Start { x: r[0], y: r[1], th: r[2] }).collect::<Vec<_>>()
    };
    let (grazing, clear) = (starts("cases"), starts("clear_cases"));
    if grazing.is_empty() {
        return Err(Failure::Data(format!("`{}` has no `cases` for the corridor", path.display())));
    }
    Ok((grazing, clear))
}

/// Starts of the cars: `initial`, by number of cars, each a list of
/// `[x, y, heading, speed, turn rate]`.
pub fn cars(path: &Path) -> Result<Vec<Vec<Car>>, Failure> {
    let data = read(path)?;
    let car = |r: Vec<f64>| Car { x: r[0], y: r[1], th: r[2], v: r[3], w: r[4] };
    let start = |value| rows(value).filter(|r| r.len() == 5).map(car).collect::<Vec<_>>();
    let listed = data["initial"][CARS.to_string()].as_array();
    let starts: Vec<_> = listed.into_iter().flatten().map(start).filter(|s| s.len() == CARS).collect();
    if starts.is_empty() {
        return Err(Failure::Data(format!("`{}` has no starts of {CARS} cars", path.display())));
    }
    Ok(starts)
}

fn read(path: &Path) -> Result<Value, Failure> {
    let wrong = |reason: String| Failure::Data(format!("`{}`: {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
}

fn rows(value: &Value) -> impl Iterator<Item = Vec<f64>> {
    let rows = value.as_array().into_iter().flatten();
    rows.map(|row| row.as_array().into_iter().flatten().filter_map(Value::as_f64).collect())
}
