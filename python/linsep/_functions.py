"""The functions of the package. They need numpy only."""

import os

import numpy as np

from linsep import _input, _linsep, _tables
from linsep._base import threads
from linsep._results import Certificate, Certified, Checked, Rows, Verdict


def data(
    X, y, sample_weight=None, n_jobs=None, classes=None, tell=True, terms=None, reference=None, whole=True
):
    """Rows, labels and weights at the door: the data, the classes and the matrix as it was taken.

    ``terms`` are those of a formula, ``reference`` the levels of columns without a feature. With ``whole`` each
    column of a product has to be a term, too.
    """
    levels = [(str(column), str(level)) for column, level in (reference or {}).items()]
    taken = X if isinstance(X, _input.Matrix) else _taken(X, terms, levels)
    found, codes = _input.labels(y)
    _input.same_length(taken, codes)
    if classes is not None:
        found, codes = _among(found, codes, np.asarray(classes))
    if isinstance(taken.form, _tables.Table):
        held, notes = _table(taken, codes, found, sample_weight, n_jobs, terms, levels)
        if tell:
            _tables.tell(notes)
        return _with_terms(held, terms, levels, whole), found, taken
    held = _linsep.Data(
        taken.form,
        codes,
        _input.class_texts(found),
        _input.weights(sample_weight, taken.shape[0]),
        taken.names,
        threads(n_jobs, taken.shape),
    )
    if levels and terms is None:
        raise ValueError(f"reference: column {levels[0][0]!r} has no levels, as X has numbers alone")
    return _with_terms(held, terms, levels, whole), found, taken


def _taken(X, terms, levels):
    """The form in which the library takes X: a table, where levels are asked of a frame of numbers."""
    X = _input.readable(X)
    factors = terms is not None and any(word in terms for word in ("factor(", "C("))
    if _input.is_frame(X) and (factors or levels):
        return _input.table(X)
    return _input.matrix(X, tables=True)


def _with_terms(held, terms, levels, whole):
    return held if terms is None else held.with_terms(terms, levels, whole=whole)


def _table(taken, codes, classes, sample_weight, n_jobs, terms=None, levels=()):
    """Rows of a table with columns of texts, labels and weights, and what was decided about columns."""
    texts = _input.class_texts(classes)
    label = taken.form.free_name("label")
    more = {label: [texts[code] for code in codes]}
    weights, weight = _input.weights(sample_weight, taken.shape[0]), None
    if weights is not None:
        weight = taken.form.free_name("weight")
        more[weight] = weights
    content = taken.form.stream(**more)
    jobs = threads(n_jobs, taken.shape)
    return _linsep.Data.of_table(content, label, texts, weight, jobs, terms, list(levels))


def _among(found, codes, classes):
    """Labels as places in classes that were given."""
    classes = np.unique(classes)
    places = np.searchsorted(classes, found)
    places[places == len(classes)] = 0
    unknown = classes[places] != found
    if unknown.any():
        label = found[np.argmax(unknown)]
        row = int(np.argmax(codes == np.argmax(unknown)))
        raise ValueError(f"y[{row}] is {label!r}, which is none of the classes {classes.tolist()}")
    return classes, places[codes]


def separable(X, y, sample_weight=None, *, terms=None, reference=None, fit_intercept=True, n_jobs=None):
    """Decides whether planes separate the classes, with a proof either way.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows. Numbers count as they are, exactly.
    y : array of shape (n_samples,)
        The classes. Of two classes one plane is asked for, of more one score for each class, all at once.
    sample_weight : array of shape (n_samples,), optional
        Rows of weight 0 take no part.
    terms : str, optional
        The terms that planes are linear in, as a formula without the left side: ``'age * sex + poly(bmi, 2)'``.
        Powers are raw. Each column of a product has to be a term, too.
    reference : dict, optional
        Of columns of texts the level that has no feature, such as ``{'sex': 'male'}``.
    fit_intercept : bool, default True
        Whether planes have a bias.
    n_jobs : int, optional
        Threads; all by default. They never change an answer.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import linsep
    >>> verdict = linsep.separable([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> verdict.verdict
    'overlapping'
    >>> verdict.witness
    [(0, 1), (1, 1), (2, 1), (3, 1)]
    """
    held, classes, taken = data(X, y, sample_weight, n_jobs, terms=terms, reference=reference)
    inner = _linsep.separable(held, fit_intercept=bool(fit_intercept), threads=threads(n_jobs, taken.shape))
    return Verdict(inner, classes, taken.names if terms is None else held.feature_names)


def verify(subject, X, y, sample_weight=None, *, terms=None, reference=None, n_jobs=None):
    """Checks every claim of a certificate or of a fitted estimator against data, in exact arithmetic.

    No solver takes part: only the data, the claims and the checker.

    Parameters
    ----------
    subject : Certificate, estimator, str or path
        A certificate, its JSON text, a fitted estimator of this package, or a file of one of them.
    X, y, sample_weight
        The data that the claims are about.
    terms, reference
        As :func:`separable` had them.

    Returns
    -------
    list of dict
        Claim, what it is about, ``'true'``, ``'unproved'`` or ``'false'``, and the words of the checker. The
        list is true where every claim holds.

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0], [1.0], [2.0]], ["low", "high", "high"]
    >>> bool(linsep.verify(linsep.separable(X, y).certificate, X, y))
    True
    >>> bool(linsep.verify(linsep.separable(X, y).certificate, X, ["low", "low", "high"]))
    False
    """
    held, _, taken = data(X, y, sample_weight, n_jobs, tell=False, terms=terms, reference=reference)
    return Checked(_claims_of(subject).verify(held, threads(n_jobs, taken.shape)))


def _claims_of(subject):
    """What has claims to be checked."""
    if isinstance(subject, Certificate):
        return subject._inner
    if isinstance(subject, Verdict):
        return subject._inner.certificate
    if isinstance(subject, Certified):
        return subject.certificate._inner
    model = getattr(subject, "_model", None)
    if model is not None:
        return model
    if isinstance(subject, str) and subject.lstrip().startswith("{"):
        return _linsep.Certificate.from_json(subject)
    if isinstance(subject, (str, os.PathLike)):
        return _claims_of(read(subject))
    raise TypeError(f"a certificate or a fitted estimator is expected, not {type(subject).__name__}")


def read(path, label=None):
    """Reads a file: a model becomes an estimator, a certificate a certificate, anything else rows of data.

    Parameters
    ----------
    path : str or path
        A file ``.linsep`` of ``save`` or of ``linsep train``, a certificate of ``linsep separable``, or data as
        the program reads it: CSV, svmlight, Parquet, Arrow, also packed.
    label : str, optional
        Of data, the column with the classes, by name or as ``#N``; found as the program finds it by default.

    Returns
    -------
    estimator, Certificate or Rows
        ``X, y = linsep.read("iris.csv")`` takes rows apart.
    """
    with open(path, "rb") as file:
        start = file.read(320)
    if start.lstrip().startswith(b"{") and b"linsep.certificate" in start:
        with open(path, encoding="utf-8") as file:
            return Certificate.from_json(file.read())
    if _linsep.Model.is_one(start):
        return load(path)
    held, notes = _linsep.Data.of_file(os.fspath(path), label, threads(None))
    return Rows(held, notes)


def load(path):
    """The fitted estimator of a model file."""
    from linsep import _estimators

    return _estimators.of_model(_linsep.Model.load(os.fspath(path)))


def certify(estimator, X, y, sample_weight=None, *, tol=1e-6, max_iter=None, n_jobs=None):
    """Proves how near the optimum of its own objective a fitted linear classifier of scikit-learn is.

    The same objective is minimised here, and what bounds it from below bounds the given planes, too.

    Parameters
    ----------
    estimator : fitted LogisticRegression, LinearSVC, SGDClassifier or RidgeClassifier of scikit-learn
        Its class and parameters say what it minimises. Class weights that it lists become weights of the rows.
    X, y, sample_weight
        The data that it was fitted to.
    tol : float, default 1e-6
        How near the optimum the bound is to be.

    Returns
    -------
    Certified
    """
    from linsep._foreign import objective_of, with_class_weights

    sample_weight = with_class_weights(estimator, y, sample_weight)
    learner, settings, weights, biases = objective_of(estimator, y, tol)
    held, classes, taken = data(X, y, sample_weight, n_jobs)
    if taken.shape[1] != len(weights[0]):
        raise ValueError(
            f"X has {taken.shape[1]} features, but {type(estimator).__name__} has {len(weights[0])} weights"
        )
    if len(classes) != len(estimator.classes_) or (classes != estimator.classes_).any():
        raise ValueError(f"y has the classes {classes.tolist()}, the estimator {list(estimator.classes_)}")
    workers = threads(n_jobs, taken.shape)
    if learner == "least-squares":
        balanced = settings.get("class-weight") == "balanced"
        inner, settled = _linsep.certify_ridge(
            held, weights, biases, l2=float(settings["l2"]), balanced=balanced, threads=workers
        )
    else:
        inner, settled = _linsep.certify(learner, settings, held, weights, biases, epochs=max_iter, threads=workers)
    return Certified(inner, settled, learner, settings, sample_weight)

