"""What estimators need of scikit-learn, for where it is not installed."""

import os


class available_if:
    """A method that exists only while a condition on its object holds."""

    def __init__(self, condition):
        self.condition = condition

    def __call__(self, method):
        self.method = method
        self.__doc__ = method.__doc__
        self.__name__ = method.__name__
        return self

    def __get__(self, owner, kind=None):
        if owner is None:
            return self.method
        reason = self.condition(owner)
        if reason is not True:
            raise AttributeError(f"{type(owner).__name__} has no {self.method.__name__}: {reason}")
        return self.method.__get__(owner, kind)


class Base:
    """Parameters by name, as scikit-learn has them."""

    @classmethod
    def _get_param_names(cls):
        import inspect

        parameters = inspect.signature(cls.__init__).parameters.values()
        return sorted(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)

    def get_params(self, deep=True):
        """The parameters with their values."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params):
        """Sets parameters and returns the estimator."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}: there are {known}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        import inspect

        usual = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not usual[name].default and value != usual[name].default
        ]
        return f"{type(self).__name__}({', '.join(given)})"


class Classifier:
    """The score of a classifier."""

    _estimator_type = "classifier"

    def score(self, X, y, sample_weight=None):
        """Share of rows whose class is predicted right."""
        import numpy as np

        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class Transformer:
    """Fit and transform in one go."""

    def fit_transform(self, X, y=None):
        """Fits to the rows and transforms them."""
        return self.fit(X, y).transform(X)


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked before it had learned."""


#: Fewer values than these are not worth a second thread.
_SMALL = 1 << 16


def threads(n_jobs, shape=None):
    """The number of threads: all of the machine, one for little data, unless a number is given.

    It never changes a result.
    """
    if n_jobs is None and shape is not None and shape[0] * shape[1] < _SMALL:
        return 1
    if n_jobs is None or n_jobs == -1:
        try:
            return max(1, len(os.sched_getaffinity(0)))
        except AttributeError:
            return max(1, os.cpu_count() or 1)
    if int(n_jobs) != n_jobs or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, not {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, threads(None) + 1 + int(n_jobs))
