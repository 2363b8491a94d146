"""What a kernel asks of the thread that runs it, by name: threadIdx.x, shared.array, atomic.add and so on."""

import types


class KernelName:
    """A name that has its meaning inside of kernels, where the compiler knows it by its path."""

    _is_weft_cuda_name = True

    def __init__(self, path, doc="", names=()):
        self._path = path
        self._names = {name: KernelName(f"{path}.{name}", text) for name, text in dict(names).items()}
        self.__doc__ = doc

    def __getattr__(self, name):
        try:
            return object.__getattribute__(self, "_names")[name]
        except KeyError:
            raise AttributeError(f"{self._path} has no {name!r}") from None

    def __dir__(self):
        return [*super().__dir__(), *self._names]

    def __call__(self, *arguments, **keywords):
        raise TypeError(f"{self._path} is known in kernels only: decorate the function with weft.cuda.jit")

    def __repr__(self):
        return f"<{self._path} of kernels>"


_AXES = {"x": "Along the first axis.", "y": "Along the second axis.", "z": "Along the third axis."}
_ATOMICS = {
    "add": "Adds a value to an element; gives what was there.",
    "sub": "Subtracts a value from an element; gives what was there.",
    "max": "Puts a value there that is larger than the element, which NaN never is; gives what was there.",
    "min": "Puts a value there that is smaller than the element, which NaN never is; gives what was there.",
    "nanmax": "As max, where any number takes the place of NaN.",
    "nanmin": "As min, where any number takes the place of NaN.",
    "and_": "Puts the bits that an element and a value share there; gives what was there.",
    "or_": "Puts the bits of an element or a value there; gives what was there.",
    "xor": "Puts the bits that an element and a value do not share there; gives what was there.",
    "inc": "Counts up to a value, then from 0 again; gives what was there.",
    "dec": "Counts down to 0, then from a value again; gives what was there.",
    "exch": "Puts a value into an element; gives what was there.",
    "cas": "Puts a value into an element that is as expected; gives what was there.",
    "compare_and_swap": "As cas, of an array's first element.",
}
_HALVES = dict.fromkeys(
    "hadd hsub hmul hdiv hneg habs hfma hmax hmin heq hne hgt hge hlt hle hsin hcos hexp hexp2 hexp10 hlog hlog2 "
    "hlog10 hsqrt hrsqrt hrcp hfloor hceil htrunc hrint".split(),
    "A function of float16 by CUDA's name.",
)
_OF_THREADS = {
    "threadIdx": ("The thread's number in its block.", _AXES),
    "blockIdx": ("The block's number in the grid.", _AXES),
    "blockDim": ("How many threads a block has.", _AXES),
    "gridDim": ("How many blocks the grid has.", _AXES),
    "laneid": ("The thread's number in its warp.", ()),
    "warpsize": ("How many threads a warp has: 32.", ()),
    "grid": ("The thread's place in the whole grid, along 1, 2 or 3 axes.", ()),
    "gridsize": ("How many threads the whole grid has, along 1, 2 or 3 axes.", ()),
    "lanemask_lt": ("The lanes of the warp before this one.", ()),
    "shared": ("Memory of a block.", {"array": "An array that a block's threads share, not initialised."}),
    "local": ("Memory of a thread.", {"array": "An array of the thread's own, not initialised."}),
    "const": ("Memory that kernels only read.", {"array_like": "The array itself."}),
    "atomic": ("An element of an array, in one step.", _ATOMICS),
    "syncthreads": ("Waits for all threads of the block.", ()),
    "syncthreads_count": ("Waits for all threads of the block; gives for how many the predicate holds.", ()),
    "syncthreads_and": ("Waits for all threads of the block; tells whether the predicate holds for all.", ()),
    "syncthreads_or": ("Waits for all threads of the block; tells whether the predicate holds for any.", ()),
    "cg": ("Groups of threads.", {"this_grid": "All threads of the grid: its sync() waits for them."}),
    "syncwarp": ("Waits for the lanes of a mask.", ()),
    "threadfence": ("What the thread has written is seen by the device before what it writes next.", ()),
    "threadfence_block": ("What the thread has written is seen by its block before what it writes next.", ()),
    "threadfence_system": ("What the thread has written is seen by all before what it writes next.", ()),
    "activemask": ("The lanes of the warp that are here.", ()),
    "ballot_sync": ("The lanes of a mask for which the predicate holds.", ()),
    "any_sync": ("Whether the predicate holds for any lane of a mask.", ()),
    "all_sync": ("Whether the predicate holds for all lanes of a mask.", ()),
    "eq_sync": ("Whether the predicate is the same for all lanes of a mask.", ()),
    "match_any_sync": ("The lanes of a mask that have the same value.", ()),
    "match_all_sync": ("The mask, and whether all its lanes have the same value; otherwise 0.", ()),
    "shfl_sync": ("The value of a lane.", ()),
    "shfl_up_sync": ("The value of the lane so many before.", ()),
    "shfl_down_sync": ("The value of the lane so many behind.", ()),
    "shfl_xor_sync": ("The value of the lane whose number differs by these bits.", ()),
    "fp16": ("Functions of float16.", _HALVES),
    "popc": ("How many bits of an integer are 1.", ()),
    "clz": ("How many bits before an integer's first 1.", ()),
    "ffs": ("The place of an integer's last 1, from 1 on; 0 where there is none.", ()),
    "brev": ("The bits of an integer from the last to the first.", ()),
    "fma": ("a * b + c, rounded once.", ()),
    "cbrt": ("The cube root.", ()),
    "rsqrt": ("1 / sqrt(x).", ()),
    "selp": ("The second where the first is true, else the third.", ()),
    "nanosleep": ("Waits about so many nanoseconds, or not at all.", ()),
}
NAMES = {name: KernelName(f"weft.cuda.{name}", *told) for name, told in _OF_THREADS.items()}
count_blocks = KernelName("weft.cuda._count_blocks")
run_block = KernelName("weft.cuda._run_block")

_EMPTY = types.CellType()
_MEETINGS = frozenset(
    "syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp activemask sync shfl_sync shfl_up_sync "
    "shfl_down_sync shfl_xor_sync ballot_sync any_sync all_sync eq_sync match_any_sync match_all_sync".split()
)


def waits(function, known=()):
    """Whether threads may wait for each other in a Python function for kernels, or in functions that it names.

    What it names by other names is not found: the answer decides how a kernel is compiled, not what it computes.
    """
    code = getattr(function, "__code__", None)
    if code is None or function in known:
        return False
    if not _MEETINGS.isdisjoint(code.co_names):
        return True
    captured = [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    named = [function.__globals__.get(name) for name in code.co_names]
    known = (*known, function)
    return any(waits(getattr(each, "__wrapped__", each), known) for each in (*captured, *named))
