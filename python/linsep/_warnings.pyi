from collections.abc import Iterable

class NotSeparableWarning(UserWarning):
    rows: list[int]
    def __init__(self, message: str, rows: Iterable[int] = ()) -> None: ...

class NotSeparableError(ValueError):
    rows: list[int]
    def __init__(self, message: str, rows: Iterable[int] = ()) -> None: ...

class ColumnsWarning(UserWarning):
    notes: list[str]
    def __init__(self, message: str, notes: Iterable[str] = ()) -> None: ...
