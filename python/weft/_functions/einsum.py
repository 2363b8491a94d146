"""einsum: its syntax, the order of its products, and their steps. Loaded at the first call."""

import functools
import math
from typing import NamedTuple

from weft import _core
from weft._core import asarray

_MOST_FOR_OPTIMAL = 8  # operands; a search among all orders of more takes longer than most products

# ---- syntax: labels are letters or numbers in the call, positive integers here; axes of '...' are -1, -2, ... from the
# last on, so that they broadcast as NumPy's do ----


def _fail(message):
    raise ValueError(message)


def _term_of_text(text, operand):
    where = f"in operand {operand}" if operand is not None else "in the output"
    misplaced = (
        f"einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') {where}"
    )
    labels, rest = [], text
    while rest:
        if rest.startswith("..."):
            if ... in labels:
                _fail(misplaced)
            labels.append(...)
            rest = rest[3:]
            continue
        letter, rest = rest[0], rest[1:]
        if letter == ".":
            _fail(misplaced)
        if not (letter.isascii() and letter.isalpha()):
            _fail(
                f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters"
            )
        labels.append(ord(letter))
    return labels


def _term_of_list(subscripts):
    labels = []
    for item in subscripts:
        if item is ...:
            labels.append(...)
        elif hasattr(item, "__index__"):
            number = item.__index__()
            if not 0 <= number < 52:
                _fail("subscript is not within the valid range [0, 52)")
            labels.append(ord("A") + number if number < 26 else ord("a") + number - 26)
        else:
            raise TypeError("each subscript must be either an integer or an ellipsis")
    return labels


def _terms_of_text(text, count):
    """The terms of `count` operands, and that of the result or None."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if count > len(terms):  # NumPy counts the other way round
        _fail("fewer operands provided to einstein sum function than specified in the subscripts string")
    if count < len(terms):
        _fail("more operands provided to einstein sum function than specified in the subscripts string")
    terms = [_term_of_text(term, k) for k, term in enumerate(terms)]
    return terms, _term_of_text(output, None) if arrow else None


def _terms_of_lists(operands):
    """The same where lists of subscripts follow the operands."""
    terms = [_term_of_list(subscripts) for subscripts in operands[1::2]]
    return terms, _term_of_list(operands[-1]) if len(operands) % 2 == 1 else None


def _spell_out(term, count):
    """The term with its ellipsis replaced by `count` labels."""
    if ... not in term:
        return term
    place = term.index(...)
    return term[:place] + list(range(-count, 0)) + term[place + 1 :]


def _spelled_out(terms, output, shapes):
    """The terms of operands of these shapes, and that of the result."""
    broadcast = 0
    labelled = []
    for k, (term, shape) in enumerate(zip(terms, shapes)):
        named = len(term) - (... in term)
        if named > len(shape):
            _fail(f"einstein sum subscripts string contains too many subscripts for operand {k}")
        if ... not in term and named < len(shape):
            _fail(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided "
                "to broadcast the extra dimensions."
            )
        extra = len(shape) - named
        broadcast = max(broadcast, extra)
        labelled.append(_spell_out(term, extra))
    used = [label for term in labelled for label in term]
    if output is None:
        once = sorted(label for label in set(used) if label > 0 and used.count(label) == 1)
        result = [*range(-broadcast, 0), *once]
    else:
        if broadcast and ... not in output:
            _fail(
                "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
                "broadcast the extra dimensions."
            )
        result = _spell_out(output, broadcast)
        for label in result:
            if result.count(label) > 1:
                _fail(
                    f"einstein sum subscripts string includes output subscript '{chr(label)}' multiple times"
                )
            if label not in used:
                _fail(
                    f"einstein sum subscripts string included output subscript '{chr(label)}' which never appeared "
                    "in an input"
                )
    return labelled, result


def _remapped(terms, result, shapes):
    """The words of NumPy's error for axes that do not fit."""
    axes = list(result)
    for term in terms:
        axes += [label for label in term if label not in axes]
    parts = []
    for term, own in zip(terms, shapes):
        extents = [str(own[term.index(label)]) if label in term else "newaxis" for label in axes]
        while extents and extents[0] == "newaxis":
            extents.pop(0)
        shape = ",".join(map(str, own)) + ("," if len(own) == 1 else "")
        parts.append(f"({shape})->({','.join(extents)}{',' if len(axes) == 1 else ''})")
    return (
        "operands could not be broadcast together with remapped shapes [original->remapped]: "
        + " ".join(parts)
        + " "
    )


def _sizes(terms, result, shapes):
    sizes = {}
    for k, (term, shape) in enumerate(zip(terms, shapes)):
        own = {}
        for label, extent in zip(term, shape):
            if own.setdefault(label, extent) != extent:
                _fail(
                    f"dimensions in operand {k} for collapsing index '{chr(label)}' don't match "
                    f"({own[label]} != {extent})"
                )
        for label, extent in own.items():
            before = sizes.setdefault(label, extent)
            if before != extent and 1 not in (before, extent):
                _fail(_remapped(terms, result, shapes))
            if before == 1:
                sizes[label] = extent
    return sizes


# ---- the order of the products ----


def _size(labels, sizes):
    return math.prod(sizes[label] for label in labels)


def _join(left, right, wanted, sizes):
    """The labels of a product of two operands, and what it costs; `wanted` are needed afterwards."""
    kept = (left | right) & wanted
    shared = {label for label in left | right if label in kept or (label in left and label in right)}
    cost = _size(shared, sizes)
    for operand in (left, right):
        if not operand <= shared:  # sums that are taken before
            cost += _size(operand, sizes)
    return kept, cost


def _wanted(sets, result, without):
    return set(result).union(*(labels for k, labels in enumerate(sets) if k not in without))


def _greedy(sets, result, sizes):
    """A path that takes the product next which leaves least in memory, and of these the cheapest."""
    sets = list(sets)
    path = []
    while len(sets) > 1:
        best = None
        for i in range(len(sets)):
            for j in range(i + 1, len(sets)):
                kept, cost = _join(sets[i], sets[j], _wanted(sets, result, (i, j)), sizes)
                grows = _size(kept, sizes) - _size(sets[i], sizes) - _size(sets[j], sizes)
                apart = not sets[i] & sets[j]  # outer products come last
                key = (apart, grows, cost, i, j)
                if best is None or key < best[0]:
                    best = (key, i, j, kept)
        _, i, j, kept = best
        path.append((i, j))
        sets = [labels for k, labels in enumerate(sets) if k not in (i, j)] + [kept]
    return path


def _optimal(sets, result, sizes):
    """The cheapest path of all, found for all subsets of the operands."""
    count = len(sets)
    if count > _MOST_FOR_OPTIMAL:
        return _greedy(sets, result, sizes)
    everything = (1 << count) - 1
    outside = [
        set(result).union(*(sets[k] for k in range(count) if not subset >> k & 1))
        for subset in range(everything + 1)
    ]
    best = {1 << k: (0, sets[k], None) for k in range(count)}
    for subset in sorted(range(1, everything + 1), key=int.bit_count):
        if subset in best:
            continue
        lowest = subset & -subset
        part = (subset - 1) & subset
        while part:
            if part & lowest:
                rest = subset ^ part
                kept, cost = _join(best[part][1], best[rest][1], outside[subset], sizes)
                cost += best[part][0] + best[rest][0]
                if subset not in best or cost < best[subset][0]:
                    best[subset] = (cost, kept, (part, rest))
            part = (part - 1) & subset
    path, current = [], [1 << k for k in range(count)]

    def walk(subset):
        if best[subset][2] is None:
            return
        for part in best[subset][2]:
            walk(part)
        pair = tuple(sorted(current.index(part) for part in best[subset][2]))
        path.append(pair)
        for position in reversed(pair):
            current.pop(position)
        current.append(subset)

    walk(everything)
    return path


def _given_path(optimize):
    """The contractions of an explicit path, or None."""
    if isinstance(optimize, (list, tuple)) and len(optimize) > 0 and optimize[0] == "einsum_path":
        return [tuple(step) for step in optimize[1:]]
    return None


def _path(optimize, sets, result, sizes):
    explicit = _given_path(optimize)
    if explicit is not None:
        left = len(sets)
        for step in explicit:
            if not step or len(set(step)) != len(step) or not all(0 <= k < left for k in step):
                _fail(f"einsum_path: the step {step} does not fit {left} operands")
            left -= len(step) - 1
        return explicit
    if isinstance(optimize, (list, tuple)):
        if len(optimize) != 2 or not isinstance(optimize[0], str):
            raise TypeError(f"Did not understand the path: {optimize!s}")
        optimize = optimize[0]  # a bound on memory: intermediate results are never larger than they must be
    if optimize is True:
        optimize = "greedy"
    if optimize is False or optimize is None:
        return _optimal(sets, result, sizes)
    if optimize == "greedy":
        return _greedy(sets, result, sizes)
    if optimize == "optimal":
        return _optimal(sets, result, sizes)
    if isinstance(optimize, str):
        raise KeyError("Path name %s not found" % optimize)  # noqa: UP031
    raise TypeError(f"Did not understand the path: {optimize!s}")


# ---- the steps ----


def _alone(a, labels, result):
    """A view of one operand without repeated labels, summed over those that `result` has not."""
    kept = [label for label in dict.fromkeys(labels) if label in result]
    order = [label for label in result if label in kept]
    summed = [label for label in dict.fromkeys(labels) if label not in result]
    view = _core._label_view(a, labels, order + summed)
    if summed:
        axes = tuple(range(len(order), len(order) + len(summed)))
        view = view.any(axes) if a.dtype.kind == "b" else view.sum(axes, a.dtype)
    return asarray(view), order


class _Step(NamedTuple):
    """The product of two operands by number, which becomes the next number."""

    left: int
    left_term: list
    right: int
    right_term: list
    kept: list


class _Plan(NamedTuple):
    """What a call does for operands of given shapes."""

    terms: list
    result: list
    sizes: dict
    steps: list
    last_term: list  # of what the last step makes
    diagonals: list  # of the terms, each label once; None where that is the term itself


def _steps(terms, result, sizes, optimize):
    """The products of a call, and the term of the last one."""
    numbered = [(k, list(dict.fromkeys(term))) for k, term in enumerate(terms)]
    if len(numbered) == 1:
        return [], numbered[0][1]
    path = _path(optimize, [set(term) for _, term in numbered], result, sizes)
    left = len(numbered) - sum(len(step) - 1 for step in path)
    if left > 1:
        path = [*path, tuple(range(left))]
    steps = []
    for number, step in enumerate(path):
        chosen = [numbered[k] for k in step]
        numbered = [operand for k, operand in enumerate(numbered) if k not in step]
        last = number == len(path) - 1
        while len(chosen) > 1:
            sets = [set(term) for _, term in chosen]
            around = set(result).union(*(term for _, term in numbered))
            i, j = _optimal(sets, around, sizes)[0] if len(chosen) > 2 else (0, 1)
            (a, a_term), (b, b_term) = chosen[i], chosen[j]
            chosen = [operand for k, operand in enumerate(chosen) if k not in (i, j)]
            wanted = around.union(*(term for _, term in chosen))
            if last and not chosen and not numbered:
                kept = list(result)
            else:
                both = [label for label in a_term if label in wanted and label in b_term]
                kept = both + [label for label in a_term if label in wanted and label not in both]
                kept += [label for label in b_term if label in wanted and label not in a_term]
            chosen.append((len(terms) + len(steps), kept))
            steps.append(_Step(a, a_term, b, b_term, kept))
        numbered.append(chosen[0])
    return steps, numbered[0][1]


def _plan(terms, output, shapes, optimize):
    terms, result = _spelled_out(terms, output, shapes)
    sizes = _sizes(terms, result, shapes)
    diagonals = [None if len(set(term)) == len(term) else list(dict.fromkeys(term)) for term in terms]
    return _Plan(terms, result, sizes, *_steps(terms, result, sizes, optimize), diagonals)


class _Call(NamedTuple):
    """What a call does for operands of given shapes, dtypes and device."""

    plan: _Plan
    common: object  # the result's dtype
    compute: object  # the dtype of the products
    is_view: bool
    shape: tuple


def _call(plan, dtypes, on_gpu, dtype, casting, new_result):
    common = _core.result_type(*dtypes) if dtype is None else _core.dtype(dtype)
    is_view = len(dtypes) == 1 and set(plan.terms[0]) == set(plan.result) and new_result
    if is_view:
        common = dtypes[0]  # NumPy gives the view whatever dtype is asked for
    for k, own in enumerate(dtypes):
        if not _core.can_cast(own, common, casting):
            raise TypeError(
                f"Iterator operand {k} dtype could not be cast from {own!r} to {common!r} according to the "
                f"rule '{casting}'"
            )
    # Of short floats float32, rounded once; GPUs multiply two of them so by themselves.
    by_library = len(dtypes) == 2 and on_gpu
    compute = common if is_view or by_library else _core._accumulator(common)
    return _Call(plan, common, compute, is_view, tuple(plan.sizes[label] for label in plan.result))


@functools.lru_cache(maxsize=256)
def _call_of_text(text, shapes, optimize, *about):
    """Kept, since to find it takes longer than many products. What it holds is not changed by anyone."""
    return _call(_plan(*_terms_of_text(text, len(shapes)), shapes, optimize), *about)


def _read_operands(operands):
    """The terms of a call, as text or as lists of labels with the output's, and its operands."""
    if len(operands) == 0 or (len(operands) == 1 and not isinstance(operands[0], (str, bytes))):
        _fail(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand and "
            "its corresponding subscripts list"
        )
    if isinstance(operands[0], (str, bytes)):
        text = operands[0].decode() if isinstance(operands[0], bytes) else operands[0]
        return text, [asarray(operand) for operand in operands[1:]]
    terms = _terms_of_lists(operands)
    return terms, [asarray(operand) for operand in operands[: 2 * len(terms[0]) : 2]]


def _is_kept(terms, optimize):
    return isinstance(terms, str) and (optimize is None or isinstance(optimize, (bool, str)))


def _plan_of(terms, arrays, optimize):
    if isinstance(terms, str):
        terms = _terms_of_text(terms, len(arrays))
    return _plan(*terms, tuple(a.shape for a in arrays), optimize)


def _contract_all(arrays, plan):
    if len(arrays) == 1:
        return _alone(asarray(arrays[0]), list(plan.terms[0]), plan.result)[0]
    values = [
        a if diagonal is None else _core._label_view(a, term, diagonal)
        for a, term, diagonal in zip(arrays, plan.terms, plan.diagonals)
    ]
    for left, left_term, right, right_term, kept in plan.steps:
        values.append(_core._contract(values[left], left_term, values[right], right_term, kept, "K"))
        values[left] = values[right] = None
    return values[-1] if plan.last_term == plan.result else _alone(values[-1], plan.last_term, plan.result)[0]


def einsum(operands, out, optimize, dtype, order, casting):
    """weft.einsum."""
    order = order.upper() if isinstance(order, str) else order
    if order not in ("C", "F", "A", "K"):
        _fail(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    terms, arrays = _read_operands(operands)
    dtypes = tuple([a.dtype for a in arrays])
    about = (dtypes, len(arrays) > 0 and arrays[0].device != "cpu", dtype, casting, out is None)
    if _is_kept(terms, optimize) and (dtype is None or isinstance(dtype, _core.dtype)):
        call = _call_of_text(terms, tuple([a.shape for a in arrays]), optimize, *about)
    else:
        call = _call(_plan_of(terms, arrays, optimize), *about)
    plan, common, compute, is_view, shape = call
    arrays = [a if a.dtype is compute else a.astype(compute, copy=False) for a in arrays]
    value = _contract_all(arrays, plan)
    if value.shape != shape:
        value = _core.broadcast_to(value, shape)
    if common is not compute:
        value = value.astype(common, copy=False)
    if out is not None:
        if not isinstance(out, _core.ndarray):
            raise TypeError("out must be an array")
        if out.shape != shape:
            given, wanted = (",".join(map(str, s)) + ("," if len(s) == 1 else "") for s in (out.shape, shape))
            _fail(
                f"non-broadcastable output operand with shape ({given}) doesn't match the broadcast shape ({wanted})"
            )
        if not _core.can_cast(common, out.dtype, casting):
            raise TypeError(
                f"Iterator requested dtype could not be cast from {common!r} to {out.dtype!r}, the operand "
                f"{len(arrays)} dtype, according to the rule '{casting}'"
            )
        _core.copyto(out, value, casting)
        return out
    if order != "K" and not is_view:
        value = _core.array(value, copy=None, order=order)
    return value if value.ndim else value[()]


# ---- einsum_path ----


def _flops(labels, summed, terms, sizes):
    return _size(labels, sizes) * (max(1, terms - 1) + bool(summed))


def _text(labels):
    return "".join(chr(label) if label > 0 else chr(0x3B1 - 1 - label) for label in labels)


def einsum_path(operands, optimize):
    """weft.einsum_path."""
    plan = _plan_of(*_read_operands(operands), None)
    terms, result, sizes = plan.terms, plan.result, plan.sizes
    sets = [set(term) for term in terms]
    count = len(sets)
    if optimize is False or (count < 3 and _given_path(optimize) is None):
        path = [tuple(range(count))]
    else:
        path = _path(optimize, sets, result, sizes)
    left = count - sum(len(step) - 1 for step in path)
    if left > 1:
        path = [*path, tuple(range(left))]
    everything = set().union(*sets)
    naive = _flops(everything, len(everything - set(result)), count, sizes)
    rows, total, largest, scales = [], 1, 0, []
    current = list(terms)
    for number, step in enumerate(path):
        chosen = [current[k] for k in sorted(step, reverse=True)]
        current = [term for k, term in enumerate(current) if k not in step]
        labels = set().union(*chosen)
        kept = labels & set(result).union(*current)
        total += _flops(labels, len(labels - kept), len(chosen), sizes)
        largest = max(largest, _size(kept, sizes))
        scales.append(len(labels))
        last = number == len(path) - 1
        made = list(result) if last else sorted(kept, key=lambda label: (sizes[label], label))
        current.append(made)
        inputs = ",".join(map(_text, chosen))
        remaining = ",".join(map(_text, current)) + "->" + _text(result)
        rows.append(f"\n{len(labels):4d}    {inputs + '->' + _text(made):>24} {remaining:>40}")
    whole = ",".join(map(_text, terms)) + "->" + _text(result)
    line = "-" * 74
    text = (
        f"  Complete contraction:  {whole}\n"
        f"         Naive scaling:  {len(everything)}\n"
        f"     Optimized scaling:  {max(scales)}\n"
        f"      Naive FLOP count:  {naive:.3e}\n"
        f"  Optimized FLOP count:  {total:.3e}\n"
        f"   Theoretical speedup:  {naive / total:3.3f}\n"
        f"  Largest intermediate:  {largest:.3e} elements\n"
        f"{line}\n{'scaling':>6} {'current':>24} {'remaining':>40}\n{line}" + "".join(rows)
    )
    return ["einsum_path", *path], text
