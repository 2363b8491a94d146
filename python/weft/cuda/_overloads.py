"""What was compiled of a kernel, by the types of its arguments, as numba.cuda's kernels tell it.

Types are told as texts, which are weft's own: `array(float32, 1d)`, `float64`. weft.numba.cuda has its types in their
place. Whoever asks may have either, and Numba's; how arrays lie in memory is no part of what code is for.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

_PLAIN = {"int": "int64", "float": "float64", "complex": "complex128", "boolean": "bool"}
_PLAIN |= {"none": "None", "unicode_type": "str"}
_ARRAY = re.compile(r"(readonly )?(?:unaligned )?array\((.+), (\d+)d(, [ACF])?(, read-only)?\)")
_OWN = 3  # arguments of a launcher before the kernel's: grid, block, bytes
_MOST_BLOCKS_TOGETHER = 32768  # that wait for each other on a CPU


def split(text):
    """The parts of a text between commas, without those in brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return (*parts, text[start:].strip()) if text[start:].strip() else tuple(parts)


def plain(kind):
    """The text of a type, the same for all texts and types that stand for it."""
    text = getattr(kind, "__name__", None) if isinstance(kind, type) else None
    text = str(kind) if text is None else text
    found = _ARRAY.fullmatch(text)
    if found:
        readonly = ", read-only" if found[1] or found[5] else ""
        return f"array({plain(found[2])}, {found[3]}d{readonly})"
    repeated = re.fullmatch(r"UniTuple\((.+) x (\d+)\)", text)
    if repeated:
        return f"tuple({', '.join([plain(repeated[1])] * int(repeated[2]))})"
    inner = re.fullmatch(r"[Tt]uple\((.*)\)", text)
    if inner:
        return f"tuple({', '.join(map(plain, split(inner[1])))})"
    return _PLAIN.get(text, text)


def texts_of(signature):
    """The texts of the arguments' types, of a signature, its types, or one type."""
    kinds = getattr(signature, "args", signature)
    if isinstance(kinds, str):
        inner = re.fullmatch(r"(?:void)?\((.*)\)", kinds)
        kinds = split(inner[1]) if inner else (kinds,)
    return tuple(map(plain, kinds if isinstance(kinds, tuple | list) else (kinds,)))


def arguments_of(signature):
    """The texts of a kernel's arguments, of a launcher's signature `(...) -> None`."""
    inner = signature.rpartition(" -> ")[0][1:-1]
    return tuple(map(plain, split(inner)[_OWN:]))


class BySignature(dict):
    """Values by the types of arguments, which may be asked for in any form."""

    def __init__(self, kernel, found):
        super().__init__((kernel._key_of(texts), value) for texts, value in found.items())
        self._kernel = kernel
        self._by_texts = found

    def __missing__(self, signature):
        texts = self._kernel._texts_of(signature)
        if texts in self._by_texts:
            return self._by_texts[texts]
        there = ", ".join(f"({', '.join(each)})" for each in self._by_texts) or "nothing"
        raise KeyError(
            f"{self._kernel.__name__}() is not compiled for ({', '.join(texts)}); it is for {there}"
        ) from None

    def __contains__(self, signature):
        return super().__contains__(signature) or self._kernel._texts_of(signature) in self._by_texts

    def get(self, signature, default=None):
        """The value, or the default."""
        return self[signature] if signature in self else default


class Overload:
    """A kernel as it was compiled for the types of its arguments."""

    def __init__(self, kernel, launcher, texts, signatures, on_gpu):
        self._kernel, self._launcher = kernel, launcher
        self._texts, self._signatures = texts, signatures  # of the launcher; the last used first
        self._on_gpu = on_gpu

    @property
    def argument_types(self):
        """The types of the arguments."""
        return self._kernel._key_of(self._texts)

    def _text(self, texts):
        return texts[self._signatures[0]]

    def inspect_llvm(self):
        """LLVM's IR after its passes."""
        return self._text(self._launcher.inspect_llvm())

    def inspect_asm(self, cc=None):
        """PTX for the GPU that it was compiled for, or the machine code of the CPU. `cc` changes nothing."""
        return self._text(self._launcher.inspect_asm())

    def inspect_sass(self):
        """The machine code of a GPU, as `ptxas` of a CUDA toolkit makes it of the PTX, and `nvdisasm` tells it."""
        return self._disassembled("-gi")

    def inspect_sass_cfg(self):
        """The flow of control in that, for Graphviz."""
        return self._disassembled("-cfg")

    def _disassembled(self, how):
        if not self._on_gpu:
            raise self._of_gpus("inspect_asm() has its machine code, and inspect_sass() is")
        ptx = self.inspect_asm()
        target = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)[1]
        registers = self._kernel._options["limits"][0]
        with tempfile.TemporaryDirectory(prefix="weft-") as folder:
            source, made = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
            with open(source, "w") as file:
                file.write(ptx)
            limit = [f"--maxrregcount={registers}"] if registers else []
            _run("ptxas", "-lineinfo", f"-arch={target}", *limit, source, "-o", made)
            return _run("nvdisasm", how, made)

    def inspect_types(self, file=None):
        """Prints the kernel IR, in which all values have types."""
        file = sys.stdout if file is None else file
        text = self._text(self._launcher.inspect_ir()).rstrip()
        name = f"{self._kernel.__name__} ({', '.join(map(str, self.argument_types))})"
        print(name, "-" * 80, text, "=" * 80, sep="\n", file=file)

    def _of_gpus(self, what):
        return NotImplementedError(
            f"{self._kernel.__name__}() was compiled for the CPU: {what} told of code for GPUs"
        )

    @property
    def _facts(self):
        return self._launcher._kernel_facts()[self._signatures[0]]

    @property
    def regs_per_thread(self):
        """The registers that each thread has on a GPU."""
        if not self._on_gpu:
            raise self._of_gpus("registers of a thread are")
        return self._facts["registers"]

    @property
    def local_mem_per_thread(self):
        """The bytes of memory that each thread has of its own: local.array's, and on a GPU what registers spill."""
        return self._facts["thread_bytes"]

    @property
    def shared_mem_per_block(self):
        """The bytes of shared memory that each block has, besides what a launch asks for."""
        return self._facts["block_bytes"]

    @property
    def const_mem_size(self):
        """0: weft puts nothing into a GPU's constant memory."""
        return 0

    @property
    def max_threads_per_block(self):
        """The most threads of a block: of 1024, launch_bounds, and those for which a GPU has registers."""
        most = min(self._kernel._most_threads, self._kernel._options["limits"][1] or 1024)
        return min(most, self._facts["most_threads"]) if self._on_gpu else most

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """How many blocks of a grid may wait for each other: on a GPU as many as run at once."""
        self._kernel[1, blockdim, None, dynsmemsize]  # refuses what is no block
        if not self._on_gpu:
            return _MOST_BLOCKS_TOGETHER
        axes = tuple(blockdim) if isinstance(blockdim, tuple | list) else (blockdim,)
        block = (*axes, *(1,) * (3 - len(axes)))
        facts = self._launcher._kernel_facts()
        fitting = [name for name in self._signatures if facts[name]["block"] in (block, (0, 0, 0))]
        if not fitting:
            raise NotImplementedError(
                f"{self._kernel.__name__}() was compiled for blocks of {self._facts['block']} alone: launch it with "
                f"blocks of {block} before, or ask the kernel of specialize()"
            )
        fitting.sort(key=lambda name: facts[name]["block"] != block)
        return self._launcher._most_blocks_together(fitting[0], math.prod(block), dynsmemsize)


def _run(tool, *arguments):
    """What a tool of a CUDA toolkit prints."""
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    path = shutil.which(tool) or shutil.which(tool, path=os.path.join(home, "bin"))
    if path is None:
        raise RuntimeError(
            f"{tool} was not found, on PATH nor in CUDA_HOME: it is part of a CUDA toolkit, and needed for machine code"
        )
    done = subprocess.run([path, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{tool} failed: {done.stderr.strip()}")
    return done.stdout


class Inspected:
    """What kernels tell of themselves. Without a signature each answers a dict by the types of arguments."""

    _most_threads = 1024

    def _compile_declared(self):
        """Compiles for the types that a kernel was declared with."""

    @staticmethod
    def _key_of(texts):
        return texts

    @staticmethod
    def _texts_of(signature):
        return texts_of(signature)

    @property
    def overloads(self):
        """What was compiled, by the types of arguments: for a GPU where the kernel was launched on one."""
        self._compile_declared()
        launcher, on_gpu = self._inspected()
        found = {}
        for signature in launcher.signatures:
            found.setdefault(arguments_of(signature), []).append(signature)
        return BySignature(
            self, {texts: Overload(self, launcher, texts, all_, on_gpu) for texts, all_ in found.items()}
        )

    @property
    def signatures(self):
        """The types of arguments that it was compiled for."""
        return list(self.overloads)

    def _told(self, tell, signature):
        overloads = self.overloads
        if signature is not None:
            return tell(overloads[signature])
        return BySignature(self, {texts: tell(each) for texts, each in overloads._by_texts.items()})

    def _number(self, tell, signature):
        if signature is None and self.specialized:
            return tell(next(iter(self.overloads.values())))
        return self._told(tell, signature)

    def inspect_llvm(self, signature=None):
        """LLVM's IR after its passes; of a kernel on a GPU, that for it."""
        return self._told(Overload.inspect_llvm, signature)

    def inspect_asm(self, signature=None):
        """The machine code, as assembly; of a kernel on a GPU, as PTX."""
        return self._told(Overload.inspect_asm, signature)

    def inspect_sass(self, signature=None):
        """A GPU's machine code, by `ptxas` and `nvdisasm` of a CUDA toolkit."""
        return self._told(Overload.inspect_sass, signature)

    def inspect_sass_cfg(self, signature=None):
        """The flow of control in that, for Graphviz."""
        return self._told(Overload.inspect_sass_cfg, signature)

    def inspect_types(self, file=None, signature=None):
        """Prints the kernel IR, in which all values have types."""
        for overload in self.overloads.values() if signature is None else [self.overloads[signature]]:
            overload.inspect_types(file)

    def get_regs_per_thread(self, signature=None):
        """The registers that each thread has on a GPU. A kernel of `specialize` answers a number."""
        return self._number(lambda each: each.regs_per_thread, signature)

    def get_shared_mem_per_block(self, signature=None):
        """The bytes of shared memory that each block has, besides what a launch asks for."""
        return self._number(lambda each: each.shared_mem_per_block, signature)

    def get_const_mem_size(self, signature=None):
        """0: weft puts nothing into a GPU's constant memory."""
        return self._number(lambda each: each.const_mem_size, signature)

    def get_local_mem_per_thread(self, signature=None):
        """The bytes of memory that each thread has of its own."""
        return self._number(lambda each: each.local_mem_per_thread, signature)

    def get_max_threads_per_block(self, signature=None):
        """The most threads of a block."""
        return self._number(lambda each: each.max_threads_per_block, signature)
