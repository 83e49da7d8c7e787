"""What a logistic regression says of its coefficients, with errors, tests and intervals."""

import json

import numpy as np

from linsep import _functions, _input, _linsep
from linsep._base import available_if, threads

_INFINITE = {"+inf": np.inf, "-inf": -np.inf}


def infer(
    X,
    y,
    sample_weight=None,
    *,
    penalty=None,
    correction=None,
    se="expected",
    confidence=0.95,
    profile=True,
    weights_as="frequency",
    offset=None,
    fit_intercept=True,
    terms=None,
    reference=None,
    residuals=False,
    n_jobs=None,
):
    """Fits a logistic regression without a ridge and judges its coefficients.

    Parameters
    ----------
    X, y
        Rows and classes. Of two classes the odds are those of the second, of more those of each class against the
        first one, or against ``reference``. Of a column of texts the first level is left out, or ``reference``.
    sample_weight : array of shape (n_samples,), optional
        How many rows each one stands for, or with ``weights_as="analytic"`` relative precisions.
    penalty : {None, "firth"}
        Maximum likelihood, or with Jeffreys' prior, which keeps every coefficient finite.
    correction : {None, "flic", "flac"}
        What is done to the intercept of Firth's fit.
    se : {"expected", "robust"}
        Standard errors from the expected information, or from the sandwich of the rows' scores.
    profile : bool, default True
        Whether profile-likelihood intervals and likelihood-ratio tests are wanted.
    offset : array of shape (n_samples,), optional
        Added to the log-odds (two classes).
    terms : str, optional
        The terms of the model, as a formula without the left side: ``'age * sex + poly(bmi, 2)'``. Powers are raw,
        columns of texts and ``factor(x)`` are factors, and a column that is not named is not used.
    reference : class or dict, optional
        The class that the others are compared with; or for columns of texts the level that the others are compared
        with, such as ``{'sex': 'male'}``, in which the class has the key ``None`` or the name of ``y``.
    residuals : bool, default False
        Whether residuals of each row are wanted (two classes).

    Returns
    -------
    LogisticResults

    Examples
    --------
    >>> import linsep
    >>> found = linsep.infer([[1], [2], [3], [4], [5], [6]], ["no", "no", "yes", "no", "yes", "yes"])
    >>> found.params.round(3).tolist()
    [-4.42, 1.263]
    """
    reference, levels = _reference(reference, y)
    held, classes, taken = _functions.data(
        X, y, sample_weight, n_jobs, terms=terms, reference=levels, whole=False
    )
    return _judged(
        held,
        classes,
        taken.shape,
        n_jobs,
        offset=offset,
        residuals=residuals,
        penalty=penalty,
        correction=correction,
        se=se,
        confidence=float(confidence),
        profile="on" if profile else "off",
        weights_as=weights_as,
        intercept="free" if fit_intercept else "none",
        reference=None if reference is None else _input.class_texts(np.asarray([reference]))[0],
    )


def _reference(reference, y):
    """The class of comparison, and the levels of columns."""
    if not isinstance(reference, dict):
        return reference, {}
    levels = dict(reference)
    for name in (None, getattr(y, "name", None)):
        if name in levels:
            return levels.pop(name), levels
    return None, levels


def _judged(held, classes, shape, n_jobs, offset=None, residuals=False, **settings):
    words = {name.replace("_", "-"): str(value) for name, value in settings.items() if value is not None}
    if words.get("penalty") not in (None, "none", "firth"):
        raise ValueError(f"penalty must be None or 'firth', not {settings['penalty']!r}")
    if offset is not None:
        offset = np.asarray(offset, dtype=float).ravel().tolist()
    text = _linsep.infer(held, words, offset=offset, residuals=bool(residuals), threads=threads(n_jobs, shape))
    found, rows = json.loads(text)
    return LogisticResults({**found, "residuals": rows}, classes)


class LogisticResults:
    """Coefficients of a logistic regression, how well they are known, and how well the model fits.

    Coefficients stand in one order everywhere: the intercept, then the columns; of more than two classes one class after
    the other. What is infinite is ``inf``; what does not exist is ``nan``.

    Attributes
    ----------
    names : list of str
        The columns; the intercept is ``'(bias)'``.
    standings : list of str
        ``'finite'``, ``'+inf'``, ``'-inf'``, ``'undetermined'`` or ``'aliased'``.
    params, bse, zvalues, pvalues_ : arrays
        Estimates, standard errors, Wald statistics and their p-values.
    lr_pvalues_ : array
        p-values of likelihood-ratio tests.
    llf, deviance, null_deviance, aic, bic, nobs, df_resid : float
        How well the model fits.
    """

    def __init__(self, found, classes):
        self._found = found
        self.classes = classes

    def _column(self, name, inside=None):
        def number(one):
            value = one[name] if inside is None or one[name] is None else one[name][inside]
            return _number(value)

        return np.array([number(one) for one in self._found["coefficients"]])

    @property
    def names(self):
        ones = self._found["coefficients"]
        if ones[0]["class"] is None:
            return [one["column"] for one in ones]
        return [f"{one['class']}: {one['column']}" for one in ones]

    @property
    def standings(self):
        return [one["standing"] for one in self._found["coefficients"]]

    @property
    def params(self):
        return self._column("estimate")

    @property
    def bse(self):
        return self._column("standard_error")

    @property
    def zvalues(self):
        return self._column("z")

    @property
    def pvalues_(self):
        return self._column("p")

    @property
    def lr_pvalues_(self):
        return self._column("likelihood_ratio", "p")

    @property
    def odds_ratios(self):
        return self._column("odds_ratio")

    @property
    def cov(self):
        """Covariance of the coefficients that have a standard error."""
        return np.array(self._found["covariance"])

    @property
    def profile(self):
        """Profile-likelihood intervals, a row of two ends for each coefficient."""
        return self._ends("profile", lambda end: _number(end["value"]))

    @property
    def profile_widths(self):
        """The widths of the brackets in which the ends of the profiles were found."""
        return self._ends("profile", lambda end: _number(end["width"]))

    def conf_int(self, method=None):
        """Intervals of the confidence of the fit: ``'profile'`` (the default where there are profiles) or ``'wald'``."""
        if method is None:
            method = "wald" if all(one["profile"] is None for one in self._found["coefficients"]) else "profile"
        if method == "profile":
            return self.profile
        if method == "wald":
            return self._ends("wald", _number)
        raise ValueError(f"method must be 'profile' or 'wald', not {method!r}")

    def _ends(self, name, number):
        none = [np.nan, np.nan]
        ones = self._found["coefficients"]
        return np.array([none if one[name] is None else [number(end) for end in one[name]] for one in ones])

    @property
    def llf(self):
        return self._found["log_likelihood"]

    @property
    def deviance(self):
        return self._found["deviance"]

    @property
    def null_deviance(self):
        return self._found["null_deviance"]

    @property
    def aic(self):
        return self._found["aic"]

    @property
    def bic(self):
        return self._found["bic"]

    @property
    def nobs(self):
        return self._found["observations"]

    @property
    def df_resid(self):
        return self._found["residual_df"]

    @property
    def separation(self):
        """Why no maximum-likelihood fit exists: kind and number of rows; ``None`` where one does."""
        return self._found["separation"]

    @property
    def likelihood_ratio(self):
        """The model against the one without columns: statistic, degrees of freedom and p."""
        return self._found["likelihood_ratio"]

    @property
    def notes(self):
        return self._found["notes"]

    @property
    def residuals(self):
        """Residuals by name, if they were asked for: row, weight, response, fitted, deviance, pearson, leverage, cook."""
        found = self._found["residuals"]
        rows = np.array([[row, *values] for row, values in found["rows"]]).reshape(-1, 1 + len(found["names"]))
        return {name: rows[:, k] for k, name in enumerate(["row", *found["names"]])}

    def to_dict(self):
        """Everything as plain data."""
        return self._found

    def summary_frame(self):
        """The coefficients as a data frame of pandas, a row for each."""
        import pandas

        ends = self.conf_int()
        return pandas.DataFrame(
            {
                "estimate": self.params,
                "std_error": self.bse,
                "z": self.zvalues,
                "p": self.pvalues_,
                "p_lr": self.lr_pvalues_,
                "lower": ends[:, 0],
                "upper": ends[:, 1],
                "odds_ratio": self.odds_ratios,
                "standing": self.standings,
            },
            index=self.names,
        )

    def __repr__(self):
        rows = zip(self.names, self.params, self.bse, self.pvalues_, self.conf_int())
        lines = [f"{name}: {b:.5g} (se {se:.4g}, p {p:.3g}) [{low:.5g}, {up:.5g}]" for name, b, se, p, (low, up) in rows]
        return "\n".join([f"<linsep logistic results: {self.nobs:g} observations, deviance {self.deviance:.6g}>", *lines])


def _number(value):
    if value is None:
        return np.nan
    return _INFINITE.get(value, value) if isinstance(value, str) else float(value)


def _infers(estimator):
    """Whether the estimator is a fit without a penalty, or why not."""
    if estimator._recipe["name"] != "logistic":
        return "inference is for LogisticRegression"
    if getattr(estimator, "penalty", "l2") is not None:
        return "standard errors are for fits without a penalty; use penalty=None, or linsep.infer"
    if getattr(estimator, "class_weight", None) is not None:
        return "class weights change what the errors mean; use linsep.infer with sample_weight"
    return True


class Inferring:
    """What an estimator without a penalty says of its coefficients."""

    @available_if(_infers)
    def results(self, **settings):
        """Errors, tests and intervals of the coefficients, of the rows that were last learned from.

        Takes the keywords of :func:`linsep.infer`. The rows are not part of a pickle.
        """
        self._check_fitted()
        held = self.__dict__.get("_learned_from")
        if held is None:
            raise AttributeError("the rows are gone, they are not saved with the estimator; use linsep.infer(X, y)")
        data, shape = held
        usual = {"profile": "on", "intercept": "free" if self.fit_intercept else "none", **settings}
        usual["profile"] = "on" if usual["profile"] in (True, "on") else "off"
        return _judged(data, self.classes_, shape, self.n_jobs, **usual)

    @available_if(_infers)
    def summary_frame(self, **settings):
        """The coefficients with errors, tests and intervals, as a data frame of pandas."""
        return self.results(**settings).summary_frame()

    def __getstate__(self):
        above = getattr(super(), "__getstate__", None)
        state = dict(above() if above else self.__dict__)
        state.pop("_learned_from", None)
        return state
