"""Basis functions as a transformer."""

import numpy as np

from linsep import _base, _input, _linsep
from linsep._base import threads

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import validate_data
except ImportError:
    BaseEstimator, TransformerMixin, NotFittedError = _base.Base, _base.Transformer, _base.NotFittedError
    validate_data = None


class BasisExpansion(TransformerMixin, BaseEstimator):
    """Adds products or Gaussians of columns, so that planes become curved surfaces.

    Parameters
    ----------
    basis : str, default 'poly:2'
        ``'poly:D'`` for every product up to a degree, products such as ``'x1*x2,x1^2'`` (columns by name, or
        by number from 1), or ``'rbf:M,SIGMA'`` for M Gaussians around rows that the seed chooses.
    random_state : int, default None
        The seed.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the rows as they come.

    Examples
    --------
    >>> from linsep import BasisExpansion
    >>> BasisExpansion(basis="x1*x2").fit_transform([[1.0, 2.0], [3.0, 4.0]])
    array([[ 1.,  2.,  2.],
           [ 3.,  4., 12.]])
    """

    def __init__(self, *, basis="poly:2", random_state=None):
        self.basis = basis
        self.random_state = random_state

    def fit(self, X, y=None):
        """Finds out what the basis means on these columns."""
        from linsep._estimators import _seed

        X = _input.readable(X)
        taken = _input.matrix(X, type(self).__name__)
        codes = np.zeros(taken.shape[0], dtype=np.int64)
        data = _linsep.Data(taken.form, codes, ["0"], None, taken.names, threads(None, taken.shape))
        self._remember(X, taken, reset=True)
        self._inner = _linsep.Basis(self.basis, data, _seed(self.random_state))
        return self

    def transform(self, X):
        """The rows with what the basis makes of them, raw columns first."""
        if "_inner" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )
        X = _input.readable(X)
        taken = _input.matrix(X, type(self).__name__)
        self._remember(X, taken, reset=False)
        return self._inner.transform(taken.form)

    def get_feature_names_out(self, input_features=None):
        """The names of all columns, those of the basis functions last."""
        if "_inner" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        if validate_data is not None:
            from sklearn.utils.validation import _check_feature_names_in

            _check_feature_names_in(self, input_features)
        return np.asarray(self._inner.names, dtype=object)

    def _remember(self, X, taken, reset):
        if validate_data is not None:
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = taken.shape[1]

    def __sklearn_is_fitted__(self):
        return "_inner" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
