"""Discriminant axes: directions along which the means of the classes are far apart for the spread within them.

With the planes w_k = S⁻¹ (m_k − c) of a discriminant analysis, S the covariance within the classes, the mean
scores of the classes already hold every product (m_j − m)ᵀ S⁻¹ (m_k − m), so the axes are combinations of the
scores: no covariance is inverted again, and rows of every form are projected by scoring them.
"""

import numpy as np

from linsep import _base

try:
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

    class _Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
        pass

except ImportError:
    _Transformer = _base.Transformer

#: Axes along which the means differ by less than this share of the most are rounding.
LEAST = 1e-12


class Projecting(_Transformer):
    """A discriminant that also projects rows on its axes, at most one fewer than there are classes.

    Attributes
    ----------
    explained_variance_ratio_ : array of shape (n_axes,)
        The share of each axis in the spread of the means.
    scalings_ : array of shape (n_features, n_axes)
        The weights of the columns: ``transform(X)`` is ``X @ scalings_`` less its mean over the rows of the fit.
    """

    def fit(self, X, y, sample_weight=None):
        """Learns from all rows, and finds the axes."""
        super().fit(X, y, sample_weight)
        self._find_axes(self._class_scores(X), y, sample_weight)
        return self

    def transform(self, X):
        """The rows on the axes: the mean is 0, and within the classes each axis has the variance 1."""
        self._check_fitted()
        if "_onto_axes" not in self.__dict__:
            raise AttributeError("a model file holds planes and no axes; fit again, or pickle the estimator")
        return (self._class_scores(X) - self._centre) @ self._onto_axes

    @property
    def scalings_(self):
        self._check_fitted()
        if "_onto_axes" not in self.__dict__:
            raise AttributeError("a model file holds planes and no axes; fit again, or pickle the estimator")
        planes = np.asarray(self.coef_)
        planes = np.vstack([np.zeros_like(planes), planes]) if len(planes) == 1 else planes
        return planes.T @ self._onto_axes

    @property
    def _n_features_out(self):
        return self._onto_axes.shape[1]

    def _class_scores(self, X):
        """One score for each class; of two classes the first has 0."""
        scores = self.decision_function(X)
        return np.stack([np.zeros_like(scores), scores], axis=1) if scores.ndim == 1 else scores

    def _find_axes(self, scores, y, sample_weight):
        weights = np.ones(len(scores))
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, dtype=float), weights.shape)
        labels = np.asarray(y).ravel()
        shares = np.array([weights[labels == label].sum() for label in self.classes_])
        means = np.array([weights[labels == label] @ scores[labels == label] for label in self.classes_])
        means /= shares[:, None]
        shares = shares / shares.sum()
        self._centre = shares @ means
        # Products of centred means: rows are centred by the mean of all, columns by the mean plane.
        between = means - self._centre
        between -= np.outer(between @ shares, np.ones(len(shares)))
        roots = np.sqrt(shares)
        products = roots[:, None] * (between + between.T) / 2 * roots
        spreads, axes = np.linalg.eigh(products)
        order = np.argsort(spreads)[::-1][: len(shares) - 1]
        order = order[spreads[order] > LEAST * max(spreads[-1], 0.0)]
        spreads, axes = spreads[order], axes[:, order]
        axes = axes * np.where(axes[np.argmax(np.abs(axes), axis=0), np.arange(len(order))] < 0, -1.0, 1.0)
        onto = roots[:, None] * axes / np.sqrt(spreads)
        self._onto_axes = onto - np.outer(shares, onto.sum(axis=0))
        self.explained_variance_ratio_ = spreads / spreads.sum()
