"""Warnings of what only the values tell: the result stays lazy, and the warning comes when it is computed."""

import linecache
import warnings

import numpy
import pytest
import weft

SIZE = 100_000  # more than what runs at the call

CALLS = {
    "mean": lambda x, mask: weft.mean(x, where=mask),
    "mean of an axis": lambda x, mask: weft.mean(x.reshape(4, -1), axis=0, where=mask.reshape(4, -1)),
    "mean into an array": lambda x, mask: weft.mean(x, where=mask, out=weft.zeros(())),
    "var": lambda x, mask: x.var(where=mask),
    "std": lambda x, mask: weft.std(x, where=mask, ddof=1),
    "nanmean": lambda x, mask: weft.nanmean(weft.where(mask, x, weft.nan)),
    "nanvar": lambda x, mask: weft.nanvar(weft.where(mask, x, weft.nan)),
    "nanmax": lambda x, mask: weft.nanmax(weft.where(mask, x, weft.nan)),
}


@pytest.fixture
def heard():
    """The warnings that are told; filters are Python's own, as in a program."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        yield found


def masked(bound):
    x = weft.arange(float(SIZE))
    return x, x < bound


@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_lazy_and_warns_when_it_is_seen(name, heard):
    x, mask = masked(-1)
    weft.clear_kernel_history()
    result = CALLS[name](x, mask)
    assert weft.kernel_history() == []
    assert heard == []
    shifted = result + 1  # of which nobody sees what is between
    del result
    assert numpy.isnan(numpy.asarray(shifted)).all()
    assert [each.category for each in heard] == [RuntimeWarning]
    assert heard[0].filename == __file__  # the line of the call
    line = linecache.getline(__file__, heard[0].lineno)
    assert f'"{name}"' in line
    numpy.asarray(shifted)
    assert len(heard) == 1


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_told_where_there_are_elements(name, heard):
    x, mask = masked(SIZE)
    result = CALLS[name](x, mask)
    assert not numpy.isnan(numpy.asarray(result)).any()
    assert heard == []


@pytest.mark.host
def test_the_mask_is_counted_in_the_kernels_of_the_result(heard):
    x, mask = masked(10)
    kernels = []
    for mean in (lambda: (x * mask).sum() / mask.sum(), lambda: weft.mean(x, where=mask)):
        weft.eval(x, mask)
        weft.clear_kernel_history()
        assert float(mean()) == 4.5
        kernels.append(len(weft.kernel_history()))
    assert kernels[0] == kernels[1]


@pytest.mark.parametrize("action", ["error", "always"])
def test_who_asks_for_each_warning_has_it_at_the_call(action):
    x, mask = masked(-1)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        if action == "error":
            with pytest.raises(RuntimeWarning, match="Mean of empty slice"):
                weft.mean(x, where=mask)
        else:
            weft.mean(x, where=mask)
            assert len(found) == 1


def test_who_ignores_it_at_the_call_hears_nothing_later(heard):
    x, mask = masked(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = weft.mean(x, where=mask)
    assert numpy.isnan(float(result))
    assert heard == []


def test_a_result_that_nobody_sees_is_not_computed_for_its_warning(heard):
    x, mask = masked(-1)
    weft.mean(x, where=mask)
    weft.clear_kernel_history()
    other = weft.arange(float(SIZE)) + 1
    assert other[3] == 4.0
    assert len(weft.kernel_history()) == 1
    assert heard == []


def test_a_warning_that_is_an_error_by_then_leaves_the_value(heard):
    x, mask = masked(-1)
    result = weft.mean(x, where=mask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="Mean of empty slice"):
            float(result)
    assert numpy.isnan(float(result))


def test_several_are_told_in_order(heard):
    x, mask = masked(-1)
    first = weft.mean(x, where=mask)
    second = weft.std(x, where=mask)
    weft.eval(first, second)
    assert [str(each.message).split(" ")[0] for each in heard] == ["Mean", "Degrees"]


def test_few_elements_in_memory_warn_at_the_call(heard):
    with weft.device("cpu"):
        weft.mean([1.0, 2.0], where=[False, False])
    assert len(heard) == 1
