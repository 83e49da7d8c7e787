"""Warnings and errors with data, so that a program can act on them."""


class NotSeparableWarning(UserWarning):
    """No plane separates the classes, and some rows prove it.

    Attributes
    ----------
    rows : list of int
        The rows of the proof, counted from 0.
    """

    def __init__(self, message, rows=()):
        super().__init__(message)
        self.rows = list(rows)


class NotSeparableError(ValueError):
    """What was asked for exists for separable classes only, and these are not.

    Attributes
    ----------
    rows : list of int
        The rows of the proof, counted from 0.
    """

    def __init__(self, message, rows=()):
        super().__init__(message)
        self.rows = list(rows)

    def __reduce__(self):
        return type(self), (str(self), self.rows)


class ColumnsWarning(UserWarning):
    """What was decided about columns of a table that are no numbers.

    Attributes
    ----------
    notes : list of str
        One sentence for each column.
    """

    def __init__(self, message, notes=()):
        super().__init__(message)
        self.notes = list(notes)
