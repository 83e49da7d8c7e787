//! From the text of a formula to its tree.

use super::{Named, Role, Terms, fault};
use crate::error::{Error, Result};
use crate::table::columns::ColumnRef;
use linsep_proof::MOST_DEGREE;
use std::ops::Range;

/// Characters that a formula may have, and brackets within brackets.
const MOST_CHARACTERS: usize = 20_000;
const MOST_BRACKETS: usize = 60;

/// A part of a formula. Names are places in the list of all names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// All columns.
    Dot,
    /// Powers of a column: x, x², … for each list one product of (name, power).
    Products(Vec<Vec<(usize, u32)>>),
    /// Terms that are added (true) or taken away.
    Sum(Vec<(bool, Part)>),
    /// Products of each term of one with each of the others.
    Colon(Vec<Part>),
    /// The same with the terms themselves.
    Star(Vec<Part>),
    /// Products of up to so many terms.
    Power(Box<Part>, u32),
    /// The intercept, which stands for nothing.
    One,
}

impl Node {
    pub(super) fn has_dot(&self) -> bool {
        match self {
            Node::Dot => true,
            Node::Sum(parts) => parts.iter().any(|(_, part)| part.node.has_dot()),
            Node::Colon(parts) | Node::Star(parts) => parts.iter().any(|part| part.node.has_dot()),
            Node::Power(base, _) => base.node.has_dot(),
            Node::Products(_) | Node::One => false,
        }
    }
}

/// A node and where it stands, in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Number(String),
    Sign(char),
}

impl std::str::FromStr for Terms {
    type Err = Error;

    fn from_str(text: &str) -> Result<Terms> {
        if text.chars().count() > MOST_CHARACTERS {
            let words = format!("`terms`: a formula has at most {MOST_CHARACTERS} characters");
            return Err(Error::usage(words));
        }
        let tokens = tokens(text)?;
        let end = text.trim_end().chars().count();
        let mut parser = Parser { text, tokens, next: 0, names: Vec::new(), depth: 0, end };
        if parser.sign() == Some('~') {
            parser.next += 1;
        }
        if parser.tokens.len() == parser.next {
            let words = "there is nothing in it; write the right side of a formula, such as age + sex + age:sex";
            return Err(Error::usage(format!("`terms`: {words}")));
        }
        let root = parser.sum()?;
        if let Some((token, at)) = parser.tokens.get(parser.next).cloned() {
            return Err(parser.unexpected(&token, &at));
        }
        let names = parser.names;
        Ok(Terms { text: text.to_owned(), names, root: root.node, beside: Vec::new() })
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>> {
    let characters: Vec<char> = text.chars().collect();
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        let rest = |from: usize, fits: &dyn Fn(char) -> bool| {
            from + characters[from..].iter().take_while(|c| fits(**c)).count()
        };
        let start = at;
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let token = if c == '`' {
            at = rest(at + 1, &|c| c != '`');
            if at == characters.len() {
                return Err(fault(text, &(start..at), "the backquote is never closed"));
            }
            at += 1;
            Token::Name(characters[start + 1..at - 1].iter().collect())
        } else if c == '#' {
            at = rest(at + 1, &|c| c.is_ascii_digit());
            Token::Name(characters[start..at].iter().collect())
        } else if c.is_ascii_digit() {
            at = rest(at, &is_name);
            Token::Number(characters[start..at].iter().collect())
        } else if is_name(c) {
            at = rest(at, &is_name);
            Token::Name(characters[start..at].iter().collect())
        } else if c == '*' && characters.get(at + 1) == Some(&'*') {
            at += 2;
            Token::Sign('^')
        } else {
            at += 1;
            Token::Sign(c)
        };
        if token == Token::Name(String::new()) {
            return Err(fault(text, &(start..at), "there is no name between the backquotes"));
        }
        found.push((token, start..at));
    }
    Ok(found)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    names: Vec<Named>,
    depth: usize,
    /// Where the text ends, in characters.
    end: usize,
}

impl Parser<'_> {
    fn sign(&self) -> Option<char> {
        match self.tokens.get(self.next) {
            Some((Token::Sign(sign), _)) => Some(*sign),
            _ => None,
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let is = self.sign() == Some(wanted);
        self.next += usize::from(is);
        is
    }

    /// Where the next token stands.
    fn place(&self) -> Range<usize> {
        self.tokens.get(self.next).map_or(self.end..self.end + 1, |(_, at)| at.clone())
    }

    fn start(&self) -> usize {
        self.place().start
    }

    /// From there to the last token that was taken.
    fn since(&self, start: usize) -> Range<usize> {
        start..self.tokens[self.next.max(1) - 1].1.end.max(start)
    }

    fn fault(&self, at: &Range<usize>, words: &str) -> Error {
        fault(self.text, at, words)
    }

    fn unexpected(&self, token: &Token, at: &Range<usize>) -> Error {
        let words = match token {
            Token::Sign('~') => {
                "the left side is the label: name it with `label`, and write the right side alone"
            }
            Token::Sign('/') => "there is no operator /; for a/b write a + a:b",
            Token::Sign('%') => "there is no operator %in%; for a %in% b write a:b",
            Token::Sign('|') => "there are no groups such as (1 | g)",
            Token::Sign('=') => "an = stands in the arguments of poly alone",
            Token::Sign('-') => "a minus stands here",
            Token::Sign(')') => "a bracket closes that was never opened",
            Token::Sign('(') => "an operator is missing before the bracket",
            Token::Sign(_) => {
                "this is no part of a formula; a name with such characters stands in `backquotes`"
            }
            Token::Name(_) | Token::Number(_) => {
                "an operator is missing before it: + - : * ^; a name with blanks stands in `backquotes`"
            }
        };
        self.fault(at, words)
    }

    fn sum(&mut self) -> Result<Part> {
        let start = self.start();
        let mut parts = Vec::new();
        let mut adds = if self.take('-') {
            false
        } else {
            self.take('+');
            true
        };
        loop {
            let part = self.star()?;
            self.check_intercept(adds, &part)?;
            parts.push((adds, part));
            adds = if self.take('+') {
                true
            } else if self.take('-') {
                false
            } else {
                break;
            };
        }
        Ok(Part { node: Node::Sum(parts), at: self.since(start) })
    }

    /// `+ 1` says what is so already; `- 1` and `+ 0` are asked for in another place.
    fn check_intercept(&self, adds: bool, part: &Part) -> Result<()> {
        let zero = self.text.chars().nth(part.at.start) == Some('0');
        match part.node == Node::One && adds == zero {
            true => Err(self.fault(
                &part.at,
                "whether there is an intercept is not said by the terms but by `intercept`: leave this out and say `intercept=none`",
            )),
            false => Ok(()),
        }
    }

    fn star(&mut self) -> Result<Part> {
        self.chain('*', Parser::colon, Node::Star)
    }

    fn colon(&mut self) -> Result<Part> {
        self.chain(':', Parser::power, Node::Colon)
    }

    fn chain(
        &mut self,
        sign: char,
        each: fn(&mut Self) -> Result<Part>,
        make: fn(Vec<Part>) -> Node,
    ) -> Result<Part> {
        let start = self.start();
        let mut parts = vec![each(self)?];
        while self.take(sign) {
            parts.push(each(self)?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        if let Some(one) = parts.iter().find(|part| part.node == Node::One) {
            return Err(self.fault(&one.at, "a number is no column"));
        }
        Ok(Part { node: make(parts), at: self.since(start) })
    }

    fn power(&mut self) -> Result<Part> {
        let start = self.start();
        let base = self.primary()?;
        let sign = self.place();
        if !self.take('^') {
            return Ok(base);
        }
        if matches!(base.node, Node::Products(_)) && !self.is_bracketed(&base) {
            let words = "a power of a column is written I(x^2), or poly(x, 2) for x and its square; (a + b)^2 has a, b and a:b";
            return Err(self.fault(&(base.at.start..sign.end), words));
        }
        let at = self.place();
        let power = self.whole_number("the power of a sum is a whole number from 1 to 99", 99)?;
        if self.sign() == Some('^') {
            return Err(self.fault(&self.place(), "a second power stands here; use brackets"));
        }
        if base.node == Node::One {
            return Err(self.fault(&at, "a number is no column"));
        }
        Ok(Part { node: Node::Power(Box::new(base), power), at: self.since(start) })
    }

    fn is_bracketed(&self, part: &Part) -> bool {
        self.text.chars().nth(part.at.start) == Some('(')
    }

    fn whole_number(&mut self, words: &str, most: u32) -> Result<u32> {
        let at = self.place();
        let number = match self.tokens.get(self.next) {
            Some((Token::Number(text), _)) => text.parse().ok(),
            _ => None,
        };
        match number.filter(|number| (1..=most).contains(number)) {
            Some(number) => {
                self.next += 1;
                Ok(number)
            }
            None => Err(self.fault(&at, words)),
        }
    }

    fn primary(&mut self) -> Result<Part> {
        let at = self.place();
        let Some((token, _)) = self.tokens.get(self.next).cloned() else {
            return Err(self.fault(&at, "the formula ends where a column should stand"));
        };
        match token {
            Token::Sign('(') => {
                self.next += 1;
                self.depth += 1;
                if self.depth > MOST_BRACKETS {
                    return Err(self.fault(&at, "there are too many brackets within brackets"));
                }
                let inside = self.sum()?;
                self.close(&at)?;
                self.depth -= 1;
                Ok(Part { node: inside.node, at: self.since(at.start) })
            }
            Token::Number(text) if text == "1" || text == "0" => {
                self.next += 1;
                Ok(Part { node: Node::One, at })
            }
            Token::Number(_) => Err(self.fault(
                &at,
                "a number is no column; a name that begins with a digit stands in `backquotes`, a column by number is #3",
            )),
            Token::Name(name) => {
                self.next += 1;
                let quoted = self.text.chars().nth(at.start) == Some('`');
                if self.sign() == Some('(') && !quoted {
                    return self.call(&name, at);
                }
                if name == "." && !quoted {
                    return Ok(Part { node: Node::Dot, at });
                }
                let name = self.name(&name, quoted, &at, Role::Any)?;
                Ok(Part { node: Node::Products(vec![vec![(name, 1)]]), at })
            }
            token @ Token::Sign('~' | '/' | '%' | '|' | '=') => Err(self.unexpected(&token, &at)),
            Token::Sign('+' | '-' | '*' | ':' | '^' | ')' | ',') => {
                Err(self.fault(&at, "a column should stand here"))
            }
            token => Err(self.unexpected(&token, &at)),
        }
    }

    fn close(&mut self, opened: &Range<usize>) -> Result<()> {
        if self.take(')') {
            return Ok(());
        }
        match self.tokens.get(self.next).cloned() {
            None => Err(self.fault(opened, "the bracket is never closed")),
            Some((token, at)) => Err(self.unexpected(&token, &at)),
        }
    }

    fn name(&mut self, name: &str, quoted: bool, at: &Range<usize>, role: Role) -> Result<usize> {
        let column = match quoted {
            true => ColumnRef::Name(name.to_owned()),
            false => name.parse().map_err(|_| self.fault(at, "the first column is #1"))?,
        };
        self.names.push(Named { column, role, at: at.clone() });
        Ok(self.names.len() - 1)
    }

    /// A column where nothing else may stand.
    fn column(&mut self, role: Role) -> Result<usize> {
        let at = self.place();
        match self.tokens.get(self.next).cloned() {
            Some((Token::Name(name), _)) if name != "." => {
                self.next += 1;
                let quoted = self.text.chars().nth(at.start) == Some('`');
                self.name(&name, quoted, &at, role)
            }
            _ => Err(self.fault(&at, "a column should stand here")),
        }
    }

    fn call(&mut self, function: &str, at: Range<usize>) -> Result<Part> {
        let opened = self.place();
        self.next += 1;
        let products = match function {
            "I" => vec![self.product()?],
            "poly" => self.poly()?,
            "factor" | "as.factor" | "C" => vec![vec![(self.column(Role::Factor)?, 1)]],
            "offset" => {
                let words = "an offset is no term but has its own setting, `offset`";
                return Err(self.fault(&at, words));
            }
            "relevel" => {
                let words = "a reference level is chosen with `reference`, as in sex=male";
                return Err(self.fault(&at, words));
            }
            _ => {
                let words = format!(
                    "there is no function {function}; there are poly(x, 2), I(x^2) and factor(x), others have no exact values: write such a column into the data"
                );
                return Err(self.fault(&at, &words));
            }
        };
        self.close(&opened)?;
        Ok(Part { node: Node::Products(products), at: self.since(at.start) })
    }

    /// `x^2`, `x*z` or `x^2*z` in the brackets of `I`.
    fn product(&mut self) -> Result<Vec<(usize, u32)>> {
        let mut factors = Vec::new();
        loop {
            let name = self.column(Role::Number)?;
            let power = match self.take('^') {
                true => {
                    let words = format!("a power is a whole number from 1 to {MOST_DEGREE}");
                    self.whole_number(&words, MOST_DEGREE)?
                }
                false => 1,
            };
            factors.push((name, power));
            if self.take('*') {
                continue;
            }
            return match self.sign() {
                Some('+' | '-' | '/' | ':') => Err(self.fault(
                    &self.place(),
                    "I() holds a power or a product such as x^2 or x*z; a sum is no new column",
                )),
                _ => Ok(factors),
            };
        }
    }

    /// `x, 2`, `x, degree = 2` or `x, 2, raw = TRUE`.
    fn poly(&mut self) -> Result<Vec<Vec<(usize, u32)>>> {
        let name = self.column(Role::Number)?;
        let mut degree = 1;
        while self.take(',') {
            let at = self.place();
            let key = match self.tokens.get(self.next).cloned() {
                Some((Token::Name(key), _)) => {
                    self.next += 1;
                    if !self.take('=') {
                        let words = "poly has one column; for several write their products";
                        return Err(self.fault(&at, words));
                    }
                    key
                }
                _ => "degree".to_owned(),
            };
            match key.as_str() {
                "degree" => {
                    let words = format!("the degree is a whole number from 1 to {MOST_DEGREE}");
                    degree = self.whole_number(&words, MOST_DEGREE)?;
                }
                "raw" => {
                    let at = self.place();
                    let word = match self.tokens.get(self.next) {
                        Some((Token::Name(word), _)) => word.to_ascii_lowercase(),
                        _ => String::new(),
                    };
                    if word != "true" && word != "t" {
                        let words = "powers are raw, x and x^2; orthogonal ones depend on all rows and have no exact values";
                        return Err(self.fault(&at, words));
                    }
                    self.next += 1;
                }
                _ => return Err(self.fault(&at, "poly has the arguments degree and raw")),
            }
        }
        Ok((1..=degree).map(|power| vec![(name, power)]).collect())
    }
}
