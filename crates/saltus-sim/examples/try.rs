//! Runs a model file and prints its events.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let compiled = saltus_lang::compile(&args[1], &text, None, &|p| {
        std::fs::read_to_string(p).map_err(|e| e.to_string())
    });
    for d in &compiled.diagnostics {
        println!("{} {} {:?}", d.code, d.message, compiled.sources.line_column(d.span));
    }
    let Some(system) = compiled.system else { return };
    let mut options = saltus_sim::Options::default();
    if let Some(r) = args.get(2) {
        options.rtol = r.parse().unwrap();
    }
    if let Some(u) = args.get(3) {
        options.until = Some(u.parse().unwrap());
    }
    options.native_after = if args.len() > 4 { None } else { options.native_after };
    let run = saltus_sim::simulate(&system, options).unwrap();
    for e in run.events.iter().take(60) {
        println!("{:.13} {} {} {} {}", e.stamp.t, e.stamp.n, e.stamp.i, e.kind.word(), e.name);
    }
    println!("{:?}\n{:?}\n{:?}", run.ending, run.stats, run.notes);
    for (i, v) in system.variables.iter().enumerate() {
        if v.kind == saltus_model::VariableKind::State {
            print!("{}={} ", v.name, run.values[i]);
        }
    }
    println!();
}
