//! C source: one file of C99 without dependencies, which adds as linsep does and so gives the same bits.
//!
//! Compilers may join a product and a sum into one rounding (contraction), may reorder sums when asked for
//! fast arithmetic, and may compute in more bits than binary64. The first is switched off in the file, the
//! others are errors there.
//!
//! Names stand in tables of strings and nowhere else. Every byte that is not a letter, a digit or one of a few
//! harmless marks is written as three octal digits: so there is no quote, no backslash, no end of a comment, no
//! trigraph and no line break that a name could put into the source.

use super::{duels_of_classes, products, refusal, refuse_gaussians, with_parts};
use crate::model::{Ballot, Decision, LinearModel, Plane, Rule};
use linsep_data::error::Result;
use std::fmt::{Display, Write};

/// Numbers that a function may put on the stack: 1 MiB of binary64.
const MOST_ON_STACK: usize = 1 << 17;

/// The beginnings of the tables that are read back.
const WEIGHTS: &str = "static const double linsep_weights[LINSEP_PLANES][LINSEP_WIDTH]";
const BIAS: &str = "static const double linsep_bias[LINSEP_PLANES]";
const CLASSES: &str = "const char *const linsep_class_names[LINSEP_CLASSES]";

pub(super) fn write(model: &LinearModel) -> Result<Vec<u8>> {
    refuse_gaussians(model)?;
    let products = products(model);
    let (width, scores) = (model.input.width(), model.n_scores());
    let expanded = if products.is_empty() { 0 } else { width };
    if scores.max(expanded).max(model.classes.len()) > MOST_ON_STACK {
        let words = format!(
            "the function would need {scores} scores and {expanded} products on the stack, more than {MOST_ON_STACK}"
        );
        return Err(refusal(words, "export to onnx or json"));
    }
    let mut names = model.input.feature_names();
    names.truncate(model.n_features());
    let mut text = HEAD.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let mut constant = |name: &str, value: usize| _ = writeln!(text, "#define {name} {value}");
    constant("LINSEP_FEATURES", names.len());
    constant("LINSEP_CLASSES", model.classes.len());
    constant("LINSEP_SCORES", scores);
    constant("LINSEP_PLANES", model.planes.len());
    constant("LINSEP_WIDTH", width);
    text.push_str(PROTOTYPES);
    strings(&mut text, "const char *const linsep_feature_names[LINSEP_FEATURES]", &names)?;
    strings(&mut text, CLASSES, &model.classes)?;
    let score_names = model.score_names();
    strings(&mut text, "const char *const linsep_score_names[LINSEP_SCORES]", &score_names)?;
    let number = |x: &f64| format!("{x:?}");
    tables(&mut text, WEIGHTS, model.planes.iter().map(|plane| plane.weights.iter().map(number)));
    table(&mut text, BIAS, model.planes.iter().map(|plane| number(&plane.bias)));
    expansion(&mut text, &products);
    plane_score(&mut text, model);
    scores_function(&mut text, model, !products.is_empty());
    class_function(&mut text, model);
    text.push_str(PREDICT);
    Ok(text.into_bytes())
}

const HEAD: &str = "\
/* linsep.export/1: a linear classifier, written by linsep VERSION.
 *
 * C99, no dependencies. x has LINSEP_FEATURES finite numbers, in the order of linsep_feature_names; the
 * feature \"column=level\" is 1 where the column has this level and 0 elsewhere. linsep_predict gives the place
 * of the class in linsep_class_names. The names are UTF-8.
 *
 * The scores are those of linsep to the last bit: the sums have one order, and every product and every sum is
 * rounded once to binary64. Do not compile with -ffast-math; -ffp-contract=off is set below where it can be,
 * and is a good flag in any case.
 */

#include <float.h>

#if defined(__FAST_MATH__)
#error \"fast arithmetic changes the scores: compile without -ffast-math\"
#endif
/* 16 speaks of binary16 alone (ISO/IEC TS 18661-3): everything else is computed as with 0. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error \"the scores need arithmetic in binary64: compile for SSE2 or another unit with it\"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize(\"fp-contract=off\")
#else
#pragma STDC FP_CONTRACT OFF
#endif

";

const PROTOTYPES: &str = "
extern const char *const linsep_feature_names[LINSEP_FEATURES];
extern const char *const linsep_class_names[LINSEP_CLASSES];
extern const char *const linsep_score_names[LINSEP_SCORES];

/* Fills in LINSEP_SCORES scores. */
void linsep_scores(const double *x, double *scores);

/* The class that scores stand for. */
int linsep_class_of(const double *scores);

/* The class of x. */
int linsep_predict(const double *x);
";

const PREDICT: &str = "
int linsep_predict(const double *x)
{
    double scores[LINSEP_SCORES];
    linsep_scores(x, scores);
    return linsep_class_of(scores);
}
";

/// A table of strings.
fn strings(text: &mut String, head: &str, names: &[String]) -> Result<()> {
    _ = writeln!(text, "\n{head} = {{");
    for name in names {
        if name.contains('\0') {
            let words = "a name holds a NUL, which ends a string of C";
            return Err(refusal(
                words,
                "rename the column or the class, or export to onnx or json",
            ));
        }
        _ = writeln!(text, "\"{}\",", escaped(name));
    }
    text.push_str("};\n");
    Ok(())
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(byte as char),
            b' ' | b'_' | b'-' | b'+' | b'=' | b'.' | b',' | b':' | b'(' | b')' | b'^' | b'|' => {
                text.push(byte as char);
            }
            _ => _ = write!(text, "\\{byte:03o}"),
        }
    }
    text
}

/// A table of numbers.
fn table(text: &mut String, head: &str, numbers: impl Iterator<Item = impl Display>) {
    _ = writeln!(text, "\n{head} = {{");
    list(text, numbers);
    text.push_str("};\n");
}

/// A table of lists of numbers.
fn tables(
    text: &mut String,
    head: &str,
    lists: impl Iterator<Item = impl Iterator<Item = impl Display>>,
) {
    _ = writeln!(text, "\n{head} = {{");
    for numbers in lists {
        text.push_str("{\n");
        list(text, numbers);
        text.push_str("},\n");
    }
    text.push_str("};\n");
}

/// Numbers with commas, in lines.
fn list(text: &mut String, numbers: impl Iterator<Item = impl Display>) {
    const LINE: usize = 100;
    let mut start = text.len();
    for number in numbers {
        _ = write!(text, "{number},");
        if text.len() - start > LINE {
            text.push('\n');
            start = text.len();
        }
    }
    text.push('\n');
}

/// The products behind the features.
fn expansion(text: &mut String, products: &[Vec<u32>]) {
    if products.is_empty() {
        return;
    }
    table(text, "static const unsigned long linsep_factors[]", products.iter().flatten());
    table(text, "static const unsigned char linsep_degrees[]", products.iter().map(Vec::len));
    text.push_str(
        "
/* x and the products behind it; a factor 0 makes 0. */
static void linsep_expand(const double *x, double *phi)
{
    const unsigned long *factor = linsep_factors;
    unsigned long j;
    for (j = 0; j < LINSEP_FEATURES; j++)
        phi[j] = x[j];
    for (; j < LINSEP_WIDTH; j++) {
        const unsigned degree = linsep_degrees[j - LINSEP_FEATURES];
        double product = x[factor[0]];
        int zero = product == 0.0;
        for (unsigned k = 1; k < degree; k++) {
            product *= x[factor[k]];
            zero |= x[factor[k]] == 0.0;
        }
        phi[j] = zero ? 0.0 : product;
        factor += degree;
    }
}
",
    );
}

/// The score of one plane.
fn plane_score(text: &mut String, model: &LinearModel) {
    text.push_str(
        "\nstatic double linsep_plane(const double *x, unsigned long plane)
{
    const double *w = linsep_weights[plane];
",
    );
    match model.input.binarize {
        None => text.push_str(
            "    double lane[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (unsigned long j = 0; j < LINSEP_WIDTH; j++)
        lane[j % 8] += x[j] * w[j];
    return (((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7])))
        + linsep_bias[plane];
",
        ),
        Some(threshold) if threshold < 0.0 => {
            _ = write!(
                text,
                "    /* Zeros count as 1: what does not is taken away. */
    double sum = 0.0;
    for (unsigned long j = 0; j < LINSEP_WIDTH; j++)
        sum += w[j];
    for (unsigned long j = 0; j < LINSEP_WIDTH; j++)
        if (!(x[j] > {threshold:?}))
            sum -= w[j];
    return sum + linsep_bias[plane];
"
            );
        }
        Some(threshold) => {
            _ = write!(
                text,
                "    /* A value above the threshold counts as 1, any other as 0. */
    double sum = 0.0;
    for (unsigned long j = 0; j < LINSEP_WIDTH; j++)
        if (x[j] > {threshold:?})
            sum += w[j];
    return sum + linsep_bias[plane];
"
            );
        }
    }
    text.push_str("}\n");
}

fn scores_function(text: &mut String, model: &LinearModel, expands: bool) {
    let votes = match &model.rule {
        Rule::Ballot(Ballot { votes, .. }) => Some(votes),
        _ => None,
    };
    if let Some(votes) = votes {
        table(text, "static const long long linsep_votes[LINSEP_PLANES]", votes.iter().flatten());
        let counts = votes.iter().map(Vec::len);
        table(text, "static const unsigned long linsep_voters[LINSEP_SCORES]", counts);
    }
    text.push_str("\nvoid linsep_scores(const double *x, double *scores)\n{\n");
    if expands {
        text.push_str("    double phi[LINSEP_WIDTH];\n    linsep_expand(x, phi);\n    x = phi;\n");
    }
    text.push_str(match votes {
        None => {
            "    for (unsigned long k = 0; k < LINSEP_SCORES; k++)
        scores[k] = linsep_plane(x, k);
}
"
        }
        Some(_) => {
            "    unsigned long plane = 0;
    for (unsigned long k = 0; k < LINSEP_SCORES; k++) {
        long long lead = 0, total = 0;
        for (unsigned long voter = 0; voter < linsep_voters[k]; voter++, plane++) {
            total += linsep_votes[plane];
            lead += linsep_plane(x, plane) >= 0.0 ? linsep_votes[plane] : -linsep_votes[plane];
        }
        scores[k] = (double)lead / (double)total;
    }
}
"
        }
    });
}

fn class_function(text: &mut String, model: &LinearModel) {
    let rule = model.rule.on_scores();
    if *rule == Rule::Vote {
        let duels = duels_of_classes(model.classes.len());
        let head = "static const unsigned long linsep_pairs[LINSEP_CLASSES][LINSEP_CLASSES - 1]";
        tables(text, head, duels.iter().map(|duels| duels.iter().map(|(place, _)| *place)));
    }
    let at_least = format!("{AT_LEAST}{:?};\n", model.cut());
    text.push_str("\nint linsep_class_of(const double *scores)\n{\n");
    text.push_str(match rule {
        Rule::Sign | Rule::Ballot(_) => &at_least,
        Rule::ArgMax | Rule::Rest => {
            "    int best = 0;
    for (int k = 1; k < LINSEP_CLASSES; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
"
        }
        Rule::RestLast => {
            "    int best = 0;
    for (int k = 1; k < LINSEP_SCORES; k++)
        if (scores[k] > scores[best])
            best = k;
    return scores[best] >= 0.0 ? best : LINSEP_CLASSES - 1;
"
        }
        Rule::Vote => {
            "    /* The most pairs won, then the larger sum of the scores in favour, then the earlier class. A
     * score of at least 0 is for the later class of a pair. */
    int best = 0, best_won = -1;
    double best_sum = 0.0;
    for (int k = 0; k < LINSEP_CLASSES; k++) {
        int won = 0;
        double sum = 0.0;
        for (int other = 0; other < LINSEP_CLASSES - 1; other++) {
            const double score = scores[linsep_pairs[k][other]];
            const int is_later = other < k;
            won += (score >= 0.0) == is_later;
            sum += is_later ? score : -score;
        }
        if (won > best_won || (won == best_won && sum > best_sum)) {
            best = k;
            best_won = won;
            best_sum = sum;
        }
    }
    return best;
"
        }
    });
    text.push_str("}\n");
}

/// What stands before the score that decides between two classes.
const AT_LEAST: &str = "    return scores[0] >= ";

/// The model of a file that [`write`] wrote.
pub(super) fn read(bytes: &[u8], model: &LinearModel) -> std::result::Result<LinearModel, String> {
    parts(bytes, model).ok_or_else(|| "its tables are damaged".to_owned())
}

fn parts(bytes: &[u8], model: &LinearModel) -> Option<LinearModel> {
    let text = std::str::from_utf8(bytes).ok()?;
    // No name holds a line break or a semicolon, so that nothing in a table looks like its end.
    let inside = |head: &str| {
        let from = text.split_once(&format!("\n{head} = {{\n"))?.1;
        Some(from.split_once("};\n")?.0)
    };
    let numbers = |head: &str| {
        let words = inside(head)?.split([',', '{', '}', '\n']).filter(|word| !word.is_empty());
        words.map(|word| word.parse::<f64>().ok()).collect::<Option<Vec<f64>>>()
    };
    let (weights, biases) = (numbers(WEIGHTS)?, numbers(BIAS)?);
    let width = model.input.width();
    if weights.len() != width * biases.len() {
        return None;
    }
    let planes = weights.chunks(width.max(1)).zip(&biases);
    let planes = planes.map(|(weights, bias)| Plane::new(weights.to_vec(), *bias)).collect();
    let name = |line: &str| unescaped(line.strip_prefix('"')?.strip_suffix("\",")?);
    let classes = inside(CLASSES)?.lines().map(name).collect::<Option<Vec<String>>>()?;
    let mut read = with_parts(model, planes, classes);
    if let Some(Decision::Threshold(threshold)) = &mut read.decision {
        threshold.score = text.split_once(AT_LEAST)?.1.split_once(';')?.0.parse().ok()?;
    }
    Some(read)
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match first {
            b'\\' => {
                let (digits, behind) = rest.split_first_chunk::<3>()?;
                rest = behind;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_come_back() {
        for name in ["", "a b", "\"; */ ??/ \\", "%s\n\r\t", "größe é 漢字", "a};\nb", "\u{7f}"]
        {
            let written = escaped(name);
            assert!(written.is_ascii() && !written.contains(['"', '?', '*', '/', '\n', ';']));
            assert_eq!(unescaped(&written).as_deref(), Some(name));
        }
        assert_eq!(escaped("a1\"1"), "a1\\0421");
    }
}
