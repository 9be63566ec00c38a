//! What is written as CSV reads back unchanged, to the last bit.

use proptest::prelude::*;
use saltus_io::csv::CsvWriter;
use saltus_io::table::{Column, ColumnKind, Instant, TableWriter, Value};
use saltus_lang::csv::CsvTable;

fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

proptest! {
    #[test]
    fn numbers_and_texts_survive(
        rows in proptest::collection::vec((finite(), "[ -~\n\t,;\"#]{0,12}"), 1..20),
        name in "[a-z][a-zA-Z0-9_.,;\" ]{0,10}[a-z]",
    ) {
        let columns = [Column::new(name.clone(), ColumnKind::Real), Column::new("the mode", ColumnKind::Text)];
        let mut bytes = Vec::new();
        let mut csv = Box::new(CsvWriter::new(&mut bytes, &columns).unwrap());
        for (k, (x, text)) in rows.iter().enumerate() {
            let at = Instant { t: (k / 2) as f64 * 0.1, n: 0, i: (k % 2) as u32 };
            csv.row(at, &[Value::Real(*x), Value::Text(text)]).unwrap();
        }
        csv.finish().unwrap();
        let table = CsvTable::read(std::str::from_utf8(&bytes).unwrap()).unwrap();
        let numbers = table.numbers(&name).unwrap();
        prop_assert_eq!(numbers.len(), rows.len());
        for (back, (x, _)) in numbers.iter().zip(&rows) {
            prop_assert_eq!(back.to_bits(), x.to_bits());
        }
        let texts = table.texts("the mode").unwrap();
        prop_assert!(texts.iter().zip(&rows).all(|(back, (_, text))| back == text));
        prop_assert!(table.numbers("t").is_ok());
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[0-9a,;\"#\n\r\t .-]{0,60}") {
        if let Ok(table) = CsvTable::read(&text) {
            for name in table.names() {
                let _ = table.numbers(name);
                let twice = table.names().filter(|n| *n == name).count() > 1;
                prop_assert!(twice || table.texts(name).is_ok_and(|texts| !texts.is_empty()));
            }
        }
    }
}
