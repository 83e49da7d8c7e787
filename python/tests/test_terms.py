"""Formulas agree with those of statsmodels, which patsy takes apart; references are levels."""

import warnings

import linsep
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

rng = np.random.default_rng(19)
ROWS = 400
frame = pandas.DataFrame(
    {
        "age": rng.integers(20, 70, ROWS),
        "bmi": rng.normal(26, 4, ROWS).round(1),
        "sex": rng.choice(["female", "male"], ROWS),
        "site": rng.choice(["a", "b", "c"], ROWS),
    }
)
score = (frame.age - 45) / 20 * np.where(frame.sex == "male", 1, -0.5) + (frame.bmi - 26) / 8 + (frame.site == "b")
y = (score + rng.logistic(size=ROWS) > 0).astype(int)

#: Ours, theirs, and the levels that the others are compared with.
FORMULAS = [
    ("age + sex", "age + sex", {}),
    ("age * sex", "age * C(sex, Treatment('male'))", {"sex": "male"}),
    ("age + bmi + poly(bmi, 2)", "age + bmi + I(bmi**2)", {}),
    ("site * sex + bmi", "site * sex + bmi", {}),
    ("(bmi + site + sex)^2", "(bmi + site + sex)**2", {}),
    (
        "site:bmi + site + bmi + I(bmi^2)",
        "C(site, Treatment('c')):bmi + C(site, Treatment('c')) + bmi + I(bmi**2)",
        {"site": "c"},
    ),
    (". - age", "bmi + sex + site", {}),
    ("bmi:sex", "bmi:sex", {}),
    ("sex + sex:bmi", "sex + sex:bmi", {}),
    ("bmi:site - 0", "bmi:site", {}),
]


def _name(theirs):
    """What we call a coefficient of patsy."""
    if theirs == "Intercept":
        return "(bias)"
    parts = []
    for part in theirs.split(":"):
        if "[" in part:
            column, level = part.rstrip("]").split("[")
            column = column.removeprefix("C(").split(",")[0]
            part = f"{column}={level.removeprefix('T.')}"
        elif part.startswith("I("):
            part = part[2:-1].replace(" ** ", "^")
        parts.append(part)
    return frozenset(parts) if len(parts) > 1 else parts[0]


def _ours(name):
    parts = name.split("*")
    return frozenset(parts) if len(parts) > 1 else name


@pytest.mark.parametrize(("terms", "formula", "reference"), FORMULAS)
def test_coefficients_agree_with_statsmodels(terms, formula, reference):
    api = pytest.importorskip("statsmodels.formula.api")
    peer = api.logit(f"y ~ {formula}", frame.assign(y=y)).fit(disp=0, tol=1e-14, maxiter=200)
    found = linsep.infer(frame, y, terms=terms, reference=reference, profile=False)
    theirs = {_name(name): (peer.params[name], peer.bse[name]) for name in peer.params.index}
    ours = {_ours(name): pair for name, *pair in zip(found.names, found.params, found.bse)}
    assert set(ours) == set(theirs)
    for name, pair in ours.items():
        np.testing.assert_allclose(pair, theirs[name], rtol=1e-5, err_msg=str(name))
    np.testing.assert_allclose(found.llf, peer.llf, rtol=1e-9)


def test_numbers_become_levels():
    api = pytest.importorskip("statsmodels.formula.api")
    numbers = frame.assign(year=rng.choice([9, 10, 11], ROWS))[["bmi", "year"]]
    peer = api.logit("y ~ bmi + C(year)", numbers.assign(y=y)).fit(disp=0, tol=1e-14)
    found = linsep.infer(numbers, y, terms="bmi + factor(year)", profile=False)
    assert found.names == ["(bias)", "bmi", "year=10", "year=11"]
    wanted = [peer.params[name] for name in ["Intercept", "bmi", "C(year)[T.10]", "C(year)[T.11]"]]
    np.testing.assert_allclose(found.params, wanted, rtol=1e-5)


def test_arrays_have_terms_by_number():
    found = linsep.infer(frame[["age", "bmi"]].to_numpy(), y, terms="x1 * x2", profile=False)
    assert found.names == ["(bias)", "x1", "x2", "x1*x2"]
    named = linsep.infer(frame[["age", "bmi"]], y, terms="age * bmi", profile=False)
    np.testing.assert_allclose(found.params, named.params, rtol=1e-9)


def test_a_reference_is_a_class_or_levels():
    kinds = pandas.Series(np.digitize(score, [-0.5, 0.8]).astype(str), name="kind")
    numbers = frame[["age", "sex"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linsep.ColumnsWarning)
        plain = linsep.infer(numbers, kinds, reference="1", profile=False)
        both = linsep.infer(numbers, kinds, reference={"kind": "1", "sex": "male"}, profile=False)
        same = linsep.infer(numbers, kinds, reference={None: "1", "sex": "male"}, profile=False)
    assert plain.names[2] == "0: sex=male" and both.names[2] == "0: sex=female"
    np.testing.assert_allclose(both.params[2], -plain.params[2], rtol=1e-6)
    np.testing.assert_array_equal(both.params, same.params)


def test_verdicts_are_of_terms_and_their_proofs_of_raw_columns():
    square = pandas.DataFrame({"u": [0, 0, 1, 1], "v": ["n", "y", "n", "y"], "other": [1.0, 2.0, 3.0, 5.0]})
    labels = ["a", "b", "b", "a"]
    assert not linsep.separable(square, labels, terms="u + v")
    verdict = linsep.separable(square, labels, terms="u * v", reference={"v": "y"})
    assert verdict
    again = linsep.verify(verdict.certificate, square, labels, terms="u * v", reference={"v": "y"})
    assert again
    changed = square.assign(u=[0, 0, 1, 0])
    assert not linsep.verify(verdict.certificate, changed, labels, terms="u * v", reference={"v": "y"})


@pytest.mark.parametrize(
    ("terms", "reference", "words"),
    [
        ("age + w", None, 'no column "w"'),
        ("age +", None, "the formula ends"),
        ("age - 1", None, "intercept"),
        ("log(bmi)", None, "no function log"),
        ("age * sex", {"sex": "mal"}, 'no level "mal"'),
        ("age * sex", {"sx": "male"}, 'no column "sx"'),
        ("age * sex", {"age": 30}, "holds numbers"),
    ],
)
def test_bad_formulas_are_value_errors(terms, reference, words):
    with pytest.raises(ValueError, match="(?s)" + words.replace("(", "\\(")):
        linsep.infer(frame, y, terms=terms, reference=reference)
