"""Lets LLVM vectorise ahead-of-time loops through calls of the vector math library.

    attach_vector_math.py IN.ll OUT.ll --isa avx2|avx512f       before loops are vectorised
    attach_vector_math.py IN.ll OUT.ll --branches               afterwards

Clang has no way to say in C++ which vector functions stand for a scalar one. LLVM has: an attribute of the function
and declarations of its variants, which this adds to textual IR for every declared SLEEF function, and for
weft_rarely_f(is_rare, x, usual) of src/ops/scalar/sleef.h. These get their bodies afterwards: a branch around the call
of f where no element is rare. The kernel compiler does the same in memory (src/codegen/llvm/vector_math.cpp).
"""

import argparse
import re
from pathlib import Path

LANES = {"avx2": {"d": (4,), "f": (8,)}, "avx512f": {"d": (8,), "f": (16,)}}
RARELY = "weft_rarely_"
DECLARATION = re.compile(
    rf"^declare [^\n]*?(?P<type>double|float) @(?P<symbol>(?P<rarely>{RARELY})?"
    r"Sleef_finz_(?P<name>\w+?)(?P<letter>[df])1_(?P<accuracy>u\d+)purecfma)\((?P<arguments>[^)]*)\).*$",
    re.M,
)
RARE_WAY = re.compile(
    rf"^declare (?P<type>[^\n@]+) @{RARELY}(?P<called>\w+)\((?P<arguments>[^)]*)\).*$", re.M
)
KEPT = re.compile(r"^@llvm.compiler.used = .*\n", re.M)


def attach(text, isa):
    declarations = []

    def with_variants(match):
        count = match["arguments"].count(",") + 1
        rarely = match["rarely"] or ""
        mappings = []
        for lanes in LANES[isa][match["letter"]]:
            variant = f"{rarely}Sleef_finz_{match['name']}{match['letter']}{lanes}_{match['accuracy']}{isa}"
            vector = f"<{lanes} x {match['type']}>"
            arguments = [f"<{lanes} x i1>"] * bool(rarely) + [vector] * (count - bool(rarely))
            declarations.append((variant, f"declare {vector} @{variant}({', '.join(arguments)})"))
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


def add_branches(text):
    """Bodies for weft_rarely_…, which are inlined, and declarations of what they call."""
    features = re.search(r'"target-cpu"="[^"]*" "target-features"="[^"]*"', text)[0]
    called = {}

    def body(match):
        result = re.sub(r"\bnoundef ", "", match["type"])
        types = [re.match(r"<[^>]*>|\w+", argument.strip())[0] for argument in match["arguments"].split(",")]
        mask, *arguments, usual = types
        called[match["called"]] = f"declare {result} @{match['called']}({', '.join(arguments)}) #9999"
        names = [f"%{i}" for i in range(1, len(types) - 1)]
        passed = ", ".join(f"{kind} {name}" for kind, name in zip(arguments, names, strict=True))
        last = f"%{len(types) - 1}"
        lanes = re.match(r"<(\d+) x i1>", mask)
        any_rare = "%0"
        lines = [
            f"define internal {result} @{RARELY}{match['called']}({', '.join(types)}) #9998 {{",
            "begin:",
        ]
        if lanes:
            lines.append(f"  %any = call i1 @llvm.vector.reduce.or.v{lanes[1]}i1({mask} %0)")
            any_rare = "%any"
            called[mask] = f"declare i1 @llvm.vector.reduce.or.v{lanes[1]}i1({mask})"
        lines += [
            f"  br i1 {any_rare}, label %rare, label %end, !prof !9999",
            "rare:",
            f"  %found = call {result} @{match['called']}({passed}) #9999",
            f"  %chosen = select {mask} %0, {result} %found, {usual} {last}",
            "  br label %end",
            "end:",
            f"  %result = phi {result} [ {last}, %begin ], [ %chosen, %rare ]",
            f"  ret {result} %result",
            "}",
        ]
        return "\n".join(lines)

    text = RARE_WAY.sub(body, KEPT.sub("", text))
    declared = set(re.findall(r"^declare [^@\n]*@([\w.]+)\(", text, re.M))
    text += "\n" + "\n".join(
        line for line in called.values() if re.search(r"@([\w.]+)\(", line)[1] not in declared
    )
    text += f"\nattributes #9998 = {{ alwaysinline nounwind {features} }}"
    text += "\nattributes #9999 = { nounwind willreturn memory(none) }"
    text += '\n!9999 = !{!"branch_weights", i32 1, i32 2000}\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--isa", choices=LANES)
    what.add_argument("--branches", action="store_true")
    arguments = parser.parse_args()
    text = arguments.source.read_text()
    arguments.target.write_text(add_branches(text) if arguments.branches else attach(text, arguments.isa))


if __name__ == "__main__":
    main()
