"""From the registry of the library to the names and values of Python.

The two tables say where Python has a name of its own. What is not in them gets its name by a rule, so a
learner or a parameter that is added in Rust appears here without a second list.
"""

import contextlib
import functools
import numbers
import re

from linsep import _linsep

#: Learners whose class has the name that scikit-learn, or the literature, gives it.
CLASSES = {
    "averaged": "AveragedPerceptron",
    "bernoulli-nb": "BernoulliNB",
    "fisher": "FisherDiscriminant",
    "lda": "LinearDiscriminantAnalysis",
    "least-squares": "LeastSquaresClassifier",
    "logistic": "LogisticRegression",
    "multinomial-nb": "MultinomialNB",
    "pocket": "PocketPerceptron",
    "shared-variance-nb": "SharedVarianceNB",
    "svm": "LinearSVC",
    "voted": "VotedPerceptron",
}

#: Parameters that have another name in scikit-learn and the same meaning.
PARAMETERS = {"c": "C", "eta": "eta0", "gap": "tol", "intercept": "fit_intercept"}

#: Words that scikit-learn writes in another way.
WORDS = {"elastic-net": "elasticnet"}

#: The same for words beside numbers.
SPELLINGS = {"ledoit_wolf": "ledoit-wolf"}


@functools.cache
def learners():
    """The registry: learner by name of its Python class."""
    return {class_name(entry["name"]): entry for entry in _linsep.registry()}


def class_names():
    """The names of all estimators."""
    return learners().keys()


def class_name(name):
    """The name of the Python class of a learner."""
    return CLASSES.get(name) or "".join(word.capitalize() for word in name.split("-"))


def python_name(parameter):
    """The name that a parameter has in Python."""
    return PARAMETERS.get(parameter["name"]) or parameter["name"].replace("-", "_")


def python_value(parameter, text):
    """The value of Python that a text of the registry stands for."""
    if parameter["name"] == "intercept" and text in ("free", "none"):
        return text == "free"
    if sorted(parameter["words"]) == ["off", "on"]:
        return text == "on"
    if text == "none":
        return None
    if text in parameter["words"]:
        return WORDS.get(text) or text.replace("-", "_")
    if parameter["value"] == "N":
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def registry_text(parameter, value):
    """The text of the registry for a value of Python."""
    if isinstance(value, str):
        words = {python_value(parameter, word): word for word in parameter["words"]}
        return words.get(value) or SPELLINGS.get(value, value)
    if value is None:
        return "none"
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        if parameter["name"] == "intercept":
            return "free" if value else "none"
        return "on" if value else "off"
    if isinstance(value, dict):
        return ",".join(f"{column}={float(bound)!r}" for column, bound in value.items())
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    name = python_name(parameter)
    raise TypeError(f"{name} must be a number or a text, not {type(value).__name__}")


@contextlib.contextmanager
def errors_in_python(estimator):
    """Errors of the library name parameters and words as Python does."""
    try:
        yield
    except ValueError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_python(estimator, error.args[0]), *error.args[1:])
        raise


def in_python(estimator, words):
    """What is said of a parameter of the registry, said of that of an estimator."""
    parameters = {parameter["name"]: parameter for parameter in estimator._recipe["parameters"]}
    found = re.fullmatch(r'`([a-z0-9-]+)`: (?:[a-z]+ )?"(.*?)" (.+)', words, re.DOTALL)
    if found and found[1] in parameters:
        parameter, rest = parameters[found[1]], found[3]
        name = python_name(parameter)
        if rest.startswith("is none of"):
            rest = "must be one of " + ", ".join(repr(python_value(parameter, word)) for word in parameter["words"])
        return f"The {name!r} parameter of {type(estimator).__name__} {rest}. Got {getattr(estimator, name)!r} instead."

    def renamed(match):
        parameter = parameters.get(match[1])
        return f"`{python_name(parameter)}{match[2] or ''}`" if parameter else match[0]

    return re.sub(r"`([a-z0-9-]+)(=[^`]*)?`", renamed, words)
