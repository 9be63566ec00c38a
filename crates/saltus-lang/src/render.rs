//! Diagnostics as text for people: the sentence with its code, the lines it is about with the
//! places marked, and the advice.

use crate::diagnostic::{Diagnostic, Severity};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use saltus_model::{SourceMap, Span};
use std::ops::Range;

/// How diagnostics look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Look {
    /// ASCII without colours, for files and pipes.
    #[default]
    Plain,
    /// With terminal colours.
    Coloured,
}

/// Renders diagnostics, one after another, each followed by an empty line.
///
/// ```
/// use saltus_lang::{Diagnostic, codes, render::{Look, render}};
/// let mut sources = saltus_model::SourceMap::default();
/// let file = sources.add("ball.salt", "model Ball {\n    flow { x' == v }\n}\n");
/// let (_, diagnostics) = saltus_lang::parse(file, &sources.files()[0].text);
/// let text = render(&diagnostics, &sources, Look::Plain);
/// assert!(text.starts_with("error[E001]: an equation is written with `=`"));
/// assert!(text.contains("ball.salt:2:12"));
/// ```
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, look: Look) -> String {
    let renderer = match look {
        Look::Plain => Renderer::plain(),
        Look::Coloured => Renderer::styled(),
    };
    diagnostics.iter().map(|d| renderer.render(&[report(d, sources)]) + "\n\n").collect()
}

fn report<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code);
    let mut group = Group::with_title(title).elements(snippets(diagnostic, sources));
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(hint));
    }
    group
}

/// One snippet per file, the file of the diagnostic itself first.
fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Annotation<'a>>> {
    let mut files = vec![diagnostic.span.file];
    for (span, _) in &diagnostic.related {
        if !files.contains(&span.file) {
            files.push(span.file);
        }
    }
    let mut snippets = Vec::new();
    for file in files {
        let Some(source) = sources.files().get(file as usize) else { continue };
        let marks = |span: Span| (span.file == file).then(|| range_in(&source.text, span));
        let mut snippet = Snippet::source(source.text.as_str()).path(source.path.as_str());
        if let Some(range) = marks(diagnostic.span) {
            snippet = snippet.annotation(labelled(AnnotationKind::Primary, range, &diagnostic.label));
        }
        for (span, label) in &diagnostic.related {
            if let Some(range) = marks(*span) {
                snippet = snippet.annotation(labelled(AnnotationKind::Context, range, label));
            }
        }
        snippets.push(snippet);
    }
    snippets
}

fn labelled<'a>(kind: AnnotationKind, range: Range<usize>, label: &'a str) -> Annotation<'a> {
    let annotation = kind.span(range);
    if label.is_empty() { annotation } else { annotation.label(label) }
}

/// A span as a range that surely lies in the text and between its characters.
fn range_in(text: &str, span: Span) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    start..text.ceil_char_boundary(span.end as usize).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    fn sources() -> SourceMap {
        let mut sources = SourceMap::default();
        sources.add("a.salt", "model A {\n    state φ = 1\n    state φ = 2\n}\n");
        sources.add("b.salt", "use \"a.salt\"\n");
        sources.add("empty.salt", "");
        sources
    }

    fn span(file: u32, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    #[test]
    fn all_parts_are_shown() {
        let diagnostic = Diagnostic::error(codes::DUPLICATE_NAME, span(0, 37, 39), "`φ` is declared twice")
            .label("again")
            .related(span(0, 20, 22), "first here")
            .related(span(1, 0, 12), "through this")
            .hint("rename one of them");
        let expected = "\
error[E102]: `φ` is declared twice
 --> a.salt:3:11
  |
2 |     state φ = 1
  |           - first here
3 |     state φ = 2
  |           ^ again
  |
 ::: b.salt:1:1
  |
1 | use \"a.salt\"
  | ------------ through this
  |
  = help: rename one of them

";
        assert_eq!(render(&[diagnostic], &sources(), Look::Plain), expected);
    }

    #[test]
    fn warnings_and_missing_files_are_shown() {
        let diagnostics = [
            Diagnostic::warning(codes::UNUSED_NAME, span(9, 3, 4), "nothing reads `y`"),
            Diagnostic::error(codes::NO_MODEL, span(2, 0, 0), "no model to run"),
        ];
        let text = render(&diagnostics, &sources(), Look::Plain);
        assert!(
            text.starts_with("warning[W502]: nothing reads `y`\n\nerror[E111]: no model to run\n"),
            "{text}"
        );
        assert!(text.contains("empty.salt:1:1"), "{text}");
    }

    #[test]
    fn spans_outside_the_text_do_no_harm() {
        for (start, end) in [(0, 1000), (1000, 2000), (21, 21), (5, 2)] {
            let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, span(0, start, end), "odd");
            assert!(render(&[diagnostic], &sources(), Look::Plain).contains("a.salt"));
        }
    }

    #[test]
    fn colours_only_when_asked_for() {
        let diagnostic = [Diagnostic::error(codes::UNEXPECTED_TOKEN, span(0, 0, 5), "odd")];
        assert!(render(&diagnostic, &sources(), Look::Coloured).contains('\u{1b}'));
        assert!(!render(&diagnostic, &sources(), Look::Plain).contains('\u{1b}'));
    }
}
