"""Lets LLVM vectorise ahead-of-time loops through calls of the vector math library.

    attach_vector_math.py IN.ll OUT.ll --isa avx2|avx512f

Clang has no way to say in C++ which vector functions stand for a scalar one. LLVM has: an attribute of the function
and declarations of its variants, which this adds to textual IR for every declared SLEEF function. The kernel
compiler does the same in memory (src/codegen/vector_math.cpp).
"""

import argparse
import re
from pathlib import Path

LANES = {"avx2": {"d": (4,), "f": (8,)}, "avx512f": {"d": (8,), "f": (16,)}}
DECLARATION = re.compile(
    r"^declare (?P<type>double|float) @(?P<symbol>Sleef_finz_(?P<name>\w+?)(?P<letter>[df])1_"
    r"(?P<accuracy>u\d+)purecfma)\((?P<arguments>[^)]*)\)(?P<rest>.*)$",
    re.M,
)


def attach(text, isa):
    declarations = []

    def with_variants(match):
        count = match["arguments"].count(",") + 1
        mappings = []
        for lanes in LANES[isa][match["letter"]]:
            variant = f"Sleef_finz_{match['name']}{match['letter']}{lanes}_{match['accuracy']}{isa}"
            vector = f"<{lanes} x {match['type']}>"
            declarations.append((variant, f"declare {vector} @{variant}({', '.join([vector] * count)})"))
            mappings.append(f"_ZGV_LLVM_N{lanes}{'v' * count}_{match['symbol']}({variant})")
        return f'{match[0]} "vector-function-abi-variant"="{",".join(mappings)}"'

    text = DECLARATION.sub(with_variants, text)
    if not declarations:
        raise SystemExit("no SLEEF function is declared")
    # Kept although nothing refers to them until the vectoriser has run.
    used = ", ".join(f"ptr @{name}" for name, _ in declarations)
    text += "\n" + "\n".join(line for _, line in declarations)
    text += f'\n@llvm.compiler.used = appending global [{len(declarations)} x ptr] [{used}], section "llvm.metadata"\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--isa", choices=LANES, required=True)
    arguments = parser.parse_args()
    arguments.target.write_text(attach(arguments.source.read_text(), arguments.isa))


if __name__ == "__main__":
    main()
