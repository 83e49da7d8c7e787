"""The package as a typed program uses it; `mypy --strict` looks at it, and nothing runs it."""

import numpy as np
from numpy.typing import NDArray

import linsep

X: NDArray[np.float64] = np.asarray([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
y = ["low", "low", "up", "up"]

verdict: linsep.Verdict = linsep.separable(X, y)
if verdict:
    print(verdict.verdict, verdict.margin, verdict.certificate)
checked = linsep.verify(verdict.certificate, X, y)
holds: bool = bool(checked)

estimator = linsep.LogisticRegression(C=0.5).fit(X, y, sample_weight=[1.0, 1.0, 2.0, 1.0])
classes: NDArray[np.float64] = estimator.decision_function(X)
weights: NDArray[np.float64] = estimator.coef_
estimator.save("model.linsep")
again = linsep.load("model.linsep")
print(again.predict_one([1.0, 2.0]), again.score(X, y))

expansion = linsep.BasisExpansion(basis="poly:2")
wide = expansion.fit_transform(X)

certified: linsep.Certified = linsep.certify(object(), X, y)
print(certified.gap, certified.flips, wide)
try:
    linsep.HardMargin().fit(X, y)
except linsep.NotSeparableError as error:
    print(error.rows)
