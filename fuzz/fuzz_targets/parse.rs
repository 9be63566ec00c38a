//! Any text is read without a panic, and what is read without an error survives printing,
//! reading again and tidying.

#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus_lang::ast::File;
use saltus_lang::parse;
use saltus_lang::printer::{format, print, without_places};
use saltus_lang::render::{Look, render};
use saltus_model::{SourceMap, Span};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (tree, diagnostics) = parse(0, &text);
    if diagnostics.is_empty() {
        return round_trip(&text, &tree);
    }
    let lies_in_text =
        |span: Span| text.get(span.start as usize..span.end as usize).is_some() && span.file == 0;
    for diagnostic in &diagnostics {
        assert!(lies_in_text(diagnostic.span), "{diagnostic:?}");
        assert!(diagnostic.related.iter().all(|(span, _)| lies_in_text(*span)), "{diagnostic:?}");
    }
    let mut sources = SourceMap::default();
    sources.add("fuzz.salt", text);
    assert!(!render(&diagnostics[..diagnostics.len().min(3)], &sources, Look::Plain).is_empty());
    print(&tree);
});

fn round_trip(text: &str, tree: &File) {
    let shape = without_places(tree);
    let printed = print(tree);
    assert_eq!(shape, without_places(&read(&printed)), "{printed}");
    assert_eq!(print(&read(&printed)), printed);
    let tidy = tidied(text);
    assert_eq!(shape, without_places(&read(&tidy)), "{tidy}");
    assert_eq!(tidied(&tidy), tidy);
}

fn read(text: &str) -> File {
    let (tree, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:?}");
    tree
}

fn tidied(text: &str) -> String {
    format(text).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:?}"))
}
