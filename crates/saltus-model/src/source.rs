//! Places in source text.

/// A range of bytes in one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Index into the [`SourceMap`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both (in the same file).
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user gave it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// The source files of a model; [`Span::file`] indexes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and returns its index.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> u32 {
        self.files.push(SourceFile { path: path.into(), text: text.into() });
        self.files.len() as u32 - 1
    }

    /// All files.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The path of the file a span lies in; empty for systems made without text.
    pub fn path(&self, span: Span) -> &str {
        self.files.get(span.file as usize).map_or("", |f| &f.path)
    }

    /// Line and column (both from 1, columns in characters) of the start of a span.
    ///
    /// ```
    /// let mut map = saltus_model::SourceMap::default();
    /// let file = map.add("a.salt", "model A {\n  state x = 1\n}");
    /// let span = saltus_model::Span { file, start: 12, end: 17 };
    /// assert_eq!(map.line_column(span), (2, 3));
    /// assert_eq!(map.text(span), "state");
    /// ```
    pub fn line_column(&self, span: Span) -> (u32, u32) {
        let Some(file) = self.files.get(span.file as usize) else { return (0, 0) };
        let before = &file.text[..(span.start as usize).min(file.text.len())];
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) as u32 + 1;
        (line, column)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.files
            .get(span.file as usize)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}
