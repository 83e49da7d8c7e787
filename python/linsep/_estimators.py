"""Estimators, made from the registry: one class for each learner.

Where scikit-learn is installed they are its estimators in every respect; without it they have the same
methods on a small base of their own.
"""

import inspect
import sys
import textwrap
import time
import warnings

import numpy as np

from linsep import _base, _functions, _input, _linsep, _registry
from linsep._axes import Projecting
from linsep._base import available_if, threads
from linsep._exports import Exporting
from linsep._inference import Inferring
from linsep._results import Certificate, Picture
from linsep._warnings import NotSeparableWarning

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import validate_data
except ImportError:
    BaseEstimator, ClassifierMixin, NotFittedError = _base.Base, _base.Classifier, _base.NotFittedError
    _ConvergenceWarning = UserWarning
    check_classification_targets = validate_data = None


class ConvergenceWarning(_ConvergenceWarning):
    """A run ended at a limit before it was done.

    Attributes
    ----------
    stop : str
        Why it ended.
    gap : float or None
        The relative gap to the optimum that was reached.
    """

    def __init__(self, message, stop=None, gap=None):
        super().__init__(message)
        self.stop = stop
        self.gap = gap


def _streams(estimator):
    """Whether rows can come part by part under the parameters, or why not."""
    recipe = estimator._recipe
    if "stream" not in recipe["abilities"]:
        return "the learner needs all rows at once"
    if getattr(estimator, "multiclass", None) == "ovo":
        return "pairs of classes have rows of their own"
    if getattr(estimator, "eta0", None) == "auto" and not getattr(estimator, "normalised", True):
        return "the rate 'auto' comes from all rows; give eta0"
    return True


def _has_probabilities(estimator):
    """Whether scores become probabilities, or why not."""
    model = estimator.__dict__.get("_model")
    if model is not None:
        return True if model.has_probabilities else "its scores are no logarithms of odds"
    recipe = estimator._recipe
    if "probabilities" not in recipe["abilities"]:
        return "its scores are no logarithms of odds"
    for ability, setting, values, many in recipe["only"]:
        if ability == "probabilities" and not many:
            parameter = next(p for p in recipe["parameters"] if p["name"] == setting)
            value = getattr(estimator, _registry.python_name(parameter))
            if _registry.registry_text(parameter, value) not in values:
                return f"{setting}={value!r} has none"
    return True


class LinearClassifier(Inferring, Exporting, ClassifierMixin, BaseEstimator):
    """What all estimators of the package share."""

    _recipe = None

    def fit(self, X, y, sample_weight=None):
        """Learns from all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. They are copied once.
        y : array of shape (n_samples,)
            The classes: whole numbers, texts or booleans.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows; one of weight 0 is absent.

        Returns
        -------
        self
        """
        data, classes, shape = self._at_the_door(X, y, sample_weight, reset=True)
        show = _Progress(self) if getattr(self, "verbose", 0) else None
        callback = getattr(self, "callback", None)
        try:
            with _registry.errors_in_python(self):
                model = _linsep.fit(
                    self._recipe["name"],
                    self._settings(classes=classes),
                    data,
                    seed=_seed(getattr(self, "random_state", None)),
                    epochs=self._max_iter(),
                    threads=threads(self.n_jobs, shape),
                    callback=_both(show, callback),
                )
        finally:
            if show:
                show.end()
        self._take(model, classes)
        is_plain = self._recipe["name"] == "logistic" and self.penalty is None
        self.__dict__.pop("_learned_from", None)
        if is_plain:
            self._learned_from = (data, shape)
        self._margin = None
        if self.verdict_ == "separable" and len(classes) == 2 and not model.is_ballot:
            self._margin = self._least_margin(X, y, sample_weight)
        self._warn()
        return self

    @available_if(_streams)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns from the next rows of a stream, each seen once and in order.

        After ``fit`` a stream begins with the planes of the model where the learner can begin with planes, and
        from nothing otherwise. Rows are not scaled, and nothing is proved: they are gone.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array, optional
            All classes that may come. Needed at the first call.
        """
        begun = "_model" in self.__dict__
        if begun and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        if not begun and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = self.classes_ if begun else np.unique(classes)
        data, known, shape = self._at_the_door(
            X, y, sample_weight, reset=not begun, classes=known, tables=False
        )
        with _registry.errors_in_python(self):
            model = _linsep.partial_fit(
                self._recipe["name"],
                self._settings(stream=True),
                data,
                self._model if begun else None,
                seed=_seed(getattr(self, "random_state", None)),
                threads=threads(self.n_jobs, shape),
            )
        self._take(model, known)
        self._margin = None
        return self

    def predict(self, X):
        """The class of every row."""
        taken = self._rows(X)
        return self.classes_[self._model.predict(taken.form, threads(self.n_jobs, taken.shape))]

    def predict_one(self, row):
        """The class of one row, given as a list or an array of one dimension; quick for single rows."""
        return self.classes_[self._model.predict_one(row)]

    def decision_function(self, X):
        """The scores of every row: one for two classes, positive for the second, else one for each class."""
        taken = self._rows(X)
        scores = self._model.scores(taken.form, threads(self.n_jobs, taken.shape))
        rule = self._model.rule
        if rule == "sign":
            return scores[:, 0]
        if rule == "rest-last":
            return np.hstack([scores, np.zeros((len(scores), 1))])
        if rule == "vote":
            return _standings(scores, len(self.classes_))
        return scores

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """The probability of each class for every row, in the order of ``classes_``."""
        taken = self._rows(X)
        return self._model.probabilities(taken.form, threads(self.n_jobs, taken.shape))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def verify(self, X, y, sample_weight=None):
        """Checks everything that is claimed of the model against the data it was learned from."""
        self._check_fitted()
        return _functions.verify(self, X, y, self._weights(y, sample_weight))

    def plot(self, X, y, title=None):
        """A picture of rows and regions as SVG."""
        self._check_fitted()
        data, _, _ = _functions.data(X, y, None, self.n_jobs, classes=self.classes_)
        return Picture(self._model.plot(data, title))

    def _plane_parts(self, name):
        self._check_fitted()
        if self._planes is None:
            raise AttributeError(f"{type(self).__name__} has no {name}: many planes vote")
        return self._planes[name == "intercept_"]

    # Predictions and the certificate are those of the model: other planes would change neither, so none can
    # be set.
    @property
    def coef_(self):
        """The weights of each plane, a row for each. They cannot be written."""
        return self._plane_parts("coef_")

    @property
    def intercept_(self):
        """The bias of each plane. They cannot be written."""
        return self._plane_parts("intercept_")

    @property
    def certificate_(self):
        """What is proved of the model."""
        self._check_fitted()
        return Certificate(self._model.certificate)

    @property
    def verdict_(self):
        """What the certificate says of the classes: ``'separable'``, ``'inseparable'`` or ``None``."""
        self._check_fitted()
        words = [kind.removeprefix("joint-") for kind, _ in self._model.kinds]
        for word in ("overlapping", "touching", "inseparable"):
            if word in words:
                return word
        proved = [word for word in words if word != "geometric-margin"]
        return "separable" if proved and all(word == "separable" for word in proved) else None

    @property
    def margin_(self):
        """The least distance of a row from the plane of two separable classes, as binary64 computes it, else ``None``."""
        self._check_fitted()
        return self.__dict__.get("_margin")

    @property
    def stop_(self):
        """Why training ended."""
        self._check_fitted()
        return self._model.stop

    @property
    def gap_(self):
        """The relative gap to the optimum that is proved, for learners that minimise an objective."""
        self._check_fitted()
        return self.certificate_.gap

    @property
    def remarks_(self):
        """What the learner found out on its way: name and words."""
        self._check_fitted()
        return dict(self._model.remarks)

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        name = self._recipe["name"]
        tags.input_tags.positive_only = name == "multinomial-nb"
        # Counts and bits are a poor model of the measurements of the checks, as they are in scikit-learn.
        tags.classifier_tags.poor_score = name in ("multinomial-nb", "bernoulli-nb", "romma")
        return tags

    def _check_fitted(self):
        if "_model" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def _at_the_door(self, X, y, sample_weight, reset, classes=None, tables=True):
        """The data as the library holds it, and the classes."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        X = _input.readable(X)
        taken = _input.matrix(X, type(self).__name__, tables)
        if check_classification_targets is not None:
            # Its messages name the kind of a target that has no classes.
            flat = np.asarray(y)
            # Whole numbers in one dimension are classes; to sort them for that takes a millisecond.
            is_plain = flat.dtype.kind in "SUO" or (flat.dtype.kind in "iub" and flat.ndim == 1)
            if not is_plain and flat.ndim <= 2 and np.all(np.isfinite(flat)):
                check_classification_targets(flat)
        weights = self._weights(y, sample_weight, classes)
        data, classes, _ = _functions.data(taken, y, weights, self.n_jobs, classes)
        self._remember(X, taken, reset)
        return data, classes, taken.shape

    def _weights(self, y, sample_weight, classes=None):
        """Row weights with those of a dict of class weights."""
        weights = getattr(self, "class_weight", None)
        if not isinstance(weights, dict):
            return sample_weight
        labels = np.asarray(y).ravel()
        factors = np.ones(len(labels))
        for label, factor in weights.items():
            factors[labels == label] = factor
        known = list(np.unique(labels) if classes is None else classes)
        strange = [label for label in weights if label not in known]
        # A part of the rows may lack a class; a name that is misspelled leaves a class without its weight.
        if strange and any(label not in weights for label in known):
            raise ValueError(f"class_weight has the class {strange[0]!r}, which is not among {known}")
        return factors if sample_weight is None else factors * np.asarray(sample_weight, dtype=float)

    def _remember(self, X, taken, reset):
        """Keeps, or compares, the number and the names of the columns."""
        if validate_data is not None and not isinstance(X, _linsep.ArrowTable):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return
        if reset:
            self.n_features_in_ = taken.shape[1]
            if taken.names:
                self.feature_names_in_ = np.asarray(taken.names, dtype=object)
        elif taken.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {taken.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        elif taken.names and list(taken.names) != list(getattr(self, "feature_names_in_", taken.names)):
            raise ValueError("The feature names should match those that were passed during fit.")

    def _rows(self, X):
        """Rows to be scored."""
        self._check_fitted()
        X = _input.readable(X)
        if self._model.takes_tables:
            return self._encoded(X)
        taken = _input.matrix(X, type(self).__name__)
        self._remember(X, taken, reset=False)
        return taken

    def _encoded(self, X):
        """Rows of a table, encoded as those that were learned from."""
        if not _input.is_frame(X):
            raise ValueError(
                f"this {type(self).__name__} was fitted on a data frame with columns of texts; give a data "
                "frame with the same columns"
            )
        taken = _input.table(X)
        # A model that was loaded knows the columns that it uses, and its reader looks for these.
        if hasattr(self, "n_features_in_"):
            self._remember(X, taken, reset=False)
        form = self._model.encode(taken.form.stream(), threads(self.n_jobs, taken.shape))
        return _input.Matrix(form, taken.shape, taken.names)

    def _settings(self, stream=False, classes=None):
        """The parameters that are not as usual, in the words of the registry."""
        settings = {}
        for parameter in self._recipe["parameters"]:
            value = getattr(self, _registry.python_name(parameter))
            if parameter["name"] == "class-weight" and isinstance(value, dict):
                continue
            if parameter["name"] == "priors" and not isinstance(value, (str, dict, type(None))):
                value = _priors_of(value, classes)
            text = _registry.registry_text(parameter, value)
            usual = _registry.registry_text(
                parameter, _registry.python_value(parameter, parameter["default"])
            )
            if text != usual:
                settings[parameter["name"]] = text
        return settings

    def _max_iter(self):
        max_iter = getattr(self, "max_iter", None)
        if max_iter is None:
            return None
        if isinstance(max_iter, bool) or int(max_iter) != max_iter or max_iter < 1:
            raise ValueError(f"max_iter must be a whole number from 1 on or None, not {max_iter!r}")
        return int(max_iter)

    def _take(self, model, classes):
        """Takes over what was learned."""
        self._model = model
        self.classes_ = classes
        self.n_iter_ = max(1, model.epochs)
        self._planes = None
        if not model.is_ballot:
            self._planes = (model.weights, model.biases)
            for array in self._planes:
                array.flags.writeable = False
        self.__dict__.update(_density_attributes(model))

    def _least_margin(self, X, y, sample_weight):
        """The least distance of a row that counts from the plane of two separable classes."""
        signs = np.where(np.asarray(y).ravel() == self.classes_[1], 1.0, -1.0)
        margins = signs * self.decision_function(X)
        if sample_weight is not None:
            margins = margins[np.broadcast_to(np.asarray(sample_weight), margins.shape) > 0]
        length = float(np.linalg.norm(self.coef_))
        return float(margins.min()) / length if length > 0 else None

    def _warn(self):
        """Warns of what was to be found and was not."""
        model = self._model
        if "inseparable" in self._recipe["claims"] and self.verdict_ not in (None, "separable"):
            rows = model.witness
            warnings.warn(
                NotSeparableWarning(f"no plane separates the classes: {len(rows)} rows prove it", rows),
                stacklevel=3,
            )
            return
        if model.shortfall:
            warnings.warn(ConvergenceWarning(model.shortfall, model.stop, model.gap), stacklevel=3)
        elif self._recipe["kind"] == "optimising" and model.stop != "finished":
            reached = "" if model.gap is None else f", at a relative gap of {model.gap:.2g}"
            words = f"{type(self).__name__} ended at {model.stop}{reached}; raise max_iter or scale the columns"
            warnings.warn(ConvergenceWarning(words, model.stop, model.gap), stacklevel=3)


def _density_attributes(model):
    """What a generative learner found out about the classes, under the names that scikit-learn has for it."""
    density = model.density
    if density is None:
        return {}
    priors = density["priors"]
    if "covariance" in density:
        means = density["means"]
        covariance = np.zeros((means.shape[1],) * 2)
        upper = np.triu_indices(means.shape[1])
        covariance[upper] = density["covariance"]
        covariance.T[upper] = density["covariance"]
        return {"priors_": priors, "means_": means, "covariance_": covariance}
    if "variances" in density:
        return {"class_prior_": priors, "theta_": density["means"], "var_": density["variances"]}
    with np.errstate(divide="ignore"):
        return {"class_log_prior_": np.log(priors), "feature_log_prob_": np.log(density["chances"])}


def _standings(scores, count):
    """Duels won by each class; among equals the sum of the scores in favour decides."""
    won, sums = np.zeros((len(scores), count)), np.zeros((len(scores), count))
    column = 0
    for i in range(count):
        for j in range(i + 1, count):
            score = scores[:, column]
            won[:, j] += score >= 0
            won[:, i] += score < 0
            sums[:, j] += score
            sums[:, i] -= score
            column += 1
    return won + sums / (3 * (np.abs(sums) + 1))


def _priors_of(value, classes):
    """Priors by class, of numbers in the order of the classes."""
    numbers = np.asarray(value, dtype=float).ravel()
    if classes is None or len(numbers) != len(classes):
        known = "the classes" if classes is None else f"the {len(classes)} classes"
        raise ValueError(f"priors has {len(numbers)} numbers, and one is needed for each of {known}; a dict names them")
    return dict(zip(_input.class_texts(np.asarray(classes)), numbers))


def _seed(random_state):
    """A seed of 64 bits; without one, results are the same every time."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, and it is {random_state}")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**63))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"{random_state!r} cannot be used to seed a run")


def _both(first, second):
    """One callback out of two."""
    given = [call for call in (first, second) if call is not None]
    if not given:
        return None
    return lambda progress: any([call(progress) for call in given])


class _Progress:
    """One line about a run, on standard error; a notebook shows it, too."""

    def __init__(self, estimator):
        self.name = type(estimator).__name__
        self.next = 0.0
        self.width = 0

    def __call__(self, progress):
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + 0.1
        parts = [f"{self.name}: epoch {progress['epochs']}"]
        for name, form in (("objective", "{:.7g}"), ("gap", "{:.1e}"), ("mistakes", "{}")):
            if progress[name] is not None:
                parts.append(f"{name} {form.format(progress[name])}")
        line = ", ".join(parts)
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def end(self):
        if self.width:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _documentation(recipe, parameters):
    """A NumPy-style docstring out of the registry."""
    summary = recipe["summary"]
    lines = [f"{summary[0].upper()}{summary[1:]}.", "", f"It assumes {recipe['assumes']}.", ""]
    lines += ["Parameters", "----------"]
    for name, default, words, help_text in parameters:
        choice = f"{{{', '.join(map(repr, words))}}}, " if words else ""
        lines.append(f"{name} : {choice}default {default!r}")
        lines += textwrap.wrap(help_text + ".", 90, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Attributes", "----------"]
    for name, words in _ATTRIBUTES:
        lines += [name, f"    {words}"]
    return "\n".join(lines)


_ATTRIBUTES = (
    ("classes_ : array of shape (n_classes,)", "The classes, rising."),
    ("coef_ : array of shape (1 or n_planes, n_features)", "The weights of each plane."),
    ("intercept_ : array of shape (1 or n_planes,)", "The bias of each plane."),
    ("n_iter_ : int", "Passes over the rows."),
    ("certificate_ : Certificate", "What is proved, for anybody to check."),
    ("verdict_ : str or None", "Whether the classes are separable, where the learner proves it."),
    ("margin_ : float or None", "The least distance of a row from the plane of two separable classes."),
    ("stop_ : str", "Why training ended."),
)

#: Parameters that do not come from the registry: name, default, for which kinds, meaning.
_COMMON = (
    ("max_iter", None, ("online", "optimising"), "Passes over the rows, at most; by default what the data calls for"),
    ("random_state", None, ("online", "optimising"), "Seed of everything random; without one, results are the same every time"),
    ("n_jobs", None, ("online", "direct", "optimising"), "Threads, all by default; they never change a result"),
    ("callback", None, ("online", "optimising"), "Called with a dict after each epoch; a true answer ends the run"),
    ("verbose", 0, ("online", "optimising"), "1 shows a line about the run on standard error"),
)


#: Learners whose planes are combinations of discriminant axes.
_PROJECTING = ("fisher", "lda")


def _make(name):
    """The estimator class of this name."""
    recipe = _registry.learners()[name]
    parameters = []
    for parameter in recipe["parameters"]:
        default = _registry.python_value(parameter, parameter["default"])
        words = [_registry.python_value(parameter, word) for word in parameter["words"]]
        parameters.append((_registry.python_name(parameter), default, words, parameter["help"]))
    for common, default, kinds, words in _COMMON:
        if recipe["kind"] in kinds:
            parameters.append((common, default, [], words))
    usual = {name: default for name, default, _, _ in parameters}

    def __init__(self, **given):
        unknown = next((key for key in given if key not in usual), None)
        if unknown is not None:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument {unknown!r}")
        for key, default in usual.items():
            setattr(self, key, given.get(key, default))

    signature = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for key, default in usual.items():
        signature.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default))
    __init__.__signature__ = inspect.Signature(signature)
    __init__.__qualname__ = f"{name}.__init__"
    members = {
        "__doc__": _documentation(recipe, parameters),
        "__init__": __init__,
        "__module__": "linsep",
        "__qualname__": name,
        "_recipe": recipe,
    }
    bases = (Projecting, LinearClassifier) if recipe["name"] in _PROJECTING else (LinearClassifier,)
    return type(name, bases, members)


def of_model(model):
    """The fitted estimator of a model."""
    name = _registry.class_name(model.learner)
    estimator = globals()[name]() if name in globals() else getattr(sys.modules[__name__], name)()
    for parameter in estimator._recipe["parameters"]:
        text = model.parameters.get(parameter["name"])
        if text is not None:
            value = _registry.python_value(parameter, text)
            setattr(estimator, _registry.python_name(parameter), value)
    estimator._take(model, _input.typed_classes(model.classes))
    if model.takes_tables:
        return estimator
    estimator.n_features_in_ = model.features
    if model.feature_names:
        estimator.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
    return estimator


for _name in _registry.class_names():
    globals()[_name] = _make(_name)

#: Every estimator by name.
ESTIMATORS = {name: globals()[name] for name in _registry.class_names()}
