"""Params that estimators and models share."""

from pyspark.ml.param import Param, Params, TypeConverters


def accessors(kind):
    """Gives a class ``getX`` and ``setX`` for each param that it declares, where it has none."""
    for name in [name for name, value in vars(kind).items() if isinstance(value, Param)]:

        def get(self, name=name):
            return self.getOrDefault(name)

        def put(self, value, name=name):
            return self._set(**{name: value})

        big = name[0].upper() + name[1:]
        for verb, method, words in (("get", get, "Gets"), ("set", put, "Sets")):
            method.__name__, method.__doc__ = f"{verb}{big}", f"{words} the value of {name}."
            if method.__name__ not in vars(kind):
                setattr(kind, method.__name__, method)
    return kind


@accessors
class HasTable(Params):
    """How the columns of a frame become features."""

    featuresCols = Param(
        Params._dummy(),
        "featuresCols",
        "columns of numbers, booleans or texts, instead of the one column of vectors that featuresCol is",
        typeConverter=TypeConverters.toListString,
    )
    idCol = Param(
        Params._dummy(), "idCol", "column of distinct names that orders the rows", typeConverter=TypeConverters.toString
    )
    missing = Param(
        Params._dummy(),
        "missing",
        "where a value is missing: error, drop-row, mean, median, zero",
        typeConverter=TypeConverters.toString,
    )
    unknownLevel = Param(
        Params._dummy(),
        "unknownLevel",
        "a level that was not there when the model learned: error, zeros",
        typeConverter=TypeConverters.toString,
    )
    timeLimit = Param(Params._dummy(), "timeLimit", "seconds after which a fit ends", typeConverter=TypeConverters.toFloat)

    def setFeaturesCol(self, value):
        """Sets one column of vectors or, with a list, columns of numbers, booleans and texts."""
        return self._set(**self._columns_first({"featuresCol": value}))

    @staticmethod
    def _columns_first(params):
        """A list as featuresCol means featuresCols."""
        if isinstance(params.get("featuresCol"), (list, tuple)):
            params = {**params, "featuresCols": list(params["featuresCol"])}
            del params["featuresCol"]
        return params

    def _features(self):
        return self.getOrDefault("featuresCols") if self.isDefined("featuresCols") else self.getFeaturesCol()
