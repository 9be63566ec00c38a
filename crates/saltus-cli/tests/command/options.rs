//! Options: values set from outside, settings of runs, files, and slips.

use crate::common::{BALL, Folder};

#[test]
fn parameters_and_starting_values_are_set() {
    let folder = Folder::with(BALL);
    let report = folder
        .saltus(&["run", "m.salt", "--json", "--set", "x=2", "--set", "e=0.5", "--until", "0.7"])
        .json();
    let impact = (2.0 * 2.0 / 9.81_f64).sqrt();
    let event = &report["events"][0];
    assert!((event["t"].as_f64().unwrap() - impact).abs() < 1e-9);
    assert_eq!(event["after"]["v"].as_f64().unwrap(), -0.5 * event["before"]["v"].as_f64().unwrap());
    assert_eq!(report["stop"]["t"].as_f64(), Some(0.7));
}

#[test]
fn paths_lead_into_instances_and_sizes_follow_parameters() {
    let model = "\
component Tank(rate = 1) { state h = 0; h' = rate }
model M { param n = 2; tanks: Tank[n](rate = 3); run { until 1 } }
";
    let folder = Folder::with(model);
    let set = ["--set", "n=3", "--set", "tanks[3].rate=5", "--set", "tanks[1].h=1"];
    let report = folder.saltus(&[&["run", "m.salt", "--json"], &set[..]].concat()).json();
    let h = |k: usize| report["final"][format!("tanks[{k}].h")].as_f64().unwrap();
    assert_eq!([h(1), h(2), h(3)], [4.0, 3.0, 5.0], "{report}");
    let answer = folder.saltus(&["run", "m.salt", "--set", "tanks[1].rat=5"]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("did you mean `tanks[1].rate`?"), "{}", answer.err);
}

#[test]
fn one_of_several_models_is_chosen() {
    let folder = Folder::with("model A { run { until 1 } }\nmodel B { run { until 2 } }\n");
    let report = folder.saltus(&["run", "m.salt", "--model", "B", "--json"]).json();
    assert_eq!((report["model"].as_str(), report["stop"]["t"].as_f64()), (Some("B"), Some(2.0)));
    let answer = folder.saltus(&["run", "m.salt"]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains('A') && answer.err.contains('B'), "{}", answer.err);
}

#[test]
fn settings_of_the_run_block_hold_unless_overruled() {
    let model = "model M {
        state x = 0
        x' = 1
        automaton A { initial mode P { may when x >= 1 -> Q }; mode Q { } }
        run { until 2; policy lazy }
    }";
    let folder = Folder::with(model);
    assert_eq!(folder.saltus(&["run", "m.salt", "--json"]).json()["modes"]["A"], "P");
    assert_eq!(folder.saltus(&["run", "m.salt", "--json", "--policy", "eager"]).json()["modes"]["A"], "Q");
}

#[test]
fn tables_read_back_to_the_same_numbers() {
    let folder = Folder::with(BALL);
    let answer = folder.saltus(&["run", "m.salt", "--json", "--out", "t.csv"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let report = answer.json();
    let text = folder.read("t.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,n,i,x,v"));
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
    let last = rows.last().unwrap();
    assert_eq!(last[0], 5.0);
    assert_eq!(
        (Some(last[3]), Some(last[4])),
        (report["final"]["x"].as_f64(), report["final"]["v"].as_f64())
    );
    // Both limits of the first impact, with the values of the event.
    let event = &report["events"][0];
    let t = event["t"].as_f64().unwrap();
    let limits: Vec<_> = rows.iter().filter(|r| r[0] == t).collect();
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert_eq!((limits[0][1], limits[1][1]), (0.0, 1.0));
    assert_eq!(Some(limits[0][4]), event["before"]["v"].as_f64());
    assert_eq!(Some(limits[1][4]), event["after"]["v"].as_f64());
    assert!(rows.windows(2).all(|w| (w[0][0], w[0][1], w[0][2]) < (w[1][0], w[1][1], w[1][2])));
}

#[test]
fn variables_called_like_stamps_are_told_apart_from_them() {
    let folder = Folder::with("model M { state i = 5; memory n = 2; hold i; run { until 1 } }");
    folder.saltus(&["run", "m.salt", "--quiet", "--out", "t.csv", "--sample", "1"]);
    assert_eq!(folder.read("t.csv"), "t,n,i,model.i,model.n\n0,0,0,5,2\n1,0,0,5,2\n");
    folder.write("r.salt", "model R { output y = csv(\"t.csv\", \"model.i\"); run { until 1 } }");
    let answer = folder.saltus(&["run", "r.salt", "--json"]);
    assert_eq!(answer.json()["final"]["y"], 5.0, "{}", answer.err);
}

#[test]
fn modes_are_columns_and_their_variables_come_and_go() {
    let model = "model M {
        automaton A {
            initial mode P { after 1 -> Q }
            mode Q { state y = 3; y' = 1 }
        }
        run { until 2 }
    }";
    let folder = Folder::with(model);
    folder.saltus(&["run", "m.salt", "--quiet", "--out", "t.csv", "--sample", "0.5"]);
    let expected = "t,n,i,A.Q.y,A\n0,0,0,,P\n0.5,0,0,,P\n1,0,0,,P\n1,1,0,3,Q\n1.5,0,0,3.5,Q\n2,0,0,4,Q\n";
    let table = folder.read("t.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    assert!(header.starts_with("t,n,i,") && header.ends_with(",A"), "{header}");
    assert_eq!(rows, expected.split_once('\n').unwrap().1);
}

#[test]
fn a_model_that_asks_for_plots_gets_a_picture_beside_the_summary() {
    let folder = Folder::with(BALL);
    let answer = folder.saltus(&["run", "m.salt"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    assert!(answer.out.starts_with("Ball finished at t = 5\n"), "{}", answer.out);
    assert!(answer.out.contains("reactions") && answer.out.contains("written   m.svg"), "{}", answer.out);
    assert!(folder.read("m.svg").contains("<svg"));
    let quiet = folder.saltus(&["run", "m.salt", "--quiet"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[cfg(feature = "png")]
#[test]
fn pictures_have_the_format_of_their_name() {
    let folder = Folder::with(BALL);
    let answer = folder.saltus(&["run", "m.salt", "--plot", "a.png", "--plot", "b.svg"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let png = std::fs::read(folder.path().join("a.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    assert!(folder.read("b.svg").starts_with("<"));
    let answer = folder.saltus(&["graph", "m.salt"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "written m.graph.svg\n"));
    assert!(folder.read("m.graph.svg").contains("Ball"));
}

#[test]
fn used_files_are_found_beside_the_model() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    folder.write("sub/lib.salt", "param k = 2\n");
    folder.write("sub/m.salt", "use \"lib.salt\"\nmodel M { state x = 0; x' = k; run { until 1 } }\n");
    let report = folder.saltus(&["run", "sub/m.salt", "--json"]).json();
    assert_eq!(report["final"]["x"].as_f64(), Some(2.0), "{report}");
}

#[test]
fn slips_get_one_line() {
    let folder = Folder::with(BALL);
    for (arguments, said) in [
        (&["run", "m.salt", "--plott", "a.svg"][..], "did you mean `--plot`?"),
        (&["run", "m.salt", "--set", "gg=1"], "did you mean `g`?"),
        (&["run", "m.salt", "--set", "g"], "path=value"),
        (&["run", "m.salt", "--until", "soon"], "`until` needs a number from 0, not `soon`"),
        (&["run", "m.salt", "--rtol", "-1"], "`rtol` needs a number"),
        (&["run", "m.salt", "--solver", "radau"], "not available yet"),
        (&["run", "m.salt", "--events", "certifed"], "did you mean `certified`?"),
        (&["run", "m.salt", "--threads", "2"], "not available yet"),
        (&["run", "m.salt", "--plot", "a.gif"], "`.gif` is not a format for pictures"),
        (&["run", "m.salt", "--out", "a.txt"], "`.txt` is not a format for tables"),
        (&["run", "m.salt", "--out", "none/a.csv"], "there is no folder `none`"),
        (&["run", "m.salt", "--out", "a.csv", "--sample", "1e-12"], "too many rows"),
        (&["run", "n.salt"], "there is no such file"),
        (&["run"], "needs the file of a model"),
        (&["reproduce", "tabel1"], "did you mean `table1`?"),
        (&["reproduce", "table1", "--runs", "0"], "needs a whole number from 1"),
        (&["reproduce", "table1", "--starts", "none.json"], "`none.json`"),
        (&["graph", "m.salt", "--out", "a.pdf"], "`.pdf` is not a format for pictures"),
        (&["chek", "m.salt"], "did you mean `check`?"),
    ] {
        let answer = folder.saltus(arguments);
        assert_eq!(answer.code, Some(1), "{arguments:?}: {}", answer.err);
        assert!(answer.err.contains(said), "{arguments:?}: {}", answer.err);
        assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
        assert_eq!(answer.out, "", "{arguments:?}");
    }
}

#[test]
fn a_table_of_a_paper_is_recomputed() {
    let folder = Folder::new();
    let answer = folder.saltus(&["reproduce", "table1", "--runs", "5", "--seed", "3", "--out", "pictures"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    assert!(answer.out.contains("seed 3"), "{}", answer.out);
    let row = |name: &str| {
        let line = answer.out.lines().find(|l| l.contains(name)).unwrap_or_default();
        line.split_whitespace().filter_map(|w| w.parse().ok()).collect::<Vec<u32>>()
    };
    assert_eq!(row("taylor, extrapolation")[..4], [5, 0, 0, 0], "{}", answer.out);
    assert_eq!(row("adams, extrapolation")[..4], [5, 0, 0, 0], "{}", answer.out);
    assert!(answer.out.contains("32 %"));
    assert!(answer.out.contains("written: pictures/table1_paths.svg"), "{}", answer.out);
}

#[test]
fn help_and_version() {
    let folder = Folder::new();
    for arguments in [&["--help"][..], &["run", "--help"], &["check", "-h"], &["graph", "--help"], &[]] {
        let answer = folder.saltus(arguments);
        assert_eq!(answer.code, Some(0));
        assert!(answer.out.contains("usage: saltus"), "{}", answer.out);
    }
    assert_eq!(folder.saltus(&["--version"]).out, format!("saltus {}\n", env!("CARGO_PKG_VERSION")));
}
