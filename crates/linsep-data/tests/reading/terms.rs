//! Terms by name: the columns of a formula against the cells of the table, R's rule of coding, refusals with the place.

use crate::files::{error_of, read_with};
use linsep_data::terms::{Reference, Terms};
use linsep_data::{Code, Dataset, Error};

/// Rows of two numbers and two factors, which go through every combination of levels.
fn cells() -> Vec<[String; 4]> {
    let mut state = 7u32;
    let mut next = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let row = |k: u32| {
        let (f, g) = (["c", "a", "b"][k as usize % 3], ["no", "yes"][(k as usize / 3) % 2]);
        let number = |n: u32| format!("{}.{}", i64::from(n / 10) - 3, n % 10);
        [number(next(60)), number(next(60)), f.to_owned(), g.to_owned()]
    };
    (0..36).map(row).collect()
}

const NAMES: [&str; 4] = ["u", "v", "f", "g"];

fn table() -> String {
    let rows = cells();
    let line = |(k, row): (usize, &[String; 4])| format!("{},{}\n", row.join(","), k % 2);
    let lines: String = rows.iter().enumerate().map(line).collect();
    format!("{},label\n{lines}", NAMES.join(","))
}

fn raw(formula: &str, references: &[&str]) -> (Dataset, Terms, Vec<Reference>) {
    let terms: Terms = formula.parse().unwrap();
    let is_used = |text: &&&str| formula.contains(&text[..1]) || formula == ".";
    let references = references.iter().filter(is_used);
    let references: Vec<Reference> =
        references.map(|text| Reference::new(*text, false).unwrap()).collect();
    let read = read_with(table(), |options| {
        options.terms = Some(terms.clone());
        options.references = references.clone();
    });
    (read.unwrap_or_else(|e| panic!("{formula}: {e}")).data, terms, references)
}

fn with_terms(formula: &str, references: &[&str]) -> Dataset {
    let (data, terms, references) = raw(formula, references);
    data.with_terms(&terms, &references, None).unwrap_or_else(|e| panic!("{formula}: {e}"))
}

fn names(formula: &str, references: &[&str]) -> Vec<String> {
    with_terms(formula, references).input().feature_names()
}

/// What a column of this name holds in a row, from the cells of the table alone.
fn value(name: &str, row: &[String; 4]) -> f64 {
    let part = |part: &str| {
        let (base, power) = part.split_once('^').unwrap_or((part, "1"));
        let x: f64 = match base.split_once('=') {
            Some((column, level)) => {
                let at = NAMES.iter().position(|name| *name == column).unwrap();
                f64::from(u8::from(row[at] == level))
            }
            None => row[NAMES.iter().position(|name| *name == base).unwrap()].parse().unwrap(),
        };
        x.powi(power.parse().unwrap())
    };
    name.split('*').map(part).product()
}

#[track_caller]
fn columns_are_products(data: &Dataset, formula: &str) {
    let names = data.input().feature_names();
    assert_eq!(names.len(), data.n_features(), "{formula}");
    for (k, row) in cells().iter().enumerate() {
        for (name, found) in names.iter().zip(data.row(k)) {
            let wanted = value(name, row);
            let close = (found - wanted).abs() <= 1e-12 * wanted.abs();
            assert!(close, "{formula}: {name} is {found}, not {wanted} in row {k}");
        }
    }
}

/// The rank of a constant and columns, by elimination with the largest pivot.
fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let width = rows[0].len();
    let mut rank = 0;
    for column in 0..width {
        let best = (rank..rows.len())
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        let Some(best) = best.filter(|&at| rows[at][column].abs() > 1e-9) else { continue };
        rows.swap(rank, best);
        let pivot = rows[rank].clone();
        for row in rows.iter_mut().skip(rank + 1) {
            let times = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= times * p);
        }
        rank += 1;
    }
    rank
}

#[test]
fn every_column_of_random_formulas_is_the_product_of_its_parts() {
    let mut state = 99u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut checked = 0;
    for _ in 0..300 {
        let mut terms = Vec::new();
        for _ in 0..1 + next(3) {
            let mut factors: Vec<&str> = (0..1 + next(3)).map(|_| NAMES[next(4)]).collect();
            factors.dedup();
            terms.push(factors.join([" * ", ":"][next(2)]));
        }
        if next(3) == 0 {
            terms.push("poly(v, 3)".to_owned());
        }
        let formula = terms.join(" + ");
        let (data, terms, references) = raw(&formula, &["f=b"]);
        let made = data.design(&terms, &references, None);
        columns_are_products(&made.unwrap_or_else(|e| panic!("{formula}: {e}")), &formula);
        if let Ok(whole) = data.with_terms(&terms, &references, None) {
            columns_are_products(&whole, &formula);
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} formulas had every part");
}

#[test]
fn columns_of_formulas_with_all_parts_are_independent_and_complete() {
    // With every level of every factor the same space is spanned, with more columns.
    let full: [(&str, &[&str]); 6] = [
        ("f", &["f"]),
        ("f * g", &["f", "g", "f:g"]),
        ("u * f", &["u", "f", "u:f"]),
        ("u * f * g", &["u", "f", "g", "u:f", "u:g", "f:g", "u:f:g"]),
        ("(u + f + g)^2", &["u", "f", "g", "u:f", "u:g", "f:g"]),
        ("g * poly(u, 2) + v", &["g", "u", "u:u2", "u:g", "u:u2:g", "v"]),
    ];
    for (formula, terms) in full {
        let data = with_terms(formula, &["f=c", "g=yes"]);
        let mut design: Vec<Vec<f64>> = Vec::new();
        let mut every: Vec<Vec<f64>> = Vec::new();
        for (k, row) in cells().iter().enumerate() {
            design.push([vec![1.0], data.row(k)].concat());
            let mut all = vec![1.0];
            for term in terms {
                let mut made = vec![1.0];
                for name in term.split(':') {
                    let own: Vec<f64> = match name {
                        "f" => ["f=a", "f=b", "f=c"].iter().map(|n| value(n, row)).collect(),
                        "g" => ["g=no", "g=yes"].iter().map(|n| value(n, row)).collect(),
                        "u2" => vec![value("u", row)],
                        name => vec![value(name, row)],
                    };
                    made = made.iter().flat_map(|x| own.iter().map(move |y| x * y)).collect();
                }
                all.extend(made);
            }
            every.push(all);
        }
        let width = data.n_features() + 1;
        let both: Vec<Vec<f64>> =
            design.iter().zip(&every).map(|(a, b)| [&a[..], b].concat()).collect();
        assert_eq!(rank(design), width, "{formula}: columns are dependent");
        assert_eq!(rank(every), width, "{formula}: the space is another one");
        assert_eq!(rank(both), width, "{formula}: the space is another one");
    }
}

#[test]
fn operators_mean_what_they_mean_in_r() {
    assert_eq!(names("u + v", &[]), ["u", "v"]);
    assert_eq!(names("~ v * u", &[]), ["u", "v", "u*v"]);
    assert_eq!(names("(u + v + g)^2 - u:v", &[]), ["u", "v", "g=yes", "u*g=yes", "v*g=yes"]);
    assert_eq!(names("(u + v + g)**2 - u:(v + g)", &[]), ["u", "v", "g=yes", "v*g=yes"]);
    assert_eq!(names(".", &["g=yes"]), ["u", "v", "f=b", "f=c", "g=no"]);
    assert_eq!(names(". - f - g", &[]), ["u", "v"]);
    assert_eq!(names("u + u + poly(u, 2) + I(u^2) + u:u + 1", &[]), ["u", "u^2"]);
    assert_eq!(names("poly(u, degree = 3, raw = TRUE)", &[]), ["u", "u^2", "u^3"]);
    assert_eq!(names("`u` + v + I(u*v) + u:I(u^2)", &[]), ["u", "v", "u*v", "u^3"]);
    assert_eq!(names("#2 + #4", &[]), ["v", "g=yes"]);
    // All of it is in the input map: other columns are not read.
    assert_eq!(with_terms("u * g", &[]).input().columns.len(), 2);
}

#[test]
fn a_factor_without_its_margin_has_all_its_levels() {
    let of = |formula: &str| {
        let (data, terms, references) = raw(formula, &["g=yes"]);
        data.design(&terms, &references, None).unwrap().input().feature_names()
    };
    assert_eq!(of("u:g"), ["u*g=no", "u*g=yes"]);
    assert_eq!(of("g + u:g"), ["g=no", "u*g=no", "u*g=yes"]);
    assert_eq!(of("u + u:g"), ["u", "u*g=no"]);
    let of_factors = ["f=a*g=no", "f=b*g=no", "f=c*g=no", "f=a*g=yes", "f=b*g=yes", "f=c*g=yes"];
    assert_eq!(of("f:g"), of_factors);
    assert_eq!(of("g + f:g"), ["g=no", "f=b*g=no", "f=c*g=no", "f=b*g=yes", "f=c*g=yes"]);
    for formula in ["u:g", "g + u:g", "u + u:g", "f:g", "I(u^2)", "u*v - u"] {
        let (data, terms, references) = raw(formula, &[]);
        let error = data.with_terms(&terms, &references, None).unwrap_err().to_string();
        assert!(error.contains("each part of a product has to be a term"), "{formula}: {error}");
    }
}

#[test]
fn numbers_are_levels_where_factor_says_so() {
    let text = "k,x,label\n9,1,a\n10,2,b\n9,3,b\n8,4,a\n10,5,a\n";
    let terms: Terms = "factor(k) + x".parse().unwrap();
    let read = read_with(text, |options| options.terms = Some(terms.clone())).unwrap();
    let data = read.data.with_terms(&terms, &[], None).unwrap();
    // The smallest number is the reference, as in R.
    assert_eq!(data.input().feature_names(), ["k=10", "k=9", "x"]);
    let one = "k,x,label\nc,1,a\nc,2,b\n";
    for formula in ["k * x", "."] {
        let terms: Terms = formula.parse().unwrap();
        let data = read_with(one, |o| o.terms = Some(terms.clone())).unwrap().data;
        let error = data.with_terms(&terms, &[], None).unwrap_err().to_string();
        assert!(error.contains("the factor \"k\" has one level only"), "{error}");
    }
    let error = error_of(text, |o| o.terms = Some("factor(k) + k".parse().unwrap())).to_string();
    assert!(error.contains("a factor in one place and a number in another"), "{error}");
}

#[test]
fn a_reference_level_without_terms_leaves_its_feature_out() {
    let read = |reference: &str| {
        read_with(table(), |options| {
            options.references = vec![Reference::new(reference, false).unwrap()];
        })
    };
    let data = read("f=b").unwrap().data;
    assert_eq!(data.input().feature_names(), ["u", "v", "f=a", "f=c", "g=no", "g=yes"]);
    assert_eq!(data.input().columns[2].reference.as_deref(), Some("b"));
    let without = data.without_first_levels().unwrap();
    assert_eq!(without.input().feature_names(), ["u", "v", "f=a", "f=c", "g=yes"]);
    for (reference, code, words) in [
        ("f=d", Code::NO_LEVEL, "column \"f\" has no level \"d\""),
        ("h=a", Code::NO_COLUMN, "no column \"h\""),
        ("u=1", Code::NO_LEVEL, "column \"u\" holds numbers"),
        ("label=1", Code::SETTING, "\"label\" is the label"),
    ] {
        let error = read(reference).err().unwrap();
        assert_eq!(error.code(), code, "{reference}: {error}");
        assert!(error.to_string().contains(words), "{reference}: {error}");
    }
    assert!(Reference::new("f", false).is_err());
    assert!(Reference::new("=b", false).is_err());
    // Names may have the sign in them.
    let odd = "a=b,y,label\nc=d,1,0\ne,2,1\nc=d,3,1\n";
    let set = |o: &mut linsep_data::read::ReadOptions| {
        o.references = vec![Reference::of("a=b", "c=d").unwrap()];
    };
    let names = read_with(odd, set).unwrap().data.input().feature_names();
    assert_eq!(names, ["a=b=e", "y"]);
}

/// What is marked in the second line of an error, and the words.
#[track_caller]
fn marked(formula: &str) -> (String, String) {
    let words = match formula.parse::<Terms>() {
        Err(error) => error.to_string(),
        Ok(terms) => match read_with(table(), |options| options.terms = Some(terms.clone())) {
            Err(Error::Data(data)) => {
                let problem = &data.problems[0];
                let excerpt = problem.place.excerpt.as_ref().expect("an excerpt");
                let marked = excerpt.text.chars().skip(excerpt.start).take(excerpt.len).collect();
                return (marked, problem.message.clone());
            }
            Err(error) => error.to_string(),
            Ok(read) => read.data.with_terms(&terms, &[], None).expect_err(formula).to_string(),
        },
    };
    let lines: Vec<&str> = words.lines().collect();
    let [said, text, marks] = lines[..] else { panic!("{formula}: {words}") };
    assert_eq!(text, format!("   |  {formula}"));
    let from = marks.chars().position(|c| c == '^').unwrap();
    let len = marks.chars().filter(|c| *c == '^').count();
    (text.chars().skip(from).take(len).collect(), said.to_owned())
}

#[test]
fn faults_are_marked_where_they_stand() {
    for (formula, at, words) in [
        ("u + w", "w", "no column \"w\" for `terms`"),
        ("u + #9", "#9", "no column \"#9\""),
        ("u + `f g`", "`f g`", "no column \"f g\""),
        ("u v", "v", "an operator is missing"),
        ("u + (v", "(", "the bracket is never closed"),
        ("u + v)", ")", "a bracket closes"),
        ("u +", "", "the formula ends"),
        ("u + + v", "+", "a column should stand here"),
        ("u^2", "u^", "I(x^2)"),
        ("(u + v)^0", "0", "from 1 to 99"),
        ("(u + v)^u", "u", "from 1 to 99"),
        ("u - 1", "1", "`intercept=none`"),
        ("u + 0", "0", "`intercept=none`"),
        ("0 + u", "0", "`intercept=none`"),
        ("label ~ u", "~", "the left side is the label"),
        ("u/f", "/", "a + a:b"),
        ("u %in% f", "%", "%in%"),
        ("(1 | f)", "|", "groups"),
        ("log(u)", "log", "there is no function log"),
        ("offset(u)", "offset", "`offset`"),
        ("relevel(f)", "relevel", "`reference`"),
        ("poly(u, 7)", "7", "from 1 to 6"),
        ("poly(u, 2, raw = FALSE)", "FALSE", "orthogonal"),
        ("poly(u, v)", "v", "one column"),
        ("poly(u, 2, simple = TRUE)", "simple", "degree and raw"),
        ("I(u + v)", "+", "a sum is no new column"),
        ("I(u^0)", "0", "from 1 to 6"),
        ("I(f^2)", "f", "the column holds text"),
        ("poly(f, 2)", "f", "the column holds text"),
        ("u + label", "label", "the column of the label"),
        ("u - v", "v", "no such term to take away"),
        ("u - u", "u - u", "no term is left"),
        ("u + poly(u, 4):I(v^3) + v", "poly(u, 4):I(v^3)", "degree 7"),
        ("u:v + u", "u:v", "\"v\" is no term"),
        ("3u", "3u", "a name that begins with a digit"),
        ("u:1", "1", "a number is no column"),
        ("`u", "`u", "the backquote is never closed"),
        ("``", "``", "no name between"),
        ("u & v", "&", "no part of a formula"),
        ("factor(u, v)", ",", "no part of a formula"),
    ] {
        let (found, said) = marked(formula);
        assert_eq!(found.trim(), at, "{formula}: {said}");
        assert!(said.contains(words), "{formula}: {said}");
    }
}

#[test]
fn formulas_without_end_are_refused() {
    for bad in [
        "",
        "  ",
        "~",
        &"(".repeat(500),
        &format!("{}u{}", "(".repeat(100), ")".repeat(100)),
        &"u+".repeat(20_000),
    ] {
        assert!(bad.parse::<Terms>().is_err(), "{bad}");
    }
    let wide: String = (0..300).map(|j| format!("c{j},")).collect();
    let row = |label: &str| format!("{}{label}\n", "1,".repeat(300));
    let text = format!("{wide}label\n{}{}", row("a"), row("b"));
    let error = error_of(&text, |o| o.terms = Some(".^6".parse().unwrap())).to_string();
    assert!(error.contains("more than 100000 terms"), "{error}");
}

#[test]
fn any_text_is_a_formula_or_refused() {
    let parts = [
        "u", "f", "(", ")", "+", "-", "*", ":", "^", "2", ".", "`", "poly(", ",", "I(", "ü", "#1",
        "=", " ",
    ];
    let mut state = 5u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(parts[(state >> 40) as usize % parts.len()]);
        }
        if let Ok(terms) = text.parse::<Terms>() {
            let rows = [[1.0, 2.0], [2.0, 5.0]];
            let data = Dataset::from_rows(&rows, &["a", "b"]).unwrap();
            // Whatever comes of it, it ends without a panic.
            let _ = data.design(&terms, &[], None);
        }
    }
}

#[test]
fn arrays_have_terms_of_their_columns() {
    let rows = [[1.0, 2.0, 3.0], [2.0, 5.0, 1.0], [0.5, 1.0, 4.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a"]).unwrap();
    let terms: Terms = "x3 * x1".parse().unwrap();
    let made = data.clone().with_terms(&terms, &[], None).unwrap();
    assert_eq!(made.input().feature_names(), ["x1", "x3", "x1*x3"]);
    assert_eq!(made.row(1), [2.0, 1.0, 2.0]);
    // A design has the order of the formula.
    let made = data.design(&terms, &[], None).unwrap();
    assert_eq!(made.input().feature_names(), ["x3", "x1", "x3*x1"]);
    assert_eq!(made.row(2), [4.0, 0.5, 2.0]);
    for bad in ["x4", "x1 + y", ". - x9"] {
        let error = data.design(&bad.parse().unwrap(), &[], None).unwrap_err();
        assert_eq!(error.code(), Code::NO_COLUMN, "{bad}");
    }
    let reference = [Reference::of("x1", "2").unwrap()];
    let error = data.design(&terms, &reference, None).unwrap_err();
    assert_eq!(error.code(), Code::NO_LEVEL);
}
