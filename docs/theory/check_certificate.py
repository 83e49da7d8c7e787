#!/usr/bin/env python3
"""Checks a linsep certificate against the data it speaks of, in whole numbers and fractions:
    python3 check_certificate.py CERT.json|MODEL.linsep DATA
Needs Python 3.11 and nothing else, and shares no code with linsep. certificates.md has the format.
DATA is one table (CSV, TSV, parted by blanks, or a JSON object in each line) or svmlight file, in UTF-8 or
UTF-16, plain or gzip. Exit code: 0 every claim holds; 1 a claim is
false or unproved, or the data is another; 2 usage; 3 the data cannot be read; 4 the certificate is
malformed or of another version; 6 a file cannot be opened."""
import csv, decimal, gzip, hashlib, itertools, json, math, pathlib, struct, sys
from fractions import Fraction

class Refusal(Exception): """The exit code, and words that say why."""
def require(holds, words, code=1):
    if not holds:
        raise Refusal(code, words)

# --- The file. A kind is a function that says whether a JSON value is of that kind.
def text(x): return isinstance(x, str)
def flag(x): return isinstance(x, bool)
def whole(x, below=2**64): return type(x) is int and 0 <= x < below
def index(x): return whole(x, 2**32)
def real(x): return type(x) is float and math.isfinite(x) or type(x) is int and abs(x) < 2**1024 - 2**970
def number(x): return text(x) or real(x)
def pair(x): return isinstance(x, list) and len(x) == 2 and index(x[0]) and number(x[1])
def word(*words): return lambda x: text(x) and x in words  # word() is never right
def each(kind): return lambda x: isinstance(x, list) and all(map(kind, x))
def rising(x): return all(a < b for a, b in zip(x, x[1:]))

def fields(required, optional={}):
    """An object with these fields and no others; an optional one may be null unless it is a flag."""
    known = {**optional, **required}
    return lambda x: (isinstance(x, dict) and required.keys() <= x.keys() <= known.keys() and all(
        known[k](x[k]) or x[k] is None and k not in required and known[k] is not flag for k in x))

ROW, NOTES = {"row": whole, "lambda": text}, {"line": whole, "file": text}
ROWS, AGAINST = each(fields(ROW, NOTES)), each(fields({**ROW, "against": text}, NOTES))
WEIGHTS = {"weights": each(number), "sparse": each(pair), "bias": number}
PLANE, PLANES = fields({}, WEIGHTS), each(fields({"class": text}, WEIGHTS))
SIDES = {"scheme": word("binary", "pair", "rest"), "positive": each(text), "negative": each(text)}
CLAIMS = {"separable": {"plane": PLANE}, "inseparable": {"witness": ROWS},
          "touching": {"witness": ROWS, "plane": PLANE}, "overlapping": {"witness": ROWS},
          "margin": {"constant": text, "support": ROWS, "gamma2": text},
          "geometric-margin": {"support": ROWS, "gamma2": text}, "bracket": {"weights": ROWS, "bound": text},
          "mistakes": {"plane": PLANE, "mistakes": whole, "conflicts": each(ROWS)}}
def filled(kind): return lambda x: bool(x) and each(kind)(x)  # an empty list is left out
def two(*kinds): return lambda x: isinstance(x, list) and len(x) == len(kinds) and all(k(y) for k, y in zip(kinds, x))
def has(x, lists): return isinstance(x, dict) and all(x[k] is not None for k in lists if k in x)  # absent or a list
LIMIT = fields({"column": index}, {"least": real, "most": real})
LISTS = {"class-weights": filled(two(text, real)), "scale": filled(real), "limits": filled(LIMIT)}
OBJECTIVE = fields({"loss": word("logistic", "hinge", "squared-hinge", "squared", "softmax", "crammer-singer"), "c": real,
                    "l2": real, "l1": real, "intercept": word("free", "penalised", "none")}, LISTS)
POINT = {"alpha": filled(two(whole, real)), "shares": filled(two(whole, each(two(index, real)))), "correction": filled(whole),
         "moves": filled(two(whole, index, index))}
DUAL = fields({}, {"plane": PLANE, "planes": PLANES, **POINT})
INTERVAL = fields({"least": real, "most": real, "tilt": two(real, real)})
OPTIMALITY = fields({"objective": lambda x: has(x, LISTS) and OBJECTIVE(x), "primal": real, "bound": real, "gap": real,
                     "dual": lambda x: has(x, POINT) and DUAL(x)}, {"radius": real, "bias": INTERVAL})
CLAIMS["optimal"] = {"plane": PLANE, "optimality": OPTIMALITY}
def either(*kinds): return lambda x: any(kind(x) for kind in kinds)
def counted(*words): return either(word(*words), fields({"given": each(real)}))  # or a number for each class
PRIORS = counted("data", "uniform")
EQUATIONS = either(
    fields({"kind": word("least-squares"), "l2": real, "class-weight": counted("none", "balanced")}),
    fields({"kind": word("discriminant"), "shrinkage": real, "priors": PRIORS, "bias": word("midpoint", "prior", "free")}))
STATISTICS = either(fields({"model": word("multinomial"), "alpha": real, "priors": PRIORS}),
                    fields({"model": word("bernoulli"), "alpha": real, "binarize": real, "priors": PRIORS}),
                    fields({"model": word("gaussian"), "smoothing": real, "priors": PRIORS}))
CLAIMS["stationary"], CLAIMS["counts"] = ({"plane": PLANE, "equations": EQUATIONS}, {"plane": PLANE, "statistics": STATISTICS})
LEFT_OUT = {"left-out": filled(index)}
SCORE = fields({"residual": real}, LEFT_OUT)
CLAIMS["modified-score"] = {"plane": PLANE, "modified-score": lambda x: has(x, LEFT_OUT) and SCORE(x)}
MULTIPLE, VECTOR = fields({"row": whole, "factor": text}, {"against": text}), each(pair)
WORDS = ("finite", "+inf", "-inf", "undetermined", "aliased", "undecided")
SUM = {"combination": filled(MULTIPLE)}
COEFFICIENT = fields({"estimate": word(*WORDS)}, {"class": text, "column": index, **SUM})
EVIDENCE = {"classes": filled(text), "relations": filled(VECTOR), "tied": filled(MULTIPLE),
            "complement": filled(VECTOR), "directions": filled(VECTOR)}
ESTIMATES = fields({"coefficients": each(lambda x: has(x, SUM) and COEFFICIENT(x)), "independent": each(whole)}, EVIDENCE)
FORCED = fields({"point": VECTOR, "side": word("positive", "negative", "either"), "planes": each(PLANE)}, SUM)
CLAIMS["forced"] = {"forced": lambda x: has(x, SUM) and FORCED(x)}
CLAIMS["coefficients"] = {"estimates": lambda x: has(x, EVIDENCE) and ESTIMATES(x)}
CLAIMS = {name: SIDES | body for name, body in CLAIMS.items()} | {
    "joint optimal": {"scheme": text, "planes": PLANES, "optimality": OPTIMALITY},
    "joint stationary": {"scheme": text, "planes": PLANES, "equations": EQUATIONS},
    "joint counts": {"scheme": text, "planes": PLANES, "statistics": STATISTICS},
    "joint touching": {"scheme": text, "witness": AGAINST, "planes": PLANES},
    "joint overlapping": {"scheme": text, "witness": AGAINST},
    "joint coefficients": {"scheme": text, "estimates": CLAIMS["coefficients"]["estimates"]},
    "joint separable": {"scheme": text, "planes": PLANES}, "unproved": {"reason": text},
    "joint inseparable": {"scheme": text, "witness": AGAINST}}
OTHERS = dict.fromkeys([field for body in CLAIMS.values() for field in body], word())

def full_name(claim):
    return "joint " * (claim.get("scheme") == "joint") + str(claim.get("claim"))
def claim_kind(x):
    body = isinstance(x, dict) and CLAIMS.get(full_name(x))
    null = each(each(text)) if body and x["claim"] == "overlapping" else word()
    return bool(body) and " " not in x["claim"] and fields({"claim": text, **body}, {**OTHERS, "null": null})(x)

def named_rows(x): return filled(two(whole, text))(x) and rising([row for row, _ in x])
def any_order(x): return has(x, ["rows"]) and fields({"sha256": text}, {"rows": named_rows})(x)
def data(x):
    optional = {"digest": second, "multiset": any_order}
    return has(x, ["digest"]) and fields({"sha256": text, "rows": whole}, optional)(x)
def second(x): return whole(x) and x == 2  # the first version of the digest is not named
READING = fields({"default": word("decimal", "binary64"), "binary64": lambda x: each(index)(x) and rising(x)})
LEVELS = {"levels": lambda x: each(text)(x) and rising(x), "unknown_as_zeros": flag, "indicator": flag,
          "reference": text, "missing_level": text}
SOURCE = fields({"position": whole}, {"name": text})
COLUMN = fields({"position": whole}, {"name": text, "missing": real, **LEVELS})
def size_of(column): return (1 if column.get("levels") is None else len(column["levels"])) + column.get("indicator", False)
def power(x): return isinstance(x, list) and len(x) == 2 and index(x[0]) and index(x[1]) and x[1] > 0
def term(x): return each(power)(x) and rising([j for j, _ in x]) and 2 <= sum(k for _, k in x) <= 6
def basis(x):
    """poly:2 to poly:6; different products as [[column, exponent], ...]; or rbf:m,sigma, which proves nothing."""
    terms = each(term)(x) and 0 < len(x) <= 100_000 and len({str(t) for t in x}) == len(x)
    return terms or text(x) and (x in [f"poly:{d}" for d in range(2, 7)] or x.startswith("rbf:"))
GAUSSIANS = fields({"sigma": real, "centres": each(each(real))})
INPUT = fields({"features": whole}, {"label": SOURCE, "source_columns": whole, "weight": SOURCE,
               "index_base": lambda x: whole(x, 2), "kept": each(two(index, index)), "rest": flag,
               "drop_missing": flag, "columns": each(COLUMN), "binarize": real, "basis": lambda x: basis(x) or GAUSSIANS(x)})
FILE = fields({"format": word("linsep.certificate/1", "linsep.certificate/2"), "bias": flag, "reading": READING,
               "data": data, "claims": each(claim_kind)},
              {"input": INPUT, "basis": basis})

def parse_json(raw):
    """Strict JSON: no field twice, no NaN, no half of a character."""
    once = lambda pairs: require(len(dict(pairs)) == len(pairs), "a field stands twice", 4) or dict(pairs)
    value = json.loads(raw.decode(), object_pairs_hook=once, parse_constant=json.loads,
                       parse_int=lambda n: -0.0 if n == "-0" else int(n))
    json.dumps(value, ensure_ascii=False).encode()  # fails where half a character stands alone
    return value

# --- A model: version 1 is one JSON object, version 2 a safetensors file with its checksum inside.
CODES = {"F64": ("d", 8), "I64": ("q", 8), "U8": ("s", 1)}
TENSOR = fields({"dtype": word(*CODES), "shape": each(whole), "data_offsets": two(whole, whole)})

def take_apart(raw):
    """A model of version 2 as the object that version 1 is."""
    size, = struct.unpack_from("<Q", raw)
    require(size % 8 == 0 and 0 < size <= min(2**24, len(raw) - 8), "the header is cut off or too long", 4)
    header, data, tensors, end = parse_json(raw[8:8 + size]), raw[8 + size:], {}, 0
    metadata = header.pop("__metadata__")
    require(list(metadata) == ["linsep"] and all(map(TENSOR, header.values())), "the header is malformed", 4)
    model = parse_json(metadata["linsep"].encode())
    require(model.get("format") == "linsep.model/2", f"the format {model.get('format')!r:.40} is unknown", 4)
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        (start, stop), (code, bytes_each) = tensor["data_offsets"], CODES[tensor["dtype"]]
        count = math.prod(tensor["shape"])
        require(start == end <= stop <= len(data) and stop - start == count * bytes_each,
                "tensors overlap, leave holes, or have another shape", 4)
        numbers = struct.unpack(f"<{count}{code}", data[start:stop])
        tensors[name], end = numbers[0] if code == "s" else list(numbers), stop
    require(end == len(data), "there are bytes behind the last tensor", 4)
    at = 8 + size + header["sha256"]["data_offsets"][0]
    right = hashlib.sha256(raw[:at] + bytes(32) + raw[at + 32:]).digest() == tensors["sha256"]
    require(right, "the checksum does not fit the content", 4)
    model |= {name: parse_json(tensors[name]) for name in ("classes", "input", "certificate")}
    bias, planes = tensors["bias"], []
    if "weights" in tensors:
        count, width = header["weights"]["shape"]
        planes = [{"weights": tensors["weights"][k * width:(k + 1) * width]} for k in range(count)]
    else:
        entries = list(zip(tensors["indices"], tensors["values"], strict=True))
        starts = tensors["indptr"]
        right = starts[0] == 0 and starts[-1] == len(entries) and all(a <= b for a, b in zip(starts, starts[1:]))
        require(right, "the sparse weights do not fit together", 4)
        planes = [{"sparse": [list(pair) for pair in entries[a:b]]} for a, b in zip(starts, starts[1:])]
    model["planes"] = [{**plane, "bias": b} for plane, b in zip(planes, bias, strict=True)]
    require(each(PLANE)(model["planes"]), "a weight is not finite, or its column is out of range", 4)
    if "votes" in tensors:
        starts = tensors["ballots"]
        votes = [tensors["votes"][a:b] for a, b in zip(starts, starts[1:])]
        model["rule"] = {"ballot": {"votes": votes, "rule": model["rule"]}}
    return model

def place(model, claim):
    """The number of the plane that tells apart what the claim does, by the rule of the model."""
    classes, rule, votes = model["classes"], model["rule"], None
    if isinstance(rule, dict):
        rule, votes = rule["ballot"]["rule"], rule["ballot"]["votes"]
    positive, negative = claim.get("positive"), claim.get("negative")
    if not (each(text)(positive) and each(text)(negative) and len(positive) == 1 and positive[0] in classes):
        return None
    k, others = classes.index(positive[0]), all(name in classes and name not in positive for name in negative)
    score = None
    if rule == "sign" and k == 1 and (others or model["input"].get("rest") and positive[0] not in negative):
        score = 0
    elif rule in ("rest", "rest-last") and others:
        score = k
    elif rule == "vote" and others and len(negative) == 1 and classes.index(negative[0]) < k:
        score = list(itertools.combinations(range(len(classes)), 2)).index((classes.index(negative[0]), k))
    if score is not None and votes:  # the plane with more than half of the votes decides alone
        deciding = [j for j, held in enumerate(votes[score]) if 2 * held > sum(votes[score])]
        score = sum(map(len, votes[:score])) + deciding[0] if deciding else None
    return score if score is not None and score < len(model["planes"]) else None

def dense(plane):
    """The numbers of a plane by column, without zeros; None where it has fractions or is none."""
    pairs = plane.get("sparse") if plane.get("weights") is None else list(enumerate(plane["weights"]))
    right = pairs is not None and all(real(w) for _, w in pairs) and real(plane.get("bias"))
    return {j: w for j, w in pairs if w} | {-1: plane["bias"]} if right else None
def has_fractions(plane):
    numbers = [*(plane.get("weights") or []), *(w for _, w in plane.get("sparse") or []), plane.get("bias")]
    return any(map(text, numbers))

def bind(model, claims, version):
    """Puts in the planes that claims refer to. A claim about other planes is none about the model."""
    planes, classes, rule = model["planes"], model["classes"], model["rule"]
    votes = rule["ballot"]["votes"] if isinstance(rule, dict) else [[1]] * len(planes)
    rule, count = rule["ballot"]["rule"] if isinstance(rule, dict) else rule, len(classes)
    scores = {"sign": 1, "rest-last": count - 1, "vote": count * (count - 1) // 2}.get(rule, count)
    fits = len(votes) == scores and sum(map(len, votes)) == len(planes) and (rule in ("sign", "arg-max") or count > 2)
    require(fits or not planes, "the rule does not fit the planes", 4)
    joint = [{**plane, "class": name} for name, plane in zip(classes, planes)]
    for number, claim in enumerate(claims):
        plane, several = claim.get("plane"), claim.get("planes")
        if claim.get("claim") not in ("separable", "mistakes", "optimal", "stationary", "counts"):
            require(not whole(plane) and not text(several), "a claim refers to planes that it has not", 4)
            continue
        if version == 2 and (whole(plane) or several == "model"):
            right = whole(plane) and plane == place(model, claim) or several == "model" and (
                model["rule"] in ("arg-max", "rest") and len(planes) == len(classes))
            require(right, "a claim refers to a plane that it is not about", 4)
            claim |= {"plane": dict(planes[plane])} if whole(plane) else {"planes": joint}
            continue
        require(plane is None or PLANE(plane), "a claim has no plane", 4)
        require(several is None or PLANES(several), "a claim has no planes", 4)
        every = several if several is not None else [{} if plane is None else plane]
        left_out = lambda p: p.get("weights") is None and p.get("sparse") is None and p.get("bias") is None
        if version == 1 and claim["claim"] in ("optimal", "stationary", "counts"):  # version 1 leaves out the numbers
            own = planes if several is not None or len(planes) == 1 else planes[number:]
            for its, numbers in zip(every, own):
                its |= numbers if left_out(its) else {}
        if claim["claim"] == "separable" and any(map(has_fractions, every)):
            continue
        if several is not None:
            right = model["rule"] in ("arg-max", "rest") and [p["class"] for p in several] == classes and (
                list(map(dense, several)) == list(map(dense, planes)))
        else:
            k = place(model, claim)
            right = plane is not None and k is not None and dense(plane) == dense(planes[k])
        require(right or version == 1, "a claim is about other planes than those of the model", 4)
        if not right:
            reason = f"the claim {claim['claim']} is about other planes than those of the model"
            claims[number] = {"claim": "unproved", "reason": reason}

def weights_of(word):
    """Numbers by class, such as `a=2,b=1`."""
    return {normal(name.strip()): float(x) for name, _, x in (part.rpartition("=") for part in word.split(","))}

def by_class(word, classes):
    """A word, or numbers in the order of the classes; who is not named has 1."""
    return {"given": [weights_of(word).get(name, 1.0) for name in classes]} if "=" in word else word

def settings(model, claim):
    """The objective, equations or statistics that the parameters of the model name, as far as they settle them;
    None where its learner makes no such claim."""
    given, learner, joint = model["parameters"], model["learner"], claim.get("scheme") == "joint"
    numbered = lambda name: by_class(given[name], model["classes"])
    share = lambda name: {} if given[name] in ("oas", "ledoit-wolf") else {
        "shrinkage": 0.0 if given[name] == "none" else float(given[name])}
    if claim["claim"] == "optimal" and learner in ("logistic", "svm"):
        if joint and given["multiclass"] not in ("softmax", "crammer-singer"):
            return None
        ratio = float(given["l1-ratio"])
        l1, l2 = {"l2": (0, 1), "l1": (1, 0), "none": (0, 0), "elastic-net": (ratio, 1 - ratio)}[given["penalty"]]
        loss = ("softmax" if joint else "logistic") if learner == "logistic" else given["loss"]
        if given["multiclass"] == "crammer-singer":
            loss, l2 = ("crammer-singer", l2) if joint else ("hinge", l2 / 2)
        intercept = "free" if given["intercept"] == "penalised" and not l1 and not l2 else given["intercept"]
        return {"loss": loss, "c": float(given["c"]), "l1": l1, "l2": l2, "intercept": intercept}
    if claim["claim"] == "stationary":
        return {"least-squares": lambda: {"kind": learner, "l2": float(given["l2"]), "class-weight": numbered("class-weight")},
                "fisher": lambda: {"kind": "discriminant", "priors": "data", "bias": given["threshold"].replace("error", "free"),
                                   **share("shrinkage")},
                "lda": lambda: {"kind": "discriminant", "priors": numbered("priors"), "bias": "prior", **share("shrinkage")},
                }.get(learner, lambda: None)()
    if claim["claim"] == "counts" and learner in ("multinomial-nb", "bernoulli-nb", "shared-variance-nb"):
        name = {"multinomial-nb": "multinomial", "bernoulli-nb": "bernoulli"}.get(learner, "gaussian")
        numbers = {"alpha": "alpha", "binarize": "binarize", "smoothing": "var-smoothing"}
        return {"model": name, "priors": numbered("priors")} | {k: float(given[n]) for k, n in numbers.items() if n in given}
    return None

def beside(model, claims):
    """Why claims, by their numbers, are about something else than what the parameters of the model name."""
    against = {}
    for number, claim in enumerate(claims):
        body = {"optimal": "optimality", "stationary": "equations", "counts": "statistics"}.get(claim.get("claim"))
        own = [c for c in claims if c.get("claim") == "separable" and not has_fractions(c.get("plane") or {})]
        same = lambda c: [c.get(k) for k in ("scheme", "positive", "negative")] == [claim.get(k) for k in SIDES]
        if claim.get("claim") == "geometric-margin" and not any(map(same, own)):
            against[number] = "no claim about the model's own plane goes with this margin"
        if body is None:
            continue
        stated = claim.get(body) or {}
        stated, named = stated.get("objective", stated), settings(model, claim)
        given = model["parameters"]
        right = named is not None and all(stated.get(k) == v for k, v in named.items())
        if right and body == "optimality":
            asked = {"class-weights": given["class-weight"] != "none", "scale": given["scale"] != "none",
                     "limits": (given["lower"], given["upper"]) != ("none", "none")}
            right = all((k in stated) == asked[k] for k in asked)
        if right and named.get("model") == "bernoulli":
            right = (model.get("input") or {}).get("binarize") == named["binarize"]
        if not right:
            against[number] = f"the parameters of the model name {named}"
    return against

def upgrade(claims):
    """Format 1 measures a gap by the primal, format 2 by the bound."""
    for number, claim in enumerate(claims):
        if claim["claim"] == "optimal":
            p, b, gap = (claim["optimality"][k] for k in ("primal", "bound", "gap"))
            require(p >= b and p > 0 and gap >= (p - b) / p, "a gap does not follow from its primal and bound", 4)
            claim["optimality"]["gap"] = math.inf if b <= 0 else (p - b) / b * (1 + 2**-50)
            if p > b and b <= 0:
                claims[number] = {"claim": "unproved", "reason": "the bound is vacuous"}

def load(path):
    """The certificate and the input map of a file, what contradicts claims beside a model, and its parameters."""
    raw = pathlib.Path(path).read_bytes()
    try:
        top = take_apart(raw) if raw[4:9] == bytes(4) + b"{" else parse_json(raw)
        source, version = top.get("input") or {}, {"linsep.model/1": 1, "linsep.model/2": 2}.get(top.get("format"))
        file = top.get("certificate") if version else top
        require(isinstance(file, dict) and (version != 2) == (raw[4:8] != bytes(4)), "another format", 4)
        claims, against = file.get("claims"), {}
        if version and isinstance(claims, list) and all(isinstance(claim, dict) for claim in claims):
            bind({"classes": [], "planes": [], "rule": None, "input": {}} | top, claims, version)
            against = beside(top, claims)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise Refusal(4, f"no file of this format ({error})")
    given = top.get("parameters", {}) if version else None
    right = FILE(file) and (not source or INPUT(source)) and top.get("data") == file["data"]
    right = right and (given is None or isinstance(given, dict) and all(map(text, given.values())))
    require(right, "another format, or a field is missing, unknown or of the wrong kind", 4)
    second_only = {"forced", "coefficients", "joint coefficients", "joint touching", "joint overlapping"} & set(map(full_name, file["claims"]))
    require(not second_only or file["format"].endswith("/2"), "a claim needs linsep.certificate/2", 4)
    if file["format"].endswith("/1"):
        upgrade(file["claims"])
    stated, meant = source.get("basis"), file.get("basis")
    stated = meant if isinstance(stated, dict) and text(meant) and meant.startswith("rbf:") else stated
    require(not source or stated == meant, "the basis of the claims is not that of the input", 4)
    columns, width = source.get("columns") or [], source.get("source_columns")
    places = [c["position"] for c in [*columns, source.get("label"), source.get("weight")] if c]
    count = sum(map(size_of, columns))
    right = count == source["features"] if columns else not places and width is None
    right = right and rising(sorted(places) + [math.inf if width is None else width])
    kept = [j for pair in source.get("kept") or [] for j in pair]
    right = right and kept == sorted(kept) and not (columns and kept)
    require(right, "the columns of the input contradict each other", 4)
    return file, source, against, given, top.get("classes", [])

# --- The data: labels, weights (0: takes no part), the values that are not 0 as {column: binary64}, width.
BLANKS, LABELS, GAPS = " \t\n\r\f", ("label", "target", "class", "y"), ("", "?", "na", "n/a", "null")

def parse(cell):
    """The binary64 next to a decimal text, None where there is none."""
    try:
        value = float(cell) if set(cell) <= set("0123456789+-.eE") else math.inf
        lost = not value and set(cell.lower().split("e")[0]) & set("123456789")
        rounded = math.isinf(value) or cell.lstrip("+-").isdigit() and int(cell) != int(value)
        return None if lost or rounded else value
    except ValueError:
        return None
def shortest(value):
    """The shortest digits, and e, such that digits · 10^e is read as |value|."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    digits, places = mantissa.replace(".", ""), len(mantissa.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0"))
    return digits.strip("0"), int(exponent or 0) - places + zeros
def normal(label):
    """A label in normal form: numbers are written as short as they can be."""
    value = parse(label)
    if not value:
        return label if value is None else "0"
    digits, e = shortest(value)
    top, padded = len(digits) + e - 1, digits.rjust(1 - e, "0")
    plain = digits + "0" * e if e >= 0 else padded[:e] + "." + padded[e:]
    long = f"{digits[0]}.{digits[1:]}".rstrip(".") + f"e{top}"
    return "-" * (value < 0) + (plain if -5 <= top and abs(value) <= 2 ** 53 else long)

def read_data(path, source):
    raw = pathlib.Path(path).read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    words = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    lines = words.split("\n")
    if words.lstrip()[:1] == "{":
        return read_table(objects(lines), source, True)
    def is_pair(token):
        name, colon, value = token.partition(":")
        return colon and (name == "qid" or name.isascii() and name.isdigit() and parse(value) is not None)
    looks = [all(map(is_pair, tokens)) for tokens in (line.split("#")[0].split()[1:] for line in lines[:50]) if tokens]
    svmlight = sum(looks) * 2 >= max(len(looks), 1)
    return read_svmlight(lines, source) if svmlight else read_table(records(lines, source.get("source_columns")), source)
def read_svmlight(lines, source):
    labels, rows = [], []
    for line in filter(lambda line: line.split("#")[0].strip(BLANKS), lines):
        label, _, line = line.strip(BLANKS).replace("\t", " ").partition(" ")
        pairs = [token.split(":") for token in line.split("#")[0].split(" ") if token and token[:4] != "qid:"]
        row = {int(j): parse(value) for j, value in pairs if j.isascii() and j.isdigit()}
        fine = len(row) == len(pairs) and rising(list(row)) and None not in row.values()
        require(fine and ":" not in label, f"row {len(rows)} is no svmlight", 3)
        labels.append(normal(label))
        rows.append(row)
    guess = 0 if any(0 in row for row in rows) else 1
    base = guess if source.get("index_base") is None else source["index_base"]
    require(all(base <= j <= 2**32 - 2 for row in rows for j in row), "an index out of range", 3)
    width = source.get("features", max(j - base + 1 for row in rows for j in row if row[j]))
    kept, first = [], 0
    for start, end in source.get("kept") or [[0, 2**32]]:
        kept.append((range(base + start, base + end), first))
        first += end - start
    place = lambda j: next((first + columns.index(j) for columns, first in kept if j in columns), width)
    rows = [{place(j): v for j, v in row.items() if v and place(j) < width} for row in rows]
    return labels, [1] * len(rows), rows, width
def objects(lines):
    """JSON objects, one in each line, as a table with their keys above; numbers stay as they are written."""
    values = [json.loads(line, parse_float=str, parse_int=str) for line in lines if line.strip(BLANKS)]
    require(all(isinstance(value, dict) for value in values), "a line is no JSON object", 3)
    names = list(dict.fromkeys(name for value in values for name in value))
    cell = lambda x: (x if text(x) else "" if x is None else json.dumps(x)).strip(BLANKS)
    return [names] + [[cell(value.get(name)) for name in names] for value in values if value]
def records(lines, width):
    """A table cut where it then has this width, else by what stands most often in its first two lines."""
    filled = [line for line in lines if line.strip(BLANKS)]
    said = filled[0].strip("\r")  # spreadsheets may name what parts the fields
    said = said[4:] if said[:4] in ("sep=", "SEP=") and said[4:] in (*",;|\t",) else ""
    lines = lines[lines.index(filled[0]) + 1:] if said else lines
    def cut(delimiter):
        plain = lines if delimiter != " " else [line.strip(BLANKS).replace("\t", " ") for line in lines]  # any number of blanks
        table = csv.reader([line + "\n" for line in plain], delimiter=delimiter, skipinitialspace=True, strict=True)
        return [[cell.strip(BLANKS) for cell in row] for row in table if len(row) > 1 or "".join(row).strip()]
    for lacking, delimiter in itertools.product((0, 1), said or ",;\t| "):  # R leaves out a name
        try:
            table = cut(delimiter)
        except csv.Error:
            continue
        if {len(row) for row in table[1:]} == {width} == {len(table[0]) + lacking}:
            return table
    often = lambda d: min(line.count(d) for line in filled[:2])
    return cut(said or max(",;\t| ", key=lambda d: (d != " " and often(d) > 0, often(d))))
def with_names(table, header=False):
    """The header, empty where there is none, and the records. R does not name a column with names of rows."""
    first, rest = table[0], table[1:]
    is_word = lambda cell: parse(cell) is None and cell.lower() not in GAPS
    shifted = {len(row) for row in rest} == {len(first) + 1} and any(row[-1] for row in rest) and all(map(is_word, first))
    shifted = shifted and (all(is_word(row[0]) for row in rest) or all(row[0] == str(k + 1) for k, row in enumerate(rest)))
    below = lambda j: next((row[j] for row in rest[:50] if len(row) > j and row[j].lower() not in GAPS), "")
    numeric = [name for j, name in enumerate(first) if below(j).lstrip("+-.")[:1].isdigit()]
    names = any(map(is_word, numeric)) and all(is_word(name) or not name for name in numeric)
    if not (header or shifted or names or any(name.lower() in LABELS for name in first)):
        return [], table
    named = []
    for name in [""] * shifted + first:
        named.append(name if name not in named else f"{name}#{len(named) + 1}")
    return named, rest
def has_decimal_commas(cells):
    """Whether numbers are written as 0,5 and none as 0.5."""
    parts = (cell.lstrip("+-").partition(",") for cell in cells)
    commas = any(comma and (a + b).isascii() and a.isdigit() and b.isdigit() for a, comma, b in parts)
    return commas and not any("." in cell and parse(cell) is not None for cell in cells)
def read_table(table, source, header=False):
    header, table = with_names(table, header)
    width, mapped = len(header or table[0]), source.get("columns")
    named = [j for j, name in enumerate(header) if name.lower() in LABELS]
    named = [j for j in named if len(named) < 2 or header[j].lower() != "y"]  # y gives way to other names
    commas = has_decimal_commas([cell for row in table for cell in row])
    def number(cell):
        return (None if "." in cell else parse(cell.replace(",", "."))) if commas else parse(cell)
    def place(column):
        by_name = header and column.get("name") is not None  # else by its position
        there = header.count(column["name"]) if by_name else source.get("source_columns") == width
        require(there == 1, "the columns are not those of the certificate", 3)
        return header.index(column["name"]) if by_name else column["position"]
    label = place(source.get("label") or {}) if mapped else named[0] if named else 0 if source else width - 1
    columns = [(place(c), c) for c in mapped or []] or [(j, {}) for j in range(width) if j != label]
    require(mapped or len(named) < 2 and source.get("features", len(columns)) == len(columns),
            "it is not clear which columns are meant", 3)
    labels, parts, rows = [], [], []
    for record in table:
        require(len(record) == width, f"row {len(rows)} is cut or too long", 3)
        row, j = {}, 0
        others = [record[label]] + [record[place(column)] for column in [source.get("weight")] if column]
        gaps = [cell.lower() in GAPS for cell in others] + [record[at].lower() in GAPS + ("nan",) * ("levels" not in c)
                                                            for at, c in columns]
        if source.get("drop_missing") and any(gaps):
            continue
        for at, column in columns:
            cell, levels, fill = record[at], column.get("levels"), column.get("missing")
            gap = cell.lower() in GAPS or fill is not None and cell.lower() == "nan"
            level = column.get("missing_level") if gap else cell
            if levels is None:
                row[j] = fill if gap else number(cell)
            elif level in levels:
                row[j + levels.index(level)] = 1
            elif fill is None if level is None else not column.get("unknown_as_zeros") and level != column.get("reference"):
                row[j] = None
            j += 1 if levels is None else len(levels)
            if column.get("indicator"):
                row[j], j = int(gap), j + 1
        share = number(record[place(source["weight"])]) if source.get("weight") else 1
        fine = None not in (*row.values(), share) and share >= 0 and record[label].lower() not in GAPS
        require(fine, f"row {len(rows)} has a gap, or text where a number should be", 3)
        rows.append({j: float(value) for j, value in row.items() if value})
        as_number = commas and number(record[label]) is not None
        labels.append(normal(record[label].replace(",", ".") if as_number else record[label]))
        parts.append(share)
    require(rows, "there is no row", 3)
    return labels, parts, rows, sum(size_of(column) for _, column in columns)
def varint(n): return bytes([n % 128 + 128]) + varint(n // 128) if n > 127 else bytes([n])
def code(x, gap):
    """A value that is not 0, gap columns after the one before: head byte, gap, whole number."""
    size, places = abs(x), 6
    n = round(size * 1e6) if size * 1e6 < 2**51 else 0
    if n / 1e6 == size:
        while places and n % 10 == 0:
            n, places = n // 10, places - 1
        body = n.to_bytes((n.bit_length() + 7) // 8, "little")
    else:
        places, body = 7, struct.pack("<d", size).lstrip(b"\0")
    return bytes([len(body) % 8 | places << 3 | (x < 0) << 6 | (gap > 0) << 7]) + (varint(gap) if gap else b"") + body
def encode(label, row):
    name, columns = label.encode(), sorted(row)
    gaps = [j - i - 1 for i, j in zip([-1] + columns, columns)]
    return varint(len(name)) + name + b"".join(code(row[j], gap) for j, gap in zip(columns, gaps)) + b"\0"
def encode_1(label, row):
    name, values = label.encode(), [struct.pack("<Id", j, row[j]) for j in sorted(row)]
    return struct.pack("<I", len(name)) + name + struct.pack("<I", len(row)) + b"".join(values)
def identity(labels, rows, version):
    """Which data it is, as certificates with this version of the digest say it."""
    prefix = b"linsep.digest/2\n" if version == 2 else b""
    rows = list(map(encode if version == 2 else encode_1, labels, rows))
    blocks = [b"".join(rows[start:start + 4096]) for start in range(0, len(rows), 4096)]
    sha256 = hashlib.sha256(prefix + b"".join(hashlib.sha256(b).digest() for b in blocks)).hexdigest()
    return {"sha256": sha256, "rows": len(rows)} | ({"digest": 2} if version == 2 else {})

# --- The rows in any order: a product modulo a safe prime (MuHash), and rows that claims name by their hashes.
PRIME = 2**3072 - 1103717
def row_hash(label, row): return hashlib.sha256(encode(label, row)).digest()
def multiset(labels, rows):
    product = 1
    for hash in map(row_hash, labels, rows):
        parts = [hashlib.sha256(b"linsep.row/1\n" + hash + bytes([k])).digest() for k in range(12)]
        product = product * int.from_bytes(b"".join(parts), "little") % PRIME
    whole = len(rows).to_bytes(8, "little") + product.to_bytes(384, "little")
    return hashlib.sha256(b"linsep.multiset/1\n" + whole).hexdigest()
def rearranged(named, labels, parts, rows):
    """The same rows, those that are named at the places that they are said to have."""
    places, order, others = {}, [None] * len(rows), []
    for place, sha256 in reversed(named):
        places.setdefault(sha256, []).extend([place] * (place < len(rows)))
    for row, hash in enumerate(map(row_hash, labels, rows)):
        free = places.get(hash.hex())
        if free:
            order[free.pop()] = row
        else:
            others.append(row)
    others.reverse()
    order = [others.pop() if row is None else row for row in order]
    return [[column[row] for row in order] for column in (labels, parts, rows)]

# --- The claims. A row is {column: fraction}; the constant 1 beside a bias is column -1.
def dot(a, b): return sum(x * b[j] for j, x in a.items() if j in b)
def integer(word, least=-math.inf):
    require(word.isascii() and word.removeprefix("-").isdigit(), f"{word[:30]!r} is no whole number")
    require(int(word) >= least, f"{word[:30]} is not positive")
    return int(word)
def ratio(x):
    """A text is p/q or p; a JSON number is the binary64 next to it."""
    p, slash, q = x.partition("/") if text(x) else ("", "", "")
    return Fraction(integer(p), integer(q, 1) if slash else 1) if text(x) else Fraction(float(x))
def rank(rows, prime=2**127 - 1):
    """A lower bound of the rank: a minor that is not 0 modulo a prime is not 0."""
    rows, found = [[x.numerator * pow(x.denominator, -1, prime) % prime for x in r] for r in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        at = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if at is not None:
            rows[at], rows[found], pivot = rows[found], rows[at], rows[at]
            found += 1
            for row in rows[found:]:
                factor = row[column] * pow(pivot[column], -1, prime)
                row[:] = [(a - factor * b) % prime for a, b in zip(row, pivot)]
    return found

def products(basis, width):
    """The columns of each product that the basis adds, a column as often as its exponent says."""
    if not text(basis):
        terms = [[j for j, k in term for _ in range(k)] for term in basis or []]
        require(all(j < width for term in terms for j in term), "the basis names no column of the data")
        return terms
    require(basis.startswith("poly:"), "not checked here: Gaussians have no exact values")
    degrees = range(2, int(basis[5:]) + 1)
    require(sum(math.comb(width + d - 1, d) for d in degrees) <= 100_000, "the basis has too many terms")
    return [t for d in degrees for t in itertools.combinations_with_replacement(range(width), d)]

class Checker:
    def __init__(self, file, labels, parts, rows, width):
        terms = products(file.get("basis"), width)
        self.labels, self.parts, self.bias = labels, parts, file["bias"]
        self.width, self.columns = width + len(terms), [-1] * self.bias + list(range(width + len(terms)))
        default, binary64 = file["reading"]["default"], set(file["reading"]["binary64"])
        def exact(j, value):
            if default == "binary64" or j in binary64:
                return Fraction(value)
            short = len(shortest(value)[0]) <= 15 and math.frexp(value)[1] > -1022
            require(short, f"column {j}: {value!r} has no decimal of at most 15 digits")
            return Fraction(repr(value))
        constant = {-1: Fraction(1)} if self.bias else {}
        def phi(row):
            row = {j: exact(j, value) for j, value in row.items()}
            made = {width + k: math.prod(row[j] for j in term)
                    for k, term in enumerate(terms) if all(j in row for j in term)}
            return constant | row | made
        self.rows = list(map(phi, rows))
    def signs(self, claim):
        """+1, -1, or 0 for a row that does not take part."""
        names = claim["positive"] + claim["negative"]
        require(len(set(names)) == len(names), "a class stands twice")
        require(set(names) <= set(self.labels), "there is no such class")
        sign = dict.fromkeys(claim["positive"], 1) | dict.fromkeys(claim["negative"], -1)
        taking = {label for label, part in zip(self.labels, self.parts) if part}
        require(claim["scheme"] == "pair" or taking <= set(names), "a row belongs to no side")
        require({1, -1} <= {sign.get(label) for label in taking}, "a side has no row")
        return [bool(part) * sign.get(label, 0) for label, part in zip(self.labels, self.parts)]
    def blend(self, entries, sides, most=math.inf):
        """The sums of λ z and of λ, one for each of the names in sides(entry) = [(name, sign), ...]."""
        require(0 < len(entries) <= most, f"{len(entries)} entries, 1 to {most} are allowed")
        require(len({(e["row"], e.get("against")) for e in entries}) == len(entries), "an entry stands twice")
        sums, totals = {}, {}
        for e in entries:
            row, factor = e["row"], integer(e["lambda"], 1)
            require(row < len(self.rows) and self.parts[row], f"row {row} does not take part")
            for name, sign in sides(e):
                require(sign, f"row {row} belongs to no side")
                vector = sums.setdefault(name, dict.fromkeys(self.columns, Fraction(0)))
                totals[name] = totals.get(name, 0) + factor
                for j, value in self.rows[row].items():
                    vector[j] += factor * sign * value
        return sums, totals
    def plane(self, plane):
        dense, sparse, bias = (plane.get(field) for field in ("weights", "sparse", "bias"))
        right = (dense is None) != (sparse is None) and (bias is not None) == self.bias
        require(right, "a plane needs either weights or sparse, and the bias that is said above")
        pairs = list(enumerate(dense)) if sparse is None else sparse
        right = rising([j for j, _ in pairs] + [self.width]) and (dense is None or len(dense) == self.width)
        require(right, "the weights of a plane do not fit the columns")
        return {j: ratio(w) for j, w in pairs} | ({-1: ratio(bias)} if self.bias else {})
    def two_classes(self, claim, name):
        signs, size, body = self.signs(claim), len(self.columns), CLAIMS[name]
        def sides(e): return [(0, signs[e["row"]]), (signs[e["row"]],) * 2]  # 0 names all entries
        def blend(field, most=math.inf): return self.blend(claim[field], sides, most)
        def reach(vector, *of):  # z · vector of the rows of these signs
            return [sign * dot(self.rows[i], vector) for i, sign in enumerate(signs) if sign in of]
        if "witness" in body:
            sums, _ = blend("witness", 2 * size if name == "overlapping" else size + 1)
            require(not any(sums[0].values()), "the weighted rows do not add up to 0")
        if name == "mistakes":
            wrong = sum(x <= 0 for x in reach(self.plane(claim["plane"]), 1, -1))
            require(wrong == claim["mistakes"], f"the plane errs on {wrong} rows")
            rows = [e["row"] for conflict in claim["conflicts"] for e in conflict]
            require(len(set(rows)) == len(rows), "a row stands in two conflicts")
            sums = [self.blend(conflict, sides, size + 1)[0][0] for conflict in claim["conflicts"]]
            require(not any(any(v.values()) for v in sums), "the rows of a conflict do not add up to 0")
        elif "plane" in body:
            on = reach(self.plane(claim["plane"]), 1, -1)
            right = min(on) > 0 or name == "touching" and min(on) == 0 < max(on)
            require(right, "a row is not on its side of the plane")
        if name == "overlapping":
            null = self.null(claim, [i for i, sign in enumerate(signs) if sign])
            rows = [[self.rows[e["row"]].get(j, 0) for j in self.columns] for e in claim["witness"]]
            whole = len(rows) == len(signs) - signs.count(0) < size
            require(whole or rank(rows) + len(null) == size, "the witness rows do not span all rows")
        if name in ("bracket", "margin", "geometric-margin"):
            require(self.bias or name == "bracket", "a margin needs a bias")
            sums, totals = blend("weights" if name == "bracket" else "support")
            mean = {part: {j: x / totals[part] for j, x in sums[part].items()} for part in sums}
        if name == "bracket":
            require(dot(mean[0], mean[0]) <= ratio(claim["bound"]), "the blend is longer than that")
        if name == "margin":
            v, constant = mean[0], integer(claim["constant"], 1)
            v[-1] *= constant
            require(ratio(claim["gamma2"]) == dot(v, v) > 0, "gamma2 is another")
            require(min(reach(v | {-1: constant * v[-1]}, 1, -1)) >= dot(v, v), "a row is nearer than that")
        if name == "geometric-margin":
            require(len(mean) == 3, "the support needs rows of both sides")
            v = {j: mean[1][j] + mean[-1][j] for j in range(self.width)}
            require(ratio(claim["gamma2"]) * 4 == dot(v, v) > 0, "gamma2 is another")
            require(min(reach(v, 1)) + min(reach(v, -1)) >= dot(v, v), "a row is nearer than that")
    def forced(self, claim):
        """What all planes that separate the rows say of a point."""
        signs, forced = self.signs(claim), claim["forced"]
        pairs, either = forced["point"], forced["side"] == "either"
        require(rising([j for j, _ in pairs] + [self.width]), "the point does not fit the columns")
        point = {j: ratio(x) for j, x in pairs if ratio(x)} | ({-1: Fraction(1)} if self.bias else {})
        planes = list(map(self.plane, forced["planes"]))
        right = len(planes) == 1 + either and either == ("combination" not in forced)
        require(right, "a forced point has one plane and a combination, another two planes")
        apart = all(sign * dot(self.rows[i], w) > 0 for w in planes for i, sign in enumerate(signs) if sign)
        require(apart, "a plane does not separate the rows")
        if either:
            on = [dot(point, w) for w in planes]
            return require(min(on) < 0 < max(on), "the planes do not differ on the point")
        entries = forced["combination"]
        require(not any(m.get("against") is not None for m in entries), "a row is against a class")
        entries = [{"row": m["row"], "lambda": m["factor"]} for m in entries]
        total = self.blend(entries, lambda e: [(0, signs[e["row"]])])[0][0]
        first = min(point, default=None)
        require(first is not None, "the point is 0")
        k = total[first] / point[first]
        require(k and all(x == k * point.get(j, 0) for j, x in total.items()), "the sum is no multiple of the point")
        require((k > 0) == (forced["side"] == "positive"), "the sum is one of the other side")
    def null(self, claim, rows):
        """Independent vectors that are orthogonal to all rows."""
        null = [[integer(x) for x in vector] for vector in claim.get("null") or []]
        right = all(len(vector) == len(self.columns) for vector in null) and rank(null) == len(null)
        require(right, "the null vectors are of the wrong length or not independent")
        products = (dot(self.rows[i], dict(zip(self.columns, vector))) for vector in null for i in rows)
        require(not any(products), "a row is not orthogonal to a null vector")
        return null
    def joint(self, claim, name):
        names, taking = sorted(set(self.labels)), [i for i, part in enumerate(self.parts) if part]
        size = (len(names) - 1) * len(self.columns)
        def sides(e):
            own, other = self.labels[e["row"]], e["against"]
            require(other in self.labels and other != own, f"row {e['row']} is against {other}")
            return [(own, 1), (other, -1)]
        if name != "joint separable":
            sums, _ = self.blend(claim["witness"], sides, 2 * size if name == "joint overlapping" else size + 1)
            require(not any(any(v.values()) for v in sums.values()), "the rows do not balance")
        if name == "joint overlapping":
            null = self.null(claim, taking)
            def stacked(e):  # one plane may be added to all, so that of the last class counts as 0
                sign = dict(sides(e))
                return [sign.get(k, 0) * self.rows[e["row"]].get(j, 0) for k in names[:-1] for j in self.columns]
            found = rank([stacked(e) for e in claim["witness"]])
            require(found == size - (len(names) - 1) * len(null), "the witness does not span all rows")
        if "planes" not in claim:
            return
        planes = {plane["class"]: self.plane(plane) for plane in claim["planes"]}
        require(len(planes) == len(claim["planes"]) and any(self.parts), "a class has two planes")
        off = 0
        for i in taking:
            scores = {name: dot(self.rows[i], plane) for name, plane in planes.items()}
            require(self.labels[i] in scores, f"class {self.labels[i]} has no plane")
            over = [scores[self.labels[i]] - score for k, score in scores.items() if k != self.labels[i]]
            right = all(x > 0 or name == "joint touching" and x == 0 for x in over)
            require(right, f"row {i} does not score highest on its class")
            off += any(over)
        require(name == "joint separable" or off, "every row scores the same on all classes")

class Coefficients:
    """What becomes of the coefficients of a maximum-likelihood fit: coordinates are the bias, then the columns,
    block by block for the classes but the last. C is the cone of all w with z·w >= 0 for every row."""
    def __init__(self, checker, claim, joint):
        self.checker, self.e, self.joint = checker, claim["estimates"], joint
        self.classes, self.size = self.e.get("classes", []), len(checker.columns)
        right = sorted(self.classes) == sorted(set(checker.labels)) and len(self.classes) > 1
        require(right if joint else not self.classes, "the classes are not those of the data")
        self.signs = list(map(bool, checker.parts)) if joint else checker.signs(claim)
        self.blocks = max(len(self.classes) - 1, 1)
        self.rows = [i for i, sign in enumerate(self.signs) if sign]
    def block(self, row, block, factor):
        require(row < len(self.signs) and self.signs[row], f"row {row} does not take part")
        shift = block * self.size + self.checker.bias
        values = self.checker.rows[row].items() if block < self.blocks else ()
        return {shift + j: factor * x for j, x in values}
    def stacked(self, row, against):
        """z of a row; for all classes at once, of a row against a class."""
        if not self.joint:
            require(against is None, f"row {row} is against a class")
            return self.block(row, 0, self.signs[row] if row < len(self.signs) else 0)
        require(row < len(self.signs) and against in self.classes, f"row {row} is against no class")
        own, other = self.classes.index(self.checker.labels[row]), self.classes.index(against)
        require(own != other, f"row {row} is against its own class")
        return self.block(row, own, 1) | self.block(row, other, -1)
    def vector(self, pairs, size, kept):
        require(rising([c for c, _ in pairs] + [size]), "a vector is out of order or out of range")
        vector = {c: ratio(x) for c, x in pairs if ratio(x)}
        require(set(vector) <= kept, "a vector has a part in an aliased column")
        return vector
    def total(self, multiples, negative=()):
        """Σ factor z, and its rows; factors may be negative only on rows that are listed."""
        keys, total = [(m["row"], m.get("against")) for m in multiples], {}
        require(len(set(keys)) == len(keys), "a row stands twice")
        for key, m in zip(keys, multiples):
            factor = integer(m["factor"])
            require(factor > 0 or factor < 0 and key in negative, "a factor has the wrong sign")
            for c, x in self.stacked(*key).items():
                total[c] = total.get(c, 0) + factor * x
        return {c: x for c, x in total.items() if x}, keys
    def check(self):
        e, size = self.e, self.size
        names = self.classes[:-1] or [None]
        meant = [(name, None if column < 0 else column) for name in names for column in self.checker.columns]
        listed = [(c.get("class"), c.get("column")) for c in e["coefficients"]]
        require(listed == meant, "the coefficients are not those of the columns, in order")
        words = [c["estimate"] for c in e["coefficients"]]
        aliased = [word == "aliased" for word in words]
        require(aliased == aliased[:size] * self.blocks, "a column is aliased in one class only")
        first = [c for c in range(size) if not aliased[c]]
        kept = {block * size + c for block in range(self.blocks) for c in first}
        # Aliased columns are sums of those before, and no others are.
        shown = set()
        for pairs in e.get("relations", []):
            n = self.vector(pairs, size, set(range(size)))
            require(n and aliased[max(n)], "a relation is about no aliased column")
            shown.add(max(n))
            require(not any(dot(self.block(i, 0, 1), n) for i in self.rows), "a row does not satisfy a relation")
        for c in (c for c in range(size) if aliased[c] and c not in shown):
            different = len({tuple(sorted(self.checker.rows[i].items())) for i in self.rows})
            require(sum(k < c for k in first) >= different, f"coordinate {c} is not shown to be aliased")
        rows = [self.block(i, 0, 1) for i in dict.fromkeys(e["independent"])]
        right = len(rows) == len(e["independent"]) == len(first)
        require(right and rank([[row.get(c, 0) for c in first] for row in rows]) == len(first),
                "the independent rows are not independent, or too few")
        # The tied rows, all that is orthogonal to them, and the directions.
        tied = e.get("tied", [])
        require(len(tied) <= 2 * self.blocks * size, "there are too many tied rows")
        total, keys = self.total(tied)
        require(not total and all(integer(m["factor"]) > 0 for m in tied), "the tied rows do not add up to 0")
        complement = [self.vector(pairs, size * self.blocks, kept) for pairs in e.get("complement", [])]
        if complement or "finite" in words:
            rows, order = [self.stacked(*key) for key in keys], sorted(kept)
            right = not any(dot(row, n) for row in rows for n in complement)
            dense = lambda vectors: [[v.get(c, 0) for c in order] for v in vectors]
            right = right and rank(dense(complement)) == len(complement)
            require(right and rank(dense(rows)) + len(complement) == len(kept), "the complement is another")
        directions = [self.vector(pairs, size * self.blocks, kept) for pairs in e.get("directions", [])]
        others = lambda i: [name for name in self.classes if name != self.checker.labels[i]] or [None]
        for w in directions:
            right = all(dot(self.stacked(i, other), w) >= 0 for i in self.rows for other in others(i))
            require(right, "a row is on the wrong side of a direction")
        for c, coefficient in enumerate(e["coefficients"]):
            estimate, evidence = coefficient["estimate"], coefficient.get("combination", [])
            sign = {"+inf": 1, "-inf": -1}.get(estimate)
            signs = {(w.get(c, 0) > 0) - (w.get(c, 0) < 0) for w in directions}
            require(sign or not evidence, f"coefficient {c} has a combination without need")
            if sign:
                total, _ = self.total(evidence, keys)
                right = {k for k in total if k in kept} == {c} and total[c] * sign > 0 and sign in signs
            else:
                right = {"finite": not any(c in n for n in complement), "undetermined": {1, -1} <= signs}.get(estimate, True)
            require(right, f"coefficient {c} is not shown to be {estimate}")

# --- Numbers of an objective that the parameters of a model settle on the data only.
def names_of(source, terms, width):
    """What the features are called, and those that are columns of the file, by the numbers of these."""
    names, numbers = [], {}
    for column in source.get("columns") or []:
        base, levels = column.get("name"), column.get("levels")
        base = f"x{column['position'] + 1}" if base is None else base
        numbers |= {column["position"] + 1: len(names)} if levels is None else {}
        names += [base] if levels is None else [f"{base}={level}" for level in levels]
        names += [f"missing({base})"] * column.get("indicator", False)
    if not names:
        kept = (j for start, end in source.get("kept") or [[0, width]] for j in range(start, end))
        numbers = {j + 1: k for k, j in enumerate(itertools.islice(kept, width))}
    names += [f"x{j + 1}" for j in range(len(names), width)]
    power = lambda j, k: names[j] + f"^{k}" * (k > 1)
    made = [[(j, len(list(same))) for j, same in itertools.groupby(term)] for term in terms]
    return names + ["*".join(itertools.starmap(power, factors)) for factors in made], numbers

class Settled:
    """The claim's rows, of a pair only those of its two classes, and the parameters of its model."""
    def __init__(self, given, source, claim, checker, rows, terms, names=()):
        self.given, self.source, self.names, self.stated = given, source, names, claim["optimality"]["objective"]
        self.side = (lambda label: label in claim["positive"]) if source.get("rest") else (lambda label: label)
        self.terms, self.width = terms, checker.width
        taking = set(claim["positive"] + claim["negative"] if claim["scheme"] == "pair" else checker.labels)
        self.rows = [(label, Fraction(part), row) for label, part, row in zip(checker.labels, checker.parts, rows)
                     if part and label in taking]
        self.classes, self.total = set(checker.labels), sum(part for _, part, _ in self.rows)
        self.rounding = Fraction(len(self.rows), 2**50)  # of a sum over the rows
        self.slack = Fraction(1, 10**12) + self.rounding
    def check(self):
        class_weights = dict(self.stated.get("class-weights", []))
        require(self.rows, "no row takes part")
        if class_weights:
            weights = dict.fromkeys(map(self.side, self.classes), Fraction(0))
            for label, part, _ in self.rows:
                weights[self.side(label)] += part
            factor = {k: self.total / (len(weights) * w) if w else 1 for k, w in weights.items()}
            meant = {label: factor[self.side(label)] for label in self.classes}
            if self.given["class-weight"] != "balanced":  # by the label, or by the class that took it in
                own = weights_of(self.given["class-weight"])
                rest = lambda label: own.get(self.names[0], 1.0) if self.source.get("rest") else 1.0
                meant = {label: binary64(own.get(label, rest(label))) for label in self.classes}
            right = meant.keys() == class_weights.keys() and all(
                abs(binary64(x) - meant[k]) <= self.slack * meant[k] for k, x in class_weights.items())
            require(right, "the class weights are not those of the parameters of the model")
        if "scale" in self.stated:
            right = len(self.stated["scale"]) == self.width and all(map(self.is_scale, self.stated["scale"], self.columns()))
            require(right, "the scale is not that of the parameters of the model")
        limits = {limit["column"]: (limit.get("least"), limit.get("most")) for limit in self.stated.get("limits", [])}
        require(limits == self.limits(), "the limits are not those of the parameters of the model")
    def columns(self):
        """(weight, value) of the rows in which a column is not 0; binary64 holds products, from left to right."""
        columns, width = [[] for _ in range(self.width)], self.width - len(self.terms)
        for _, part, row in self.rows:
            made = {width + k: math.prod(row[j] for j in term)
                    for k, term in enumerate(self.terms) if all(j in row for j in term)}
            require(all(map(math.isfinite, made.values())), "a product of the basis leaves the range of binary64")
            for j, x in (row | made).items():
                columns[j].append((part, Fraction(x)))
        return columns
    def is_scale(self, stated, column):
        """Whether a weight is penalised in the scale of its column; a column without one has the scale 1."""
        kind, stated = self.given["scale"], binary64(stated)
        top = max((abs(x) for _, x in column), default=0)
        if kind == "pow2":  # the power next to the largest value, either one where both are as near
            power = lambda half: min(max(math.floor(math.log2(top) + half), -500), 500)
            return stated in ([Fraction(2) ** power(half) for half in (0.5 - 1e-9, 0.5 + 1e-9)] if top else [1])
        if kind == "maxabs":
            return abs(stated - (top or 1)) <= self.slack * (top or 1)
        require(kind == "standard", f"the parameters name no scale, but {kind!r:.40}")
        mean, square = (sum(part * x ** k for part, x in column) / self.total for k in (1, 2))
        variance, off = square - mean ** 2, (self.rounding * mean) ** 2
        if variance <= mean ** 2 / 10**24:
            return stated == 1
        off += self.rounding * mean ** 2 if len(column) < len(self.rows) else 0  # the weight of the zeros is rounded
        return abs(stated ** 2 - variance) <= 3 * self.slack * variance + off
    def limits(self):
        """The limits of each column, such as `0,#2=-1`: one for all, and others by name or number."""
        names, numbers = names_of(self.source, self.terms, self.width - len(self.terms))
        ends = []
        for word in (self.given["lower"], self.given["upper"]):
            parts = [part.rpartition("=") for part in word.split(",")] if word != "none" else []
            parts = [(name if sign else None, parse(x)) for name, sign, x in parts]
            common = [x for name, x in parts if name is None]
            right = len(common) < 2 and all(name != "" and x is not None for name, x in parts)
            require(right, f"{word!r:.40} names no limits")
            place = lambda name: names.index(name) if name in names else (
                numbers.get(int(name[1:])) if name[0] == "#" and name[1:].isdecimal() else None)
            own = [(place(name), x) for name, x in parts if name is not None]
            right, own = len(dict(own)) == len(own), dict(own)
            require(right and None not in own, f"{word!r:.40} names no column, or one twice")
            ends.append([own.get(j, common[0] if common else None) for j in range(self.width)])
        return {j: pair for j, pair in enumerate(zip(*ends)) if pair != (None, None)}

# --- Optimal. Any dual point bounds every model; what is irrational has 50 digits and is rounded outwards.
SLACK = Fraction(1, 10**40)
def binary64(x): return Fraction(float(x))
def decimal_of(x): return decimal.Decimal(x.numerator) / x.denominator
def ln(x): return Fraction(decimal_of(x).ln())
def loss_above(x):
    """ln(1 + exp(x)) or more."""
    y = decimal_of(x)
    return Fraction(max(y, 0) + (1 + (-abs(y)).exp()).ln()) + SLACK * (1 + abs(x))
def entropy_below(shares): return sum((-p * ln(p) - SLACK for p in shares if 0 < p < 1), Fraction(0))
def in_range(x): return 1e-100 <= x < 1e100

class Optimal:
    """The objective of a claim and its dual point; planes and rows have the constant as column -1."""
    def __init__(self, checker, claim, joint):
        self.checker, self.claimed = checker, claim["optimality"]
        self.objective = o = self.claimed["objective"]
        self.loss, self.intercept, self.l1, self.l2 = o["loss"], o["intercept"], binary64(o["l1"]), binary64(o["l2"])
        names = [p["class"] for p in claim["planes"]] if joint else claim["negative"] + claim["positive"]
        weights, limits, scale = dict(o.get("class-weights", [])), o.get("limits", []), o.get("scale", [])
        right = len(weights) == len(o.get("class-weights", [])) and set(weights) <= set(names)
        require(right and len(set(names)) == len(names) > 1, "classes or their weights stand twice or nowhere")
        right = all(x == 0 or in_range(x) for x in (o["l1"], o["l2"]))
        self.correction, self.moves = (self.claimed["dual"].get(k, []) for k in ("correction", "moves"))
        bare, smooth = not (o["l1"] or o["l2"] or limits), "softmax" if joint else "logistic"
        right = right and bare == bool(self.moves if joint else self.correction) and not (joint and self.correction)
        right = right and not (self.moves and not joint) and (not bare or o["loss"] == smooth and o["intercept"] != "penalised")
        require(right and all(map(in_range, [o["c"], *weights.values(), *scale])), "a factor is out of range")
        width = checker.width
        right = len(scale) in (0, width) and rising([limit["column"] for limit in limits] + [width])
        require(right and (checker.bias or self.intercept == "none"), "scales, limits or the bias do not fit")
        self.scale = dict(enumerate(map(binary64, scale)))
        ends = lambda limit: [None if limit.get(k) is None else binary64(limit[k]) for k in ("least", "most")]
        self.limits = {limit["column"]: ends(limit) for limit in limits}
        require(not any(None not in e and e[0] > e[1] for e in self.limits.values()), "limits exclude each other")
        signs = None if joint else checker.signs(claim)
        self.rows, self.own, self.c = [], {}, {}
        for i, (label, part) in enumerate(zip(checker.labels, checker.parts)):
            if part if joint else signs[i]:
                require(label in names, f"row {i} is of a class without a plane")
                factor = float(o["c"]) * part * float(weights.get(label, 1))
                require(in_range(factor), f"row {i}: its factor is out of range")
                self.rows.append(i)
                self.own[i], self.c[i] = names.index(label) if joint else signs[i], Fraction(factor)
    def planes(self, planes):
        parts = [w for p in planes for w in [*(p.get("weights") or []), *(p.get("sparse") or []), p.get("bias")]]
        plain = not any(text(w[-1] if isinstance(w, list) else w) for w in parts)
        require(plain, "the weights of an optimal model are JSON numbers")
        return list(map(self.checker.plane, planes))
    def value(self, column, w):
        v = abs(w * self.scale.get(column, 1))
        return self.l2 / 2 * v * v + self.l1 * v
    def conjugate(self, column, g):
        """The largest g w - r(w) of an allowed w: at a limit, at 0, or where the slope is 0."""
        scale, (least, most) = self.scale.get(column, 1), self.limits.get(column, (None, None))
        stops = [w for w in (least, most) if w is not None] + [Fraction(0)]
        if self.l2:
            slope = abs(g) / scale - self.l1
            stops.append((slope if g > 0 else -slope) / (self.l2 * scale) if slope > 0 else Fraction(0))
        fit = [w for w in stops if (least is None or w >= least) and (most is None or w <= most)]
        return max(g * w - self.value(column, w) for w in fit)
    def shrink(self, column, g):
        """The largest factor of at most 1 with which the conjugate is finite."""
        wall, (least, most) = self.l1 * self.scale.get(column, 1), self.limits.get(column, (None, None))
        open_end = most is None if g > 0 else least is None
        return wall / abs(g) if not self.l2 and open_end and abs(g) > wall else Fraction(1)
    def penalised(self): return range(-1 if self.intercept == "penalised" else 0, self.checker.width)
    def penalties(self, planes):
        for plane in planes:
            require(self.intercept != "none" or not plane.get(-1), "the intercept is none, the bias is not 0")
            for column, (least, most) in self.limits.items():
                w = plane.get(column, 0)
                right = (least is None or w >= least) and (most is None or w <= most)
                require(right, f"the weight of column {column} is beyond its limits")
        return sum(self.value(j, plane.get(j, Fraction(0))) for plane in planes for j in self.penalised())
    def corrected(self, alpha):
        """The point with the sums 0 over all columns: the multipliers of the correction rows solve for them."""
        columns = [-1] * (self.intercept == "free") + list(range(self.checker.width))
        rows, g = self.correction, self.sums((i, self.own[i] * a) for i, a in alpha.items())
        right = rising(rows) and set(rows) <= set(self.rows) and len(rows) == len(columns)
        require(right, "the correction rows are not rising, not there, or too few")
        system = [[self.own[i] * self.checker.rows[i].get(j, Fraction(0)) for i in rows] + [-g[j]] for j in columns]
        alpha = alpha | {i: alpha[i] + x for i, x in zip(rows, self.solved(system))}
        require(all(0 <= alpha[i] <= self.c[i] for i in rows), "a corrected multiplier is out of its domain")
        return alpha
    def solved(self, system):
        """The answer of a regular system whose lines end with their right sides."""
        for step in range(len(system)):
            pivot = next((k for k in range(step, len(system)) if system[k][step]), None)
            require(pivot is not None, "the corrections are not independent")
            system[step], system[pivot] = system[pivot], system[step]
            for k in range(len(system)):
                if k != step and system[k][step]:
                    factor = system[k][step] / system[step][step]
                    system[k] = [x - factor * y for x, y in zip(system[k], system[step])]
        return [line[-1] / line[k] for k, line in enumerate(system)]
    def moved(self, shares):
        """The shares with the sums 0 over all columns of every plane: moves between two planes solve for them."""
        columns = [-1] * (self.intercept == "free") + list(range(self.checker.width))
        blocks = range(max(self.own.values()))
        right = rising(self.moves) and len(self.moves) == len(blocks) * len(columns)
        right = right and all(i in self.own and a != b and max(a, b) <= len(blocks) for i, a, b in self.moves)
        require(right, "the moves are not rising, not between planes, or too few")
        pull = lambda k: self.sums((i, self.c[i] * ((self.own[i] == k) - shares[i][k])) for i in self.rows)
        part = lambda move, k, j: ((k == move[2]) - (k == move[1])) * self.checker.rows[move[0]].get(j, Fraction(0))
        system = []
        for k in blocks:
            g = pull(k)
            system += [[part(move, k, j) for move in self.moves] + [-g[j]] for j in columns]
        shares = {i: list(p) for i, p in shares.items()}
        for (i, a, b), u in zip(self.moves, self.solved(system)):
            shares[i][a] += u / self.c[i]
            shares[i][b] -= u / self.c[i]
        require(all(x >= 0 for i, _, _ in self.moves for x in shares[i]), "a corrected share is out of its domain")
        return shares
    def listed(self, field):
        rows = [row for row, _ in self.claimed["dual"].get(field, [])]
        require(rising(rows) and set(rows) <= set(self.rows), "rows of the dual point are not rising or not there")
        return dict(self.claimed["dual"].get(field, []))
    def sums(self, factors):
        """Σ factor x over (row, factor)."""
        g = dict.fromkeys([-1, *range(self.checker.width)], Fraction(0))
        for i, factor in factors:
            for j, x in self.checker.rows[i].items() if factor else ():
                g[j] += factor * x
        return g
    def check(self, primal, bound):
        p, b, gap, radius = (self.claimed.get(k) for k in ("primal", "bound", "gap", "radius"))
        require(p >= b and gap >= 0 and (p == b or b > 0 and gap >= (p - b) / b), "the gap is larger, or there is none")
        require((radius is None) == (not self.l2), "the radius goes with l2")
        require(radius is None or radius >= math.sqrt(2 * (p - b) / self.objective["l2"]), "the radius is larger")
        require(primal <= binary64(p), f"the objective is {float(primal)!r}")
        bound = max(bound, Fraction(0))  # no loss and no penalty is negative
        require(bound >= binary64(b), f"the dual point shows {float(bound)!r}")
    # Two classes: one multiplier α for each row.
    def two(self, claim):
        dual = self.claimed["dual"]
        require(self.loss in ("logistic", "hinge", "squared-hinge", "squared") and not dual.get("planes")
                and "shares" not in dual, "the loss or the dual point is one of more classes")
        own, = planes = self.planes([claim["plane"]])
        other, = self.planes([dual["plane"]]) if dual.get("plane") else [own]
        margins = lambda plane: {i: self.own[i] * dot(self.checker.rows[i], plane) for i in self.rows}
        lost = {"logistic": lambda m: loss_above(-m), "hinge": lambda m: max(0, 1 - m),
                "squared-hinge": lambda m: max(0, 1 - m) ** 2, "squared": lambda m: (1 - m) ** 2}[self.loss]
        primal = sum(self.c[i] * lost(m) for i, m in margins(own).items()) + self.penalties(planes)
        slope = {"logistic": lambda m: Fraction(1 / (1 + math.exp(max(min(m, 700), -700)))),
                 "hinge": lambda m: Fraction(m < 1), "squared-hinge": lambda m: 2 * max(0, 1 - m),
                 "squared": lambda m: 2 * (1 - m)}[self.loss]
        alpha = {i: self.c[i] * slope(m) for i, m in margins(other).items()}
        alpha |= {i: binary64(a) for i, a in self.listed("alpha").items()}
        top = lambda i: Fraction(1e100) if "squared" in self.loss else self.c[i]
        low = lambda i: -top(i) if self.loss == "squared" else 0
        require(all(low(i) <= a <= top(i) for i, a in alpha.items()), "a multiplier is out of its domain")
        alpha = self.corrected(alpha) if self.correction else alpha
        weight = {s: sum(a for i, a in alpha.items() if self.own[i] == s) for s in (1, -1)}
        light = min(weight.values())
        require(light >= 0 or self.intercept != "free", "the multipliers of a side cancel")
        def bound(tilt={}):
            """The bound of the tilted dual point, and Σ y α of both sides before the tilt."""
            part = lambda i: light / weight[self.own[i]] if self.intercept == "free" and weight[self.own[i]] else 1
            point = {i: a * part(i) * (1 - tilt.get(self.own[i], 0)) for i, a in alpha.items()}
            g = self.sums((i, self.own[i] * a) for i, a in point.items())
            factor = min([Fraction(1)] + [self.shrink(j, g[j]) for j in self.penalised()])
            psi = {"logistic": lambda c, a: c * entropy_below([a / c, 1 - a / c]), "hinge": lambda c, a: a,
                   **dict.fromkeys(["squared-hinge", "squared"], lambda c, a: a - a * a / (4 * c))}[self.loss]
            gain = sum(psi(self.c[i], factor * a) for i, a in point.items())
            return gain - sum(self.conjugate(j, factor * g[j]) for j in self.penalised()), factor * light
        self.check(primal, bound()[0])
        bias = self.claimed.get("bias")
        if bias is not None:
            require(self.intercept == "free", "only a free bias has an interval")
            ends = -binary64(bias["least"]), binary64(bias["most"])
            for side, tilt, end in zip((-1, 1), map(binary64, bias["tilt"]), ends):
                require(0 < tilt <= 1, "a tilt is out of range")
                shown, beta = bound({side: tilt})
                right = beta and end * beta * tilt >= binary64(self.claimed["primal"]) - shown
                require(right, "the interval of the bias is narrower than what is shown")
    # K classes: shares p of each row that add up to 1.
    def joint(self, claim):
        dual, softmax = self.claimed["dual"], self.loss == "softmax"
        require(self.loss in ("softmax", "crammer-singer") and not dual.get("plane") and "alpha" not in dual
                and not self.limits and not self.claimed.get("bias"), "this is for two classes")
        planes, size = self.planes(claim["planes"]), len(claim["planes"])
        others = dual.get("planes")
        same = others is None or [p["class"] for p in others] == [p["class"] for p in claim["planes"]]
        require(same, "the dual planes are of other classes")
        require(set(self.own.values()) == set(range(size)), "a class has no row")
        points = planes if others is None else self.planes(others)
        listed, primal, shares = self.listed("shares"), self.penalties(planes), {}
        for i in self.rows:
            own, score = self.own[i], lambda planes: [dot(self.checker.rows[i], plane) for plane in planes]
            s = score(planes)
            if softmax:
                top = max(s)
                parts = sum((decimal_of(x - top)).exp() for x in s)
                primal += self.c[i] * (Fraction(parts.ln()) + top - s[own] + SLACK * (size + abs(top - s[own])))
            else:
                primal += self.c[i] * max(x - s[own] + (k != own) for k, x in enumerate(s))
            s = [x + (not softmax and k != own) for k, x in enumerate(score(points))]
            if i in listed:
                ks = [k for k, _ in listed[i]]
                right = rising(ks + [size]) and own not in ks and all(0 <= p <= 1 for _, p in listed[i])
                p = {k: binary64(share) for k, share in listed[i]}
                require(right and sum(p.values()) <= 1 + Fraction(1, 10**12), f"row {i}: shares out of range")
            else:
                weights = [math.exp(max(x - max(s), -700)) if softmax else float(x == max(s)) for x in s]
                best = [k for k, w in enumerate(weights) if w == 1]
                p = {k: Fraction(w / sum(weights)) for k, w in enumerate(weights) if k != own} if softmax else {
                    best[0]: Fraction(1)} if own not in best else {}
            total = sum(p.values())
            p = {k: x / max(total, 1) for k, x in p.items()}
            shares[i] = [p.get(k, Fraction(0)) if k != own else 1 - min(total, 1) for k in range(size)]
        shares = self.moved(shares) if self.moves else shares
        if self.intercept == "free":
            have = [sum(self.c[i] * shares[i][k] for i in self.rows) for k in range(size)]
            want = [sum(self.c[i] for i in self.rows if self.own[i] == k) for k in range(size)]
            theta = max([Fraction(0)] + [1 - w / h for h, w in zip(have, want) if h])
            if theta:
                q = [(h + (w - h) / theta) / sum(want) for h, w in zip(have, want)]
                shares = {i: [(1 - theta) * x + theta * y for x, y in zip(p, q)] for i, p in shares.items()}
        pull = lambda k: [(i, self.c[i] * ((self.own[i] == k) - shares[i][k])) for i in self.rows]
        g = [self.sums(pull(k)) for k in range(size)]
        factor = min([Fraction(1)] + [self.shrink(j, v[j]) for v in g for j in self.penalised()])
        gain = Fraction(0)
        for i, p in shares.items():
            p = [factor * x + (1 - factor) * (k == self.own[i]) for k, x in enumerate(p)]
            gain += self.c[i] * (entropy_below(p) if softmax else 1 - p[self.own[i]])
        self.check(primal, gain - sum(self.conjugate(j, factor * v[j]) for v in g for j in self.penalised()))

# --- Models fitted without steps. The exact answer is computed and compared; scores are one vector over all rows.
SHARE, FLOOR = Fraction("4.5e-7"), Fraction(1, 10**12)  # of the norm of the scores; for each row
MOST_WORK = 4e8  # products of 64-bit words that an exact answer may take

def root(x): return Fraction(decimal_of(x).sqrt())
def near(change, norm, total):
    """Whether scores that differ by change, squared, are those of a model; norm and total are squares too."""
    return root(change) <= SHARE * root(norm) + FLOOR * root(total)
def times(matrix, vector): return [sum(a * x for a, x in zip(row, vector) if a and x) for row in matrix]
def along(a, b): return sum(x * y for x, y in zip(a, b))
def lowest(numbers): return math.lcm(*(x.denominator for x in numbers))

def solve(matrix, rights):
    """An answer of matrix · answer = right for each right side, or None where there is none. Elimination without
    fractions (Bareiss)."""
    scale, size = lowest(x for row in matrix for x in row), len(matrix)
    fine = list(map(lowest, rights))
    rows = [[int(x * scale) for x in row] + [int(b[i] * f) for b, f in zip(rights, fine)] for i, row in enumerate(matrix)]
    bits = max((x.bit_length() for row in rows for x in row[:size]), default=0)
    require(size ** 3 / 2 * (8 + (size * bits / 128) ** 2) <= MOST_WORK, "not checked here: too many columns")
    before, pivots = 1, []
    for column in range(size):
        top = len(pivots)
        at = next((i for i in range(top, size) if rows[i][column]), None)
        if at is None:
            continue
        rows[top], rows[at] = rows[at], rows[top]
        head = rows[top]
        for row in rows[top + 1:]:
            first = row[column]
            row[column:] = [(head[column] * a - first * b) // before for a, b in zip(row[column:], head[column:])]
        before, pivots = head[column], pivots + [column]
    def answer(k):
        if any(row[size + k] for row in rows[len(pivots):]):
            return None
        found = [Fraction(0)] * size  # columns that depend on others have no part in it
        for row, column in reversed(list(zip(rows, pivots))):
            rest = row[size + k] - along(row[column + 1:size], found[column + 1:])
            found[column] = Fraction(rest) / row[column]
        return [x * Fraction(scale, fine[k]) for x in found]
    return list(map(answer, range(len(rights))))

class Fitted:
    """Planes with the rows and the weight of each class; two classes have one plane, negative before positive."""
    def __init__(self, checker, claim, joint, terms):
        require(checker.bias, "a fitted model needs a bias")
        planes = claim["planes"] if joint else [claim["plane"]]
        require(not any(map(has_fractions, planes)), "the weights of a fitted model are JSON numbers")
        if joint:
            names = [plane["class"] for plane in planes]
            require(len(set(names)) == len(names) > 1, "a class has two planes, or there is only one")
            self.size, own = len(names), [names.index(label) if label in names else None for label in checker.labels]
            require(not any(c is None and part for c, part in zip(own, checker.parts)), "a class has no plane")
        else:
            require(claim["scheme"] != "pair", "every row has to belong to a side")
            self.size, own = 2, [int(sign > 0) for sign in checker.signs(claim)]
        self.terms, self.columns = terms, range(checker.width)
        self.planes = [checker.plane(plane) for plane in planes]
        self.rows = [(c, Fraction(part), row) for c, part, row in zip(own, checker.parts, checker.rows) if part]
        for _, _, row in self.rows if terms else ():  # binary64 has to hold the products, from left to right
            for term in terms:
                made = list(itertools.accumulate((float(row.get(j, 0)) for j in term), lambda a, b: a * b))
                right = not all(row.get(j) for j in term) or all(2**-1022 <= abs(x) < math.inf for x in made)
                require(right, "a product of the basis leaves the range of binary64")
        self.weights = [sum(weight for c, weight, _ in self.rows if c == k) for k in range(self.size)]
        require(all(self.weights), "a class has no row")
    def stored(self, row):
        """The values of a row in binary64; products of the basis are multiplied from left to right."""
        raw = [float(row.get(j, 0)) for j in self.columns[:len(self.columns) - len(self.terms)]]
        return raw + [math.prod(raw[j] for j in term) for term in self.terms]
    def given(self, stated):
        """A number for each class, above 0."""
        numbers = list(map(binary64, stated["given"]))
        require(len(numbers) == self.size and all(map(in_range, numbers)), "there is no number above 0 for each class")
        return numbers
    def priors(self, word):
        if not text(word):
            return [x / sum(self.given(word)) for x in self.given(word)]
        return [w / sum(self.weights) if word == "data" else Fraction(1, self.size) for w in self.weights]
    def log(self, k, priors):
        """What the priors add to a bias."""
        return ln(priors[k]) if len(self.planes) > 1 else ln(priors[1] / priors[0])
    def sums(self):
        """Σ ω z and Σ ω z zᵀ of each class for z = (1, x), columns in units of their own, and these units."""
        count = len(self.columns) + 1
        require(len(self.rows) * count ** 2 / 2 <= MOST_WORK, "not checked here: too many rows and columns")
        units = [1] + [lowest(row.get(j, Fraction(0)) for _, _, row in self.rows) for j in self.columns]
        share = lowest(weight for _, weight, _ in self.rows)
        first = [[0] * count for _ in range(self.size)]
        second = [[[0] * count for _ in range(count)] for _ in range(self.size)]
        for c, weight, row in self.rows:
            whole = [(j + 1, int(x * units[j + 1])) for j, x in sorted(row.items()) if x]
            for at, (j, x) in enumerate(whole):
                x *= int(weight * share)
                first[c][j] += x
                line = second[c][j]
                for k, y in whole[at:]:
                    line[k] += x * y
        for matrix in second:
            for j, k in itertools.combinations(range(count), 2):
                matrix[k][j] = matrix[j][k]
        fraction = lambda row: [Fraction(x, share) for x in row]
        return list(map(fraction, first)), [list(map(fraction, matrix)) for matrix in second], units
    def stationary(self, claim):
        stated = claim["equations"]
        (self.least_squares if stated["kind"] == "least-squares" else self.discriminant)(stated)
    def least_squares(self, stated):
        require(stated["l2"] >= 0, "l2 is below 0")
        first, second, units = self.sums()
        f = {"none": [1] * self.size, "balanced": [sum(self.weights) / (self.size * w) for w in self.weights]}
        f = f[stated["class-weight"]] if text(stated["class-weight"]) else self.given(stated["class-weight"])
        blend = lambda of: sum(x * y for x, y in zip(f, of))
        count = range(len(units))
        squares = [[blend(matrix[j][k] for matrix in second) for k in count] for j in count]
        ridge = [Fraction(0)] + [binary64(stated["l2"]) * unit ** 2 for unit in units[1:]]
        matrix = [[x + (j == k) * ridge[j] for k, x in enumerate(row)] for j, row in enumerate(squares)]
        planes = [[plane.get(j - 1, Fraction(0)) / units[j] for j in count] for plane in self.planes]
        residuals = []
        for number, v in enumerate(planes):
            target = (-1, 1) if len(planes) == 1 else [int(k == number) for k in range(self.size)]
            right = [sum(x * t * s[j] for x, t, s in zip(f, target, first)) for j in count]
            residuals.append([a - b for a, b in zip(times(matrix, v), right)])
        for v, off in zip(planes, solve(matrix, residuals)):
            change, norm = (along(x, times(squares, x)) for x in (off, v))
            require(near(change, norm, squares[0][0]), "the scores of the exact answer are others")
    def discriminant(self, stated):
        require(0 <= stated["shrinkage"] <= 1, "the shrinkage is not between 0 and 1")
        first, second, units = self.sums()
        priors, share, units = self.priors(stated["priors"]), binary64(stated["shrinkage"]), units[1:]
        means = [[x / s[0] for x in s[1:]] for s in first]
        middle = [along(priors, column) for column in zip(*means)]
        count = range(len(units))
        within = [[sum(p * (square[j + 1][k + 1] / w - m[j] * m[k])
                       for p, square, w, m in zip(priors, second, self.weights, means)) for k in count] for j in count]
        trace = sum(within[j][j] / units[j] ** 2 for j in count) / max(len(units), 1)
        matrix = [[(1 - share) * x + (j == k) * share * trace * units[j] ** 2 for k, x in enumerate(row)]
                  for j, row in enumerate(within)]
        planes = [[plane.get(j, Fraction(0)) / units[j] for j in count] for plane in self.planes]
        pairs = [(means[1], means[0])] if len(planes) == 1 else [(mean, middle) for mean in means]
        residuals = [[a - (x - y) for a, x, y in zip(times(matrix, w), *pair)] for w, pair in zip(planes, pairs)]
        for number, (w, (own, other), off) in enumerate(zip(planes, pairs, solve(matrix, residuals))):
            b = self.planes[number][-1]
            require(off is not None, "the equations have no answer")
            half = -along([x - y for x, y in zip(w, off)], [x + y for x, y in zip(own, other)]) / 2
            moved = {"free": lambda: -along(off, middle), "midpoint": lambda: b - half,
                     "prior": lambda: b - half - self.log(number, priors)}[stated["bias"]]()
            size = lambda w, b: along(w, times(within, w)) + sum(
                p * (along(w, m) + b) ** 2 for p, m in zip(priors, means))
            require(near(size(off, moved), size(w, b), 1), "the scores of the exact answer are others")
    def counts(self, claim):
        """The plane of each class as (value, size of the terms that it is made of) of the bias, then of each weight."""
        stated = claim["statistics"]
        kind, priors, count = stated["model"], self.priors(stated["priors"]), len(self.columns)
        smooth = binary64(stated["smoothing" if kind == "gaussian" else "alpha"])
        require(smooth >= 0 if kind == "gaussian" else smooth > 0, "alpha is not above 0, or the smoothing below")
        values = lambda row: [row.get(j, Fraction(0)) for j in self.columns]
        if kind == "bernoulli":
            values = lambda row: [Fraction(x > stated["binarize"]) for x in self.stored(row)]
        rows = [(c, weight, values(row)) for c, weight, row in self.rows]
        require(kind != "multinomial" or all(x >= 0 for _, _, row in rows for x in row), "a value is below 0, which is no count")
        sums = [[sum(weight * row[j] for c, weight, row in rows if c == k) for j in self.columns] for k in range(self.size)]
        if kind == "gaussian":
            made = self.gaussian(rows, sums, smooth, priors)
        else:
            made = []
            for total, prior, row in zip(self.weights, map(ln, priors), sums):
                if kind == "multinomial":
                    pairs = [(ln(n + smooth), ln(sum(row) + smooth * count)) for n in row]
                    bias = prior, abs(prior) + 1
                else:
                    pairs, every = [(ln(n + smooth), ln(total - n + smooth)) for n in row], ln(total + 2 * smooth)
                    bias = (prior + sum(off - every for _, off in pairs),
                            abs(prior) + 1 + sum(abs(off) + abs(every) for _, off in pairs))
                made.append([bias] + [(a - b, abs(a) + abs(b) + 1) for a, b in pairs])
        if len(self.planes) == 1:
            made = [[(a - b, x + y) for (a, x), (b, y) in zip(made[1], made[0])]]
        for plane, expected in zip(self.planes, made):
            v = [plane.get(j, Fraction(0)) for j in range(-1, count)]
            off = [x - a for x, (a, _) in zip(v, expected)]
            right = all(abs(x) <= (terms + Fraction(2) ** -1022) / 10**10 for x, (_, terms) in zip(off, expected))
            require(right, "a weight or a bias is not what the counts make it")
            change, norm = (sum(weight * (x[0] + along(x[1:], row)) ** 2 for _, weight, row in rows) for x in (off, v))
            require(near(change, norm, sum(self.weights)), "the scores are not those that the counts make")
    def gaussian(self, rows, sums, smooth, priors):
        def variance(rows, j):
            total = sum(weight for _, weight, _ in rows)
            mean = sum(weight * row[j] for _, weight, row in rows) / total
            return sum(weight * (row[j] - mean) ** 2 for _, weight, row in rows) / total
        means = [[x / w for x in row] for row, w in zip(sums, self.weights)]
        middle = [along(priors, column) for column in zip(*means)]
        added = smooth * max((variance(rows, j) for j in self.columns), default=0)
        spread = [added + sum(p * variance([row for row in rows if row[0] == k], j) for k, p in enumerate(priors))
                  for j in self.columns]
        made = []
        for own, prior in zip(means, map(ln, priors)):
            bias, plane = [prior, abs(prior) + 1], []
            for m, all_rows, v in zip(own, middle, spread):
                size = abs(m) + abs(all_rows)
                weight = (m - all_rows) / v if v else Fraction(0)
                terms = 10 * abs(weight) + (size / v / 100 if v else 0)
                plane.append((weight, terms))
                bias = [bias[0] - weight * (m + all_rows) / 2, bias[1] + terms * size]
            made.append([tuple(bias)] + plane)
        return made

# --- Modified score. The gradient of Firth's likelihood in 50 digits, measured by the information.
def modified_score(checker, claim, terms):
    evidence, plane = claim["modified-score"], claim["plane"]
    out = evidence.get("left-out", [])
    require(not terms and claim["scheme"] != "pair", "a basis, or a row that belongs to no side")
    require(not has_fractions(plane), "the weights of a fitted model are JSON numbers")
    weights, signs = checker.plane(plane), checker.signs(claim)
    right = rising(out + [checker.width]) and not any(weights.get(j) for j in out)
    require(right and evidence["residual"] >= 0, "the columns that are left out or the residual do not fit")
    columns, rows = [j for j in checker.columns if j not in out], []
    for row, sign, part in zip(checker.rows, signs, checker.parts):
        if sign:
            score = decimal_of(dot(row, weights))
            small = (-abs(score)).exp()
            p, q = (1 / (1 + small), small / (1 + small))[::1 if score >= 0 else -1]
            x = [decimal_of(Fraction(row.get(j, 0))) for j in columns]
            rows.append((x, decimal_of(Fraction(part)), p, q, q if sign > 0 else -p))
    size = len(columns)
    matrix = [[sum(f * p * q * x[j] * x[k] for x, f, p, q, _ in rows) for k in range(size)] for j in range(size)]
    # Pivots say what is regular next to the diagonal; the inverse comes beside the unit matrix.
    lines = [line + [decimal.Decimal(j == k) for k in range(size)] for j, line in enumerate(matrix)]
    for step in range(size):
        pivot = max(range(step, size), key=lambda k: abs(lines[k][step]))
        require(abs(lines[pivot][step]) > abs(matrix[step][step]) * decimal.Decimal(10) ** -25, "the information is singular")
        lines[step], lines[pivot] = lines[pivot], lines[step]
        lines[step] = [value / lines[step][step] for value in lines[step]]
        for k in range(size):
            if k != step and lines[k][step]:
                factor = lines[k][step]
                lines[k] = [a - factor * b for a, b in zip(lines[k], lines[step])]
    inverse = [line[size:] for line in lines]
    score = [decimal.Decimal(0)] * size
    for x, f, p, q, rest in rows:
        leverage = f * p * q * along(x, times(inverse, x))
        pull = f * rest + leverage * (q - p) / 2
        score = [u + pull * value for u, value in zip(score, x)]
    square = along(score, times(inverse, score))
    found = max(square, decimal.Decimal(0)).sqrt() + decimal.Decimal(10) ** -20
    require(found <= decimal.Decimal(evidence["residual"]), f"the modified score is {found:.3e} standard errors long")

def main(paths):
    sys.set_int_max_str_digits(0)
    decimal.getcontext().prec = 50
    try:
        require(len(paths) == 2, __doc__, 2)
        file, source, against, given, names = load(paths[0])
        labels, parts, rows, width = read_data(paths[1], source)
    except (ValueError, LookupError, EOFError, csv.Error, gzip.BadGzipFile, Refusal, OSError) as error:
        code, words = error.args if isinstance(error, Refusal) else (3, error)
        print(words)
        return 6 if isinstance(error, OSError) and error.filename else code
    found = identity(labels, rows, file["data"].get("digest", 1))
    checker, failed = None, not file["claims"]
    given_order = {key: value for key, value in file["data"].items() if key != "multiset"}
    others = file["data"].get("multiset")
    if found != given_order and others and others["sha256"] == multiset(labels, rows):
        print("the rows are those of the certificate in another order")
        labels, parts, rows = rearranged(others.get("rows", []), labels, parts, rows)
        found = given_order
    for number, claim in enumerate(file["claims"]):
        name, verdict, words = full_name(claim), "true", "shown by its evidence"
        try:
            require(found == given_order, f"the certificate speaks of other data than {found}")
            require(name != "unproved", claim.get("reason"))
            require(number not in against, against.get(number))
            checker = checker or Checker(file, labels, parts, rows, width)
            if claim["claim"] == "coefficients":
                Coefficients(checker, claim, name != "coefficients").check()
            elif claim["claim"] == "forced":
                checker.forced(claim)
            elif claim["claim"] in ("stationary", "counts"):
                model = Fitted(checker, claim, name.startswith("joint"), products(file.get("basis"), width))
                (model.stationary if claim["claim"] == "stationary" else model.counts)(claim)
            elif claim["claim"] == "modified-score":
                modified_score(checker, claim, products(file.get("basis"), width))
            elif claim["claim"] == "optimal":
                if given:
                    Settled(given, source, claim, checker, rows, products(file.get("basis"), width), names).check()
                judge = Optimal(checker, claim, name != "optimal")
                (judge.two if name == "optimal" else judge.joint)(claim)
            else:
                (checker.joint if name.startswith("joint") else checker.two_classes)(claim, name)
        except Refusal as refusal:
            verdict, words, failed = "unproved" if name == "unproved" else "FALSE", refusal.args[1], True
            verdict = "unchecked" if words.startswith("not checked here") else verdict
        sides = " | ".join(", ".join(claim[side]) for side in ("positive", "negative") if claim.get(side))
        print("".join(c if c.isprintable() else "?" for c in f"{verdict:10}{name} {sides}: {words}"))
    return int(failed)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
