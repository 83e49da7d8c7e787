//! What a verdict means for logistic fits, and the rank of the rows, against brute force.

use crate::brute::{rank_of, signed, spans_unit, tied};
use crate::files::read_with;
use crate::proofs::{example, judge, never};
use linsep::data::read::Categorical;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use std::collections::HashMap;

/// Small whole rows with labels a and b, both present; some columns depend on others or are 0.
fn draw(stream: &mut Stream) -> (Vec<Vec<i64>>, Vec<bool>) {
    let (count, width) = (3 + stream.below(6) as usize, 1 + stream.below(4) as usize);
    let shape = stream.below(5);
    let rows: Vec<Vec<i64>> = (0..count)
        .map(|_| {
            let mut row: Vec<i64> = (0..width).map(|_| stream.below(3) as i64 - 1).collect();
            match shape {
                0 if width > 1 => row[width - 1] = row[0],
                1 if width > 2 => row[1] = 1 - row[0] - row[2],
                2 => row[0] = 0,
                3 => row[width - 1] = 2,
                _ => {}
            }
            row
        })
        .collect();
    let mut positive: Vec<bool> = (0..count).map(|_| stream.below(2) == 0).collect();
    (positive[0], positive[1]) = (true, false);
    (rows, positive)
}

fn judge_of(rows: &[Vec<i64>], positive: &[bool], bias: bool) -> Judge {
    let float = |row: &Vec<i64>| row.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = rows.iter().map(float).collect();
    let labels: Vec<&str> = positive.iter().map(|p| if *p { "p" } else { "n" }).collect();
    let mut judge = judge(&rows, &labels);
    judge.bias = bias;
    judge
}

#[test]
fn what_nothing_bounds_is_what_the_tied_rows_do_not_span() {
    let mut stream = Stream::new(21, Purpose::Generate(31));
    let (mut seen, mut partly) = (HashMap::new(), 0);
    for set in 0..4000 {
        let (rows, positive) = draw(&mut stream);
        let bias = set % 4 > 0;
        let judge = judge_of(&rows, &positive, bias);
        let words = format!("{rows:?} {positive:?} bias {bias}");
        let decision = judge.class("p", &never).unwrap();
        let meaning = judge.logistic(&decision).unwrap_or_else(|| panic!("{words}"));
        let vectors: Vec<Vec<i128>> =
            rows.iter().zip(&positive).map(|(row, p)| signed(row, *p, bias)).collect();
        let is_tied = tied(&vectors);
        let on_every_weak_plane: Vec<Vec<i128>> =
            vectors.iter().zip(&is_tied).filter(|(_, t)| **t).map(|(v, _)| v.clone()).collect();
        let width = vectors[0].len();
        let shift = usize::from(bias);
        let unbounded: Vec<Option<u32>> = (0..width)
            .filter(|&j| !spans_unit(&on_every_weak_plane, j, width))
            .map(|j| j.checked_sub(shift).map(|j| j as u32))
            .collect();
        let free: Vec<u64> = (0..).zip(&is_tied).filter(|(_, t)| !**t).map(|(i, _)| i).collect();
        assert_eq!(meaning.exists, free.is_empty(), "{words}");
        if meaning.exists {
            assert_eq!(meaning.unique, rank_of(&vectors) == width, "{words}");
            assert!(meaning.infinite.is_empty() && meaning.row_count == 0, "{words}");
        } else {
            assert_eq!(meaning.infinite, unbounded, "{words}");
            assert_eq!(meaning.rows, free, "{words}");
            assert_eq!(meaning.row_count, free.len() as u64);
            partly += usize::from(unbounded.len() < width);
        }
        *seen.entry(decision.verdict.word()).or_insert(0) += 1;
    }
    assert!(seen.len() == 3 && seen.values().all(|&count| count > 200), "{seen:?}");
    assert!(partly > 50, "{partly}");
}

#[test]
fn the_rank_and_the_columns_that_depend_on_others_are_exact() {
    let mut stream = Stream::new(22, Purpose::Generate(31));
    let mut deficient = 0;
    for set in 0..3000 {
        let (rows, positive) = draw(&mut stream);
        let bias = set % 4 > 0;
        let judge = judge_of(&rows, &positive, bias);
        let decision = judge.class("p", &never).unwrap();
        let rank = judge.rank(&decision, &never).unwrap();
        let vectors: Vec<Vec<i128>> = rows.iter().map(|row| signed(row, true, bias)).collect();
        let width = vectors[0].len();
        let dependent: Vec<Option<u32>> = (0..width)
            .filter(|&j| !spans_unit(&vectors, j, width))
            .map(|j| j.checked_sub(usize::from(bias)).map(|j| j as u32))
            .collect();
        assert_eq!((rank.rank, rank.dimension), (rank_of(&vectors), width), "{rows:?} bias {bias}");
        assert_eq!(rank.dependent, Some(dependent), "{rows:?} bias {bias}");
        deficient += usize::from(rank.rank < width);
    }
    assert!(deficient > 500, "{deficient}");
}

#[test]
fn a_category_that_only_one_class_has_is_named_with_its_rows_and_nothing_else_is() {
    // Colour "red" stands in positive rows only; everything else overlaps.
    let mut text = "size,colour,label\n".to_owned();
    let mut stream = Stream::new(5, Purpose::Generate(3));
    let mut red = Vec::new();
    for row in 0..400u64 {
        let positive = stream.below(2) == 0;
        let colour = match (positive, stream.below(20)) {
            (true, 0) => "red",
            (_, n) if n % 2 == 0 => "blue",
            _ => "green",
        };
        if colour == "red" {
            red.push(row);
        }
        let label = if positive { "yes" } else { "no" };
        text.push_str(&format!("{}.5,{colour},{label}\n", stream.below(30)));
    }
    assert!(red.len() > 3);
    // Without the constant the levels are independent, so every coefficient stands for itself.
    let data = read_with(text, |options| options.categorical = Categorical::OneHot).unwrap().data;
    let names = data.input().feature_names();
    assert_eq!(names, ["size", "colour=blue", "colour=green", "colour=red"]);
    let mut judge = Judge::new(data);
    judge.bias = false;
    let decision = judge.class("yes", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Touching);
    let meaning = judge.logistic(&decision).unwrap();
    assert!(!meaning.exists);
    assert_eq!(meaning.infinite, [Some(3)]);
    assert_eq!(meaning.rows, red);
    let rank = judge.rank(&decision, &never).unwrap();
    assert_eq!((rank.rank, rank.dimension, rank.dependent), (4, 4, Some(Vec::new())));
    // With it, the levels add up to the constant in every row.
    judge.bias = true;
    let decision = judge.class("yes", &never).unwrap();
    let rank = judge.rank(&decision, &never).unwrap();
    let levels_and_bias = vec![None, Some(1), Some(2), Some(3)];
    assert_eq!((rank.rank, rank.dimension, rank.dependent), (4, 5, Some(levels_and_bias)));
}

#[test]
fn relations_that_a_sample_shows_but_the_rest_breaks_are_not_believed() {
    // The third column is the sum of the others but in one late row, the fourth is 0 but in another;
    // the fifth is a relation of long decimals that holds everywhere.
    let mut text = "a,b,c,d,e,label\n".to_owned();
    for row in 0..5000u64 {
        let (a, b) = (row % 17, row % 23);
        let c = if row == 4321 { a + b + 1 } else { a + b };
        let d = if row == 3210 { "0.0625" } else { "0" };
        text.push_str(&format!("{a},{b},{c},{d},{a}.{b:013},{}\n", row % 2));
    }
    let data = crate::files::read_text(&text).data;
    let mut judge = Judge::new(data);
    judge.kind = false;
    judge.threads = 2;
    let decision = judge.class("1", &never).unwrap();
    let rank = judge.rank(&decision, &never).unwrap();
    assert_eq!((rank.rank, rank.dimension), (5, 6));
    assert_eq!(rank.dependent, Some(vec![Some(0), Some(1), Some(4)]));
}

#[test]
fn digits_have_columns_that_are_zero_and_wide_data_has_at_most_its_rows() {
    let judge = Judge::new(example("digits.csv"));
    let decision = judge.class("0", &never).unwrap();
    let rank = judge.rank(&decision, &never).unwrap();
    let columns = |list: &[u32]| list.iter().map(|&j| Some(j)).collect::<Vec<_>>();
    assert_eq!((rank.rank, rank.dimension), (62, 65));
    assert_eq!(rank.dependent, Some(columns(&[0, 32, 39])));
    let wide: Vec<Vec<f64>> =
        (0..3).map(|i| (0..200).map(|j| f64::from((i * j * j) % 7)).collect()).collect();
    let judge = crate::proofs::judge(&wide, &["a", "b", "a"]);
    let decision = judge.class("a", &never).unwrap();
    assert_eq!(judge.rank(&decision, &never).unwrap().rank, 3);
    assert!(judge.logistic(&decision).unwrap().infinite.len() == 201);
}
