"""A model as a file: of linsep itself, or of another program."""

from linsep import _functions
from linsep._base import threads
from linsep._results import Certificate


class Exporting:
    """Writes what was learned."""

    def save(self, path):
        """Writes a model file ``.linsep``; :func:`linsep.load` and the program ``linsep`` read it."""
        self._check_fitted()
        self._model.save(path)

    def to_onnx(self):
        """The model as an ONNX graph of float64 operators, whose scores have the same bits."""
        self._check_fitted()
        return self._model.export("onnx")

    def to_onnx_float32(self, X, y, sample_weight=None):
        """The model as the operator LinearClassifier of ONNX, which computes in float32.

        Rounding makes other planes. So every row has to keep its class in float32, however its sum is added
        up, and what is proved of the model has to hold of the rounded planes; otherwise it is refused.

        Parameters
        ----------
        X, y, sample_weight
            The data that the model was fitted to.

        Returns
        -------
        (bytes, Certificate or None)
            The graph, and what is proved of the rounded planes.
        """
        self._check_fitted()
        weights = self._weights(y, sample_weight)
        data, _, taken = _functions.data(X, y, weights, self.n_jobs, classes=self.classes_)
        graph, proved = self._model.export_single(data, threads(self.n_jobs, taken.shape))
        return graph, None if proved is None else Certificate(proved)

    def to_json(self):
        """The model as JSON, which the program ``linsep`` reads."""
        self._check_fitted()
        return self._model.export("json").decode("utf-8")

    def to_c(self):
        """The model as C99 without dependencies, whose scores have the same bits."""
        self._check_fitted()
        return self._model.export("c").decode("ascii")

    def to_liblinear(self):
        """The model as a file of LIBLINEAR, where its classes are whole numbers."""
        self._check_fitted()
        return self._model.export("liblinear").decode("ascii")
