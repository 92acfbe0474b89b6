//! From a URI back to the values.
//!
//! The template is a row of steps: literals, and runs of characters of a class. Which steps can match the rest of the
//! URI is worked out from its end, one word of bits for each place; then the URI is cut from its beginning, each run as
//! long as the rest still fits. So the time is that of the URI's length times the template's, whatever they hold.

use crate::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    Expression, Modifier, Operator, Part, TemplateValue, UriTemplate, Variables, expand,
    is_reserved, is_unreserved,
};

/// One step of a template.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Literal(Box<str>),
    /// This byte, or neither it nor the next step.
    Optional(u8),
    /// One byte of the class; the run goes on with the next step.
    One(Class),
    /// Any number of bytes of the class, which belong to this part of the template.
    Run(Class, usize),
}

/// Which bytes an expression can have been written as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    reserved: Reserved,
    separator: bool,
    assign: bool,
    operator: Operator,
}

#[derive(Clone, Copy, Debug)]
enum Reserved {
    No,
    /// But for those that end the part of the URI where the expression stands.
    Most,
    All,
}

impl Class {
    fn of(expression: &Expression) -> Self {
        let several = expression.variables.len() > 1;
        let explodes = expression
            .variables
            .iter()
            .any(|variable| variable.modifier == Modifier::Explode);
        let operator = expression.operator;
        Self {
            reserved: match operator {
                Operator::Reserved | Operator::Fragment => Reserved::All,
                // Clients that write queries by hand leave alone what need not be encoded there.
                Operator::Query | Operator::QueryMore => Reserved::Most,
                Operator::Simple | Operator::Label | Operator::Path | Operator::Parameter => {
                    Reserved::No
                }
            },
            separator: several || explodes,
            assign: explodes || operator.is_named(),
            operator,
        }
    }

    fn contains(self, byte: u8) -> bool {
        if is_unreserved(byte) || matches!(byte, b'%' | b',') {
            return true;
        }
        if byte == b'=' && self.assign {
            return true;
        }
        match self.reserved {
            Reserved::All => is_reserved(byte),
            Reserved::Most if byte == b'#' => false,
            Reserved::Most if byte != b'&' => is_reserved(byte),
            Reserved::Most | Reserved::No => self.separator && byte == self.operator.separator(),
        }
    }
}

/// The most steps a template may have: bits of a word, one of them for the end.
const MAX_STEPS: usize = 63;

/// The longest URI that is looked at, in bytes once encoded.
const MAX_URI: usize = 64 * 1024;

pub(super) fn steps(parts: &[Part]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Literal(literal) => steps.push(Step::Literal(literal.clone())),
            Part::Expression(expression) => {
                let class = Class::of(expression);
                steps.push(match expression.operator.first() {
                    Some(first) => Step::Optional(first),
                    None => Step::One(class),
                });
                steps.push(Step::Run(class, at));
            }
        }
        if steps.len() > MAX_STEPS {
            return None;
        }
    }
    Some(steps)
}

impl UriTemplate<'_> {
    /// The values that make it this URI; `None` if none do, or if the URI has more than 64 KiB.
    ///
    /// Where there are several ways, each expression takes as much as it can, the first ones first. `{x}` and `{+x}` take
    /// at least one character; expressions with another operator may be absent, and their variables are then. Values are
    /// decoded, so that `{x}` may find slashes and anything else that was encoded: who takes them for a path checks them.
    /// Named values may come in any order. A value that is cut (`{x:3}`) is found as it is there.
    #[must_use]
    pub fn matches<'t>(&'t self, uri: &str) -> Option<Variables<'t>> {
        if uri.len() > MAX_URI {
            return None;
        }
        // Templates with another beginning are the usual case where many are tried.
        if let Some(Step::Literal(literal)) = self.steps.first()
            && uri.is_ascii()
            && !uri.starts_with(&**literal)
        {
            return None;
        }
        // What is not ASCII would have been encoded.
        let mut encoded = String::new();
        let uri = if uri.is_ascii() {
            uri
        } else {
            for char in uri.chars() {
                if char.is_ascii() {
                    encoded.push(char);
                } else {
                    expand::encode(char.encode_utf8(&mut [0; 4]), false, &mut encoded);
                }
            }
            &encoded
        };
        if uri.len() > MAX_URI {
            return None;
        }
        let mut found = Found::default();
        for (part, text) in self.cut(uri)? {
            if let Some(Part::Expression(expression)) = self.parts.get(part) {
                expression.read(text, &mut found)?;
            }
        }
        found.finish()
    }

    /// Cuts the URI into what each expression was written as, those that are absent left out.
    fn cut<'u>(&self, uri: &'u str) -> Option<Vec<(usize, &'u str)>> {
        let bytes = uri.as_bytes();
        let fits = self.fits(bytes);
        let can = |step: usize, at: usize| {
            fits.get(at)
                .is_some_and(|steps: &u64| steps >> step & 1 == 1)
        };
        if !can(0, 0) {
            return None;
        }
        let mut cut = Vec::new();
        let (mut step, mut at, mut start) = (0, 0, 0);
        while let Some(now) = self.steps.get(step) {
            match now {
                Step::Literal(literal) => at += literal.len(),
                Step::Optional(first) if bytes.get(at) == Some(first) && can(step + 1, at + 1) => {
                    at += 1;
                    start = at;
                }
                // Neither it nor the run.
                Step::Optional(_) => step += 1,
                Step::One(_) => {
                    start = at;
                    at += 1;
                }
                Step::Run(class, part) => {
                    while bytes.get(at).is_some_and(|&byte| class.contains(byte))
                        && can(step, at + 1)
                    {
                        at += 1;
                    }
                    cut.push((*part, uri.get(start..at)?));
                }
            }
            step += 1;
        }
        Some(cut)
    }

    /// For each place of the URI the steps from which on the rest of the template fits the rest of the URI.
    fn fits(&self, uri: &[u8]) -> Vec<u64> {
        let end = self.steps.len();
        let mut fits = vec![0_u64; uri.len() + 1];
        for at in (0..=uri.len()).rev() {
            let rest = uri.get(at..).unwrap_or_default();
            let later = |by: usize| fits.get(at + by).copied().unwrap_or(0);
            let mut here = u64::from(at == uri.len()) << end;
            for (step, what) in self.steps.iter().enumerate().rev() {
                let byte = rest.first().copied();
                let fit = match what {
                    Step::Literal(literal) if rest.starts_with(literal.as_bytes()) => {
                        // A literal is not empty.
                        later(literal.len()) >> (step + 1)
                    }
                    Step::Literal(_) => 0,
                    Step::Optional(first) => {
                        let taken = if byte == Some(*first) {
                            later(1) >> (step + 1)
                        } else {
                            0
                        };
                        taken | here >> (step + 2)
                    }
                    Step::One(class) if byte.is_some_and(|byte| class.contains(byte)) => {
                        later(1) >> (step + 1)
                    }
                    Step::One(_) => 0,
                    Step::Run(class, _) => {
                        let more = if byte.is_some_and(|byte| class.contains(byte)) {
                            later(1) >> step
                        } else {
                            0
                        };
                        more | here >> (step + 1)
                    }
                };
                here |= (fit & 1) << step;
            }
            if let Some(place) = fits.get_mut(at) {
                *place = here;
            }
        }
        fits
    }
}

/// The values found so far.
#[derive(Default)]
struct Found<'t> {
    values: Variables<'t>,
    /// Values that are cut: `(name, beginning)`.
    beginnings: Vec<(&'t str, String)>,
}

impl<'t> Found<'t> {
    /// `None` if the variable has another value already.
    fn put(&mut self, name: &'t str, value: TemplateValue<'static>) -> Option<()> {
        match self.values.get(name) {
            Some(known) => (*known == value).then_some(()),
            None => {
                self.values.insert(name, value);
                Some(())
            }
        }
    }

    fn finish(mut self) -> Option<Variables<'t>> {
        let mut beginnings = core::mem::take(&mut self.beginnings);
        // The longest first: the others must be beginnings of it.
        beginnings.sort_by_key(|(_, text)| core::cmp::Reverse(text.len()));
        for (name, text) in beginnings {
            match self.values.get(name) {
                Some(TemplateValue::Text(whole)) if whole.starts_with(&*text) => {}
                Some(_) => return None,
                None => self.values.insert(name, TemplateValue::from(text)),
            }
        }
        Some(self.values)
    }
}

impl Expression {
    /// Reads what the expression was written as. `None` if it cannot have been.
    fn read<'t>(&'t self, text: &str, found: &mut Found<'t>) -> Option<()> {
        let separator = char::from(self.operator.separator());
        if let [variable] = &*self.variables
            && variable.modifier != Modifier::Explode
            && !self.operator.is_named()
        {
            return self.read_value(0, text, found);
        }
        if self.operator.is_named() {
            return self.read_named(text, found);
        }
        if let [variable] = &*self.variables {
            let value = exploded(text.split(separator))?;
            return found.put(&variable.name, value);
        }
        // One for each; the last takes what is left.
        let pieces = text.splitn(self.variables.len(), separator).enumerate();
        for (at, piece) in pieces {
            let variable = self.variables.get(at)?;
            if variable.modifier == Modifier::Explode {
                found.put(&variable.name, exploded(piece.split(separator))?)?;
            } else {
                self.read_value(at, piece, found)?;
            }
        }
        Some(())
    }

    /// Reads a value that stands without its name and does not explode.
    fn read_value<'t>(&'t self, at: usize, text: &str, found: &mut Found<'t>) -> Option<()> {
        let variable = self.variables.get(at)?;
        // It stands here for one of those that explode: in a value it would have been encoded.
        if text.contains('=') && !self.operator.is_named() && !self.operator.keeps_reserved() {
            return None;
        }
        if let Modifier::Prefix(length) = variable.modifier {
            let text = decode(text)?;
            let fits = text.chars().count() <= length;
            found.beginnings.push((&variable.name, text));
            return fits.then_some(());
        }
        // A comma that was part of a value would have been encoded.
        let value = if text.contains(',') && !self.operator.keeps_reserved() {
            TemplateValue::List(text.split(',').map(owned).collect::<Option<_>>()?)
        } else {
            TemplateValue::from(decode(text)?)
        };
        found.put(&variable.name, value)
    }

    fn read_named<'t>(&'t self, text: &str, found: &mut Found<'t>) -> Option<()> {
        let separator = char::from(self.operator.separator());
        // Of a variable that explodes: its elements, if they come with its name, and else those that have none of the
        // names here.
        let mut lists: Vec<(usize, Vec<Cow<'static, str>>)> = Vec::new();
        let mut others: Vec<(String, Cow<'static, str>)> = Vec::new();
        let mut seen = 0_u64;
        for piece in text.split(separator) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            let known = self.variables.iter().position(|known| *known.name == *name);
            match known.and_then(|at| Some((at, self.variables.get(at)?))) {
                Some((at, variable)) if variable.modifier == Modifier::Explode => {
                    let value = owned(value)?;
                    match lists.iter_mut().find(|(known, _)| *known == at) {
                        Some((_, list)) => list.push(value),
                        None => lists.push((at, vec![value])),
                    }
                }
                Some((at, _)) => {
                    // Twice is no value of one.
                    let bit = 1_u64.checked_shl(u32::try_from(at).ok()?)?;
                    if seen & bit != 0 {
                        return None;
                    }
                    seen |= bit;
                    self.read_value(at, value, found)?;
                }
                None => others.push((decode(name)?, owned(value)?)),
            }
        }
        for (at, list) in lists {
            let name = &self.variables.get(at)?.name;
            found.put(name, TemplateValue::List(list.into()))?;
        }
        if !others.is_empty() {
            let mut variables = self.variables.iter();
            let free = variables.find(|variable| {
                variable.modifier == Modifier::Explode && found.values.get(&variable.name).is_none()
            })?;
            found.put(&free.name, map(others)?)?;
        }
        Some(())
    }
}

/// A list, or a map if each element has a name.
fn exploded<'u>(pieces: impl Iterator<Item = &'u str> + Clone) -> Option<TemplateValue<'static>> {
    if pieces.clone().all(|piece| piece.contains('=')) {
        let entries = pieces.map(|piece| {
            let (name, value) = piece.split_once('=')?;
            Some((decode(name)?, owned(value)?))
        });
        return map(entries.collect::<Option<Vec<_>>>()?);
    }
    Some(TemplateValue::List(
        pieces.map(owned).collect::<Option<_>>()?,
    ))
}

/// `None` if a name occurs twice.
fn map(entries: Vec<(String, Cow<'static, str>)>) -> Option<TemplateValue<'static>> {
    let count = entries.len();
    let map: super::Map<'static, Cow<'static, str>> = entries.into_iter().collect();
    (map.len() == count).then_some(TemplateValue::Map(map))
}

fn owned(text: &str) -> Option<Cow<'static, str>> {
    decode(text).map(Cow::Owned)
}

/// Decodes a value. `None` if it is not UTF-8, or a `%` stands alone.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = after.get(..2)?;
            let digits = core::str::from_utf8(digits).ok()?;
            // `from_str_radix` takes a sign.
            if !super::is_encoded(rest) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after.get(2..)?;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
