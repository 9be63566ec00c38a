//! The limits on depth and height keep every later pass within a small stack too.

use saltus_lang::{MAX_DEPTH, MAX_HEIGHT, codes, compile};

/// Compiles a model with one equation `x' = ...` in a thread with the stack of a test thread.
fn check(right_hand_side: String) {
    let work = move || {
        let text = format!("model A {{ state x = 1; x' = {right_hand_side} }}");
        let compiled = compile("a.salt", &text, None, &|_| Err("no files".into()));
        let refused = compiled.diagnostics.iter().any(|d| d.code == codes::TOO_DEEP);
        assert!(compiled.system.is_some() != refused, "{:?}", compiled.diagnostics);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn the_tallest_and_deepest_expressions_are_compiled_or_refused() {
    let terms = MAX_HEIGHT as usize - 1;
    check(vec!["x"; terms].join(" + "));
    check(vec!["x"; terms].join(" * "));
    let levels = MAX_DEPTH as usize - 8;
    check(format!("{}x{}", "(1 + ".repeat(levels / 2), ")".repeat(levels / 2)));
    check(format!("{}x{}", "sin(".repeat(levels), ")".repeat(levels)));
    check(format!("{}x", "if x > 0 then 1 else ".repeat(levels)));
    check(format!("{}x", "-".repeat(levels)));
}
