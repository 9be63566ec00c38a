//! Diagnostics: what is wrong with a model, where, why, and what to do about it.

use saltus_model::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model can run, but something looks wrong.
    Warning,
    /// The model cannot run.
    Error,
}

/// One finding about a model text.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Stable code, one of [`crate::codes`].
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one plain sentence.
    pub message: String,
    /// The place it is about.
    pub span: Span,
    /// A word or two for the marked text.
    pub label: String,
    /// Other places that take part (for example the first of two definitions).
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error with a code, a sentence and a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            hint: None,
        }
    }

    /// A warning with a code, a sentence and a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// With a label on the marked text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With a further place.
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }

    /// With advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
