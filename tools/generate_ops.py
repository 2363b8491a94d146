"""Generates from src/ops/op_table.toml what C++ and the documentation need to know of the operations.

Into the folder given by --output:
  ops/op_ids.inc            WEFT_OP(kAdd) for each operation, in table order
  ops/reduction_ids.inc     WEFT_REDUCTION(kSum) for each reduction, in table order
  ops/vector_math.inc       WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments)
  op_table_data.cpp         the rows behind op_table() and reduction_table()
  kernels_<group>.inc       one inline function a loop: what it computes for one element
  loops_<group>.cpp         the ahead-of-time loops over those functions
  kernels_fold.inc          of these functions those that reductions combine with
  folds.cpp                 the ahead-of-time loops that reduce by them
  bitcode_<group>.cpp       the same functions with the pointer interface of the kernel compiler
  weft/operations.h         the operations, operators and reductions as C++ functions of arrays
  operations.cpp            their definitions
  weft/dtypes.h             a constant for each dtype
and, with --docs FILE, the reference page. Files are only rewritten when they change.
"""

import argparse
import re
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

# Translation units that the loops are spread over. Real mathematical functions are by themselves: their loops are
# compiled with the vector math library attached (tools/attach_vector_math.py).
PLAIN_GROUPS = ("0", "1", "2", "3", "4", "5")
MATH_GROUPS = ("math_0", "math_1")
# Streams of random numbers: what is in their header is nobody else's.
RANDOM_GROUP = "random"
GROUPS = (*PLAIN_GROUPS, *MATH_GROUPS, RANDOM_GROUP)

KINDS = ("arithmetic", "mathematical", "bitwise", "comparison", "logical", "floating", "selection")
# C++'s operators, which `operator` in a row may be, by the number of their operands.
OPERATORS = {
    1: ("-", "+", "~"),
    2: ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="),
}
# Columns whose values are enumerators of a type of ops/op_facts.h.
FACTS = {
    "neutral": ("Neutral", ("none", "zero", "one", "least", "greatest", "all_bits")),
    "pole": ("Pole", ("none", "zero", "zero_divisor", "zero_base", "minus_one", "one")),
    "tiny": (
        "TinyResult",
        (
            "exact",
            "product",
            "square",
            "quotient",
            "reciprocal",
            "inexact",
            "power_of_two",
            "power",
            "unless_zero",
            "unless_any_zero",
            "neighbour",
            "scaled",
        ),
    ),
    "range": (
        "RangeRule",
        (
            "unknown",
            "same",
            "negated",
            "absolute",
            "sum",
            "difference",
            "product",
            "minimum",
            "maximum",
            "remainder",
            "quotient",
            "bits_and",
            "clip",
            "select",
        ),
    ),
    "packs16": ("PackedHalves", ("none", "bits", "values")),
    "atomic": ("AtomicInstruction", ("none", "add", "and", "or", "xor", "max", "min")),
}
NEUTRAL_OF_IDENTITY = {"zero": "zero", "one": "one", "minus_one": "all_bits"}
IDENTITIES = ("none", "zero", "one", "minus_one", "minus_infinity")
FLAGS = (
    "commutative",
    "associative",
    "idempotent",
    "checks_negative_exponent",
    "promotes_to_common",
    "takes_integers_as_float64",
    "divides_integers",
    "quotient_overflows",
)
HALF_FLOATS = "eE"  # float16 and bfloat16: computed in float32 and rounded once, but for few operations
# Flags that C++ does not see as such. `own`: NumPy has no ufunc of this kind. `moves`: the result is one of the
# operands as it is, so that a bool keeps its byte.
TABLE_FLAGS = ("own", "moves")


def camel(name):
    return "k" + "".join(part.capitalize() for part in name.split("_"))


@dataclass
class ScalarType:
    enumerator: str
    name: str
    character: str
    kind: str
    cpp: str
    size: int
    short: str


@dataclass
class Loop:
    inputs: str  # NumPy's characters
    outputs: str
    index: int = -1  # among all loops of the group
    group: str = ""


@dataclass
class Op:
    name: str
    row: dict
    loops: list = field(default_factory=list)

    @property
    def nin(self):
        return self.row["in"]

    @property
    def nout(self):
        return self.row["out"]

    @property
    def numpy_name(self):
        return self.row.get("numpy", self.name)

    def symbol(self, loop, types):
        parts = ["weft", self.name, *(types[c].short for c in loop.inputs)]
        return "_".join(parts) + "_to_" + "_".join(types[c].short for c in loop.outputs)


def read_scalar_types(path):
    pattern = re.compile(
        r"^WEFT_SCALAR_TYPE\((\w+), \"(\w+)\", '(.)', '(.)', ([^,]+(?:<\w+>)?), (\d+), \"(\w+)\"\)", re.M
    )
    rows = [
        ScalarType(m[1], m[2], m[3], m[4], m[5].strip(), int(m[6]), m[7])
        for m in pattern.finditer(path.read_text())
    ]
    declared = len(re.findall(r"^WEFT_SCALAR_TYPE", path.read_text(), re.M))
    if len(rows) != declared:
        sys.exit(f"{path}: {declared} scalar types, of which {len(rows)} can be read")
    return {row.character: row for row in rows}


def parse_loops(op, types):
    """Expands the table's compact form into Loop objects."""
    loops = []
    for item in op.row["loops"].split():
        if ":" in item:
            rule, characters = item.split(":")
            if rule not in ("same", "bool"):
                sys.exit(f"{op.name}: unknown loop rule {rule!r}")
            for c in characters:
                loops.append(Loop(c * op.nin, (c if rule == "same" else "?") * op.nout))
        else:
            inputs, outputs = item.split("->")
            loops.append(Loop(inputs, outputs))
    for loop in loops:
        if len(loop.inputs) != op.nin or len(loop.outputs) != op.nout:
            sys.exit(
                f"{op.name}: loop {loop.inputs}->{loop.outputs} does not have {op.nin} inputs and {op.nout} outputs"
            )
        for c in loop.inputs + loop.outputs:
            if c not in types:
                sys.exit(f"{op.name}: unknown type character {c!r}")
    seen = [loop.inputs for loop in loops]
    if len(set(seen)) != len(seen):
        sys.exit(f"{op.name}: two loops with the same inputs")
    return loops


def read_table(path, types):
    table = tomllib.loads(path.read_text())
    ops = []
    for row in table["op"]:
        op = Op(row["name"], row)
        for key, known in (("kind", KINDS), ("identity", IDENTITIES)):
            if row.get(key, known[0]) not in known:
                sys.exit(f"{op.name}: unknown {key} {row[key]!r}")
        for key, (_, known) in FACTS.items():
            if row.get(key, known[0]) not in known:
                sys.exit(f"{op.name}: unknown {key} {row[key]!r}")
        for c in row.get("scan", ""):
            if c not in types:
                sys.exit(f"{op.name}: unknown type character {c!r} in scan")
        for flag in row.get("flags", []):
            if flag not in FLAGS + TABLE_FLAGS:
                sys.exit(f"{op.name}: unknown flag {flag!r}")
        if "operator" in op.row and op.row["operator"] not in OPERATORS.get(op.nin, ()):
            sys.exit(f"{op.name}: no operator {op.row['operator']!r} of {op.nin} operands")
        op.loops = parse_loops(op, types)
        ops.append(op)
    names = [name for op in ops for name in (op.name, *op.row.get("aliases", []))]
    if len(set(names)) != len(names):
        sys.exit("two operations with the same name")
    return ops, table["reduction"], table["vector_math"]


def is_real_mathematics(op, loop):
    return op.row["kind"] == "mathematical" and loop.inputs[0] in "eEfd"


def assign_groups(ops):
    """Spreads the loops over the groups so that the files take about equally long to compile."""
    loads = dict.fromkeys(GROUPS, 0)
    counts = dict.fromkeys(GROUPS, 0)
    for op in ops:
        if op.row.get("group") == RANDOM_GROUP:
            for loop in op.loops:
                loop.group, loop.index = RANDOM_GROUP, counts[RANDOM_GROUP]
                counts[RANDOM_GROUP] += 1
            continue
        for choices, loops in (
            (MATH_GROUPS, [loop for loop in op.loops if is_real_mathematics(op, loop)]),
            (PLAIN_GROUPS, [loop for loop in op.loops if not is_real_mathematics(op, loop)]),
        ):
            group = min(choices, key=lambda name: loads[name])
            for loop in loops:
                loop.group = group
                loop.index = counts[group]
                counts[group] += 1
                loads[group] += op.nin + (4 if op.row["kind"] == "mathematical" else 0)


def element_types(op, loop, types):
    """The C++ types of a loop's operands: its inputs and its outputs."""
    moves_bytes = "moves" in op.row.get("flags", []) and loop.outputs == "?"

    def cpp(characters):
        return ["uint8_t" if moves_bytes and c == "?" else types[c].cpp for c in characters]

    return cpp(loop.inputs), cpp(loop.outputs)


HEADER = "// Generated by tools/generate_ops.py from src/ops/op_table.toml; do not edit.\n"


def kernel_function(op, loop, types):
    """The C++ function that computes one element of one loop from values to references."""
    names = [f"x{i}" for i in range(op.nin)]
    in_float = HALF_FLOATS if op.row.get("half") != "own" else ""
    half_in_float = any(c in in_float for c in loop.inputs)
    arguments = [
        f"static_cast<float>({name})" if c in in_float else name for name, c in zip(names, loop.inputs)
    ]
    input_types, output_types = element_types(op, loop, types)
    parameters = [f"{cpp} {name}" for name, cpp in zip(names, input_types)]
    parameters += [f"{cpp}& y{i}" for i, cpp in enumerate(output_types)]
    if op.nout == 1:
        body = f"y0 = static_cast<{output_types[0]}>(scalar::{op.name}({', '.join(arguments)}));"
    elif half_in_float:
        temporaries = [
            ("float" if c in in_float else types[c].cpp, f"t{i}") for i, c in enumerate(loop.outputs)
        ]
        body = " ".join(f"{cpp} {name};" for cpp, name in temporaries)
        body += f" scalar::{op.name}({', '.join(arguments + [name for _, name in temporaries])});"
        for i, c in enumerate(loop.outputs):
            body += f" y{i} = static_cast<{types[c].cpp}>(t{i});"
    else:
        body = f"scalar::{op.name}({', '.join(arguments + [f'y{i}' for i in range(op.nout)])});"
    symbol = op.symbol(loop, types)
    return f"WEFT_KERNEL void {symbol}_kernel({', '.join(parameters)}) {{ {body} }}\n"


def bitcode_function(symbol, inputs, outputs):
    pointers = [f"const void* in{i}" for i in range(len(inputs))] + [
        f"void* out{i}" for i in range(len(outputs))
    ]
    arguments = [f"load<{cpp}>(in{i})" for i, cpp in enumerate(inputs)]
    arguments += [f"y{i}" for i in range(len(outputs))]
    body = "".join(f"    {cpp} y{i};\n" for i, cpp in enumerate(outputs))
    body += f"    {symbol}_kernel({', '.join(arguments)});\n"
    body += "".join(f"    store(out{i}, y{i});\n" for i in range(len(outputs)))
    return f'extern "C" void {symbol}({", ".join(pointers)}) {{\n{body}}}\n'


def cast_rows(types):
    """The casts: source, target, symbol and the C++ types, which are bytes where a bool stays as it is."""
    for source in types.values():
        for target in types.values():
            symbol = f"weft_cast_{source.short}_to_{target.short}"
            cpp = ("uint8_t", "uint8_t") if source.kind == target.kind == "b" else (source.cpp, target.cpp)
            yield source, target, symbol, cpp


def generate_kernels(ops, types):
    """Returns {file name: text} for kernels, loops and bitcode of every group, and of the casts."""
    files = {}
    for group in GROUPS:
        members = [(op, loop) for op in ops for loop in op.loops if loop.group == group]
        members.sort(key=lambda member: member[1].index)
        kernels = "".join(kernel_function(op, loop, types) for op, loop in members)
        entries = [(op.symbol(loop, types), *element_types(op, loop, types)) for op, loop in members]
        heavy = {
            op.symbol(loop, types): op.row["cost"] >= 15 and not is_real_mathematics(op, loop)
            for op, loop in members
        }
        add_group(files, group, kernels, entries, heavy)
    casts = list(cast_rows(types))
    kernels = "".join(
        f"WEFT_KERNEL void {symbol}_kernel({source} x0, {target}& y0) {{ y0 = scalar::cast<{target}>(x0); }}\n"
        for _, _, symbol, (source, target) in casts
    )
    entries = [(symbol, [source], [target]) for _, _, symbol, (source, target) in casts]
    add_group(files, "cast", kernels, entries, {})
    return files


def folding_loops(ops, reductions):
    """The loops that reductions combine values of one type with, in table order."""
    names = {reduction["combine"] for reduction in reductions}
    return [
        (op, loop)
        for op in ops
        for loop in op.loops
        if op.name in names and len(set(loop.inputs + loop.outputs)) == 1 and (op.nin, op.nout) == (2, 1)
    ]


def generate_folds(ops, reductions, types):
    """Returns {file name: text} for the loops that reduce."""
    members = folding_loops(ops, reductions)
    rows = "".join(
        f"    &fold_lanes<{op.symbol(loop, types)}_kernel, {element_types(op, loop, types)[1][0]}>,\n"
        for op, loop in members
    )
    kernels = HEADER + "".join(kernel_function(op, loop, types) for op, loop in members)
    folds = f"""{HEADER}#include "ops/lane_fold_loop.h"

namespace weft::WEFT_ISA {{
namespace {{
#include "kernels_fold.inc"
}}  // namespace

extern const LaneFold kLaneFolds[];
const LaneFold kLaneFolds[] = {{
{rows}}};
}}  // namespace weft::WEFT_ISA
"""
    return {"kernels_fold.inc": kernels, "folds.cpp": folds}


def add_group(files, group, kernels, entries, heavy):
    files[f"kernels_{group}.inc"] = HEADER + kernels
    rows = ""
    for symbol, inputs, outputs in entries:
        rows += (
            f"    &strided_loop<{symbol}_kernel, Types<{', '.join(inputs)}>, Types<{', '.join(outputs)}>, "
            f"{'true' if heavy.get(symbol) else 'false'}>,\n"
        )
    more = '#include "ops/scalar/random_bits.h"\n' if group == RANDOM_GROUP else ""
    files[f"loops_{group}.cpp"] = f"""{HEADER}#include "ops/strided_loop.h"
{more}
namespace weft::WEFT_ISA {{
namespace {{
#include "kernels_{group}.inc"
}}  // namespace

extern const StridedLoop kLoops_{group}[];
const StridedLoop kLoops_{group}[] = {{
{rows}}};
}}  // namespace weft::WEFT_ISA
"""
    functions = "".join(bitcode_function(symbol, inputs, outputs) for symbol, inputs, outputs in entries)
    files[f"bitcode_{group}.cpp"] = f"""{HEADER}#include "ops/bitcode_interface.h"
{more}
namespace weft {{
namespace {{
#include "kernels_{group}.inc"
}}  // namespace

{functions}
}}  // namespace weft
"""


def cpp_bool(value):
    return "true" if value else "false"


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("?", "\\?") + '"'


def doc_text(op, types):
    """The docstring: what it computes, shapes and dtypes, an example that runs on weft."""
    parts = [op.row["summary"]]
    if "details" in op.row:
        parts.append(op.row["details"])
    operands = "The operands are" if op.nin > 1 else "The operand is an array or anything that makes one;"
    if op.nin > 1:
        parts.append(
            f"{operands} arrays or anything that makes them; they broadcast together, and the result has their shape."
        )
    else:
        parts.append(f"{operands} the result has its shape.")
    parts.append("Types: " + " ".join(f"{loop.inputs}->{loop.outputs}" for loop in op.loops) + ".")
    if "example" in op.row:
        parts.append(f">>> {op.row['example']}\n{op.row['result']}")
    return "\n\n".join(parts)


def facts_text(op, types):
    """What ops/op_facts.h says of an operation, as an initializer."""
    row = {"neutral": NEUTRAL_OF_IDENTITY.get(op.row.get("identity"), "none"), **op.row}
    members = [
        f".{key} = {kind}::{camel(row[key])}"
        for key, (kind, known) in FACTS.items()
        if row.get(key, known[0]) != known[0]
    ]
    if "scan" in row:
        enumerators = ", ".join(f"ScalarType::{types[c].enumerator}" for c in row["scan"])
        members.append(f".scan = ScalarTypeSet({{{enumerators}}})")
    return f"OpFacts{{{', '.join(members)}}}"


def generate_table(ops, reductions, types):
    by_inputs = ""
    rows = ""
    declarations = ""
    groups = [*GROUPS, "cast"]
    for g in groups:
        declarations += f"extern const StridedLoop kLoops_{g}[];\n"
    offset = 0
    for op in ops:
        for loop in op.loops:
            enumerators = ", ".join(f"ScalarType::{types[c].enumerator}" for c in loop.inputs + loop.outputs)
            address = f"isa.group_{loop.group}[{loop.index}]"
            by_inputs += f'    {{{{{enumerators}}}, {address}, "{op.symbol(loop, types)}"}},\n'
        flags = op.row.get("flags", [])
        designators = "".join(f".{flag} = true, " for flag in FLAGS if flag in flags)
        designators += f".is_ufunc = {'false' if 'own' in flags else 'true'}"
        rows += (
            f"    {{OpId::{camel(op.name)}, {cpp_string(op.name)}, {cpp_string(op.numpy_name)}, "
            f"{cpp_string(op.row.get('namespace', ''))}, {op.nin}, {op.nout}, "
            f"OpKind::{camel(op.row['kind'])}, Identity::{camel(op.row.get('identity', 'none'))}, "
            f"OpFlags{{{designators}}}, {facts_text(op, types)}, {op.row['cost']}, {op.row.get('ulp', 0.5)}, "
            f"loops.subspan({offset}, {len(op.loops)}), {cpp_string(doc_text(op, types))}}},\n"
        )
        offset += len(op.loops)
    aliases = "".join(
        f"    {{{cpp_string(alias)}, OpId::{camel(op.name)}}},\n"
        for op in ops
        for alias in (*op.row.get("aliases", []), *([op.numpy_name] if op.numpy_name != op.name else []))
    )
    reduction_rows = "".join(
        f"    {{ReductionId::{camel(r['name'])}, {cpp_string(r['name'])}, {cpp_string(r['combine'])}, "
        f"OpId::{camel(r['combine'])}, ReductionKind::{camel(r['types'])}, {cpp_bool(r['types'] == 'index')}, "
        f"{cpp_bool(r['types'] == 'deviations')}, "
        f"{cpp_string(r['summary'])}}},\n"
        for r in reductions
    )
    casts = "".join(
        f'    {{{{ScalarType::{s.enumerator}, ScalarType::{t.enumerator}}}, isa.group_cast[{i}], "{symbol}"}},\n'
        for i, (s, t, symbol, _) in enumerate(cast_rows(types))
    )
    declarations += "extern const LaneFold kLaneFolds[];\nextern const ExtremeSearches kExtremeSearches[];\n"
    folds = "".join(
        f'    {{"{op.symbol(loop, types)}", isa.folds[{i}]}},\n'
        for i, (op, loop) in enumerate(folding_loops(ops, reductions))
    )
    members = "".join(f"    const StridedLoop* group_{g};\n" for g in groups)
    members += "    const LaneFold* folds;\n    const ExtremeSearches* searches;\n"
    isas = ""
    for isa in ("x86_64_v2", "x86_64_v3", "x86_64_v4"):
        isas += f"#ifdef WEFT_HAS_{isa.upper()}\nnamespace {isa} {{\n{declarations}}}\n#endif\n"
    tables = ""
    for isa in ("x86_64_v2", "x86_64_v3", "x86_64_v4"):
        values = ", ".join(
            [*(f"{isa}::kLoops_{g}" for g in groups), f"{isa}::kLaneFolds", f"{isa}::kExtremeSearches"]
        )
        tables += f"#ifdef WEFT_HAS_{isa.upper()}\nconst IsaLoops kIsaLoops_{isa} = {{{values}}};\n#endif\n"
    return f"""{HEADER}#include "ops/op_table_data.h"

namespace weft {{
{isas}
namespace ops_data {{

struct IsaLoops {{
{members}}};

{tables}
std::vector<LoopInfo> make_loops(const IsaLoops& isa) {{
    return {{
{by_inputs}    }};
}}

std::vector<LoopInfo> make_casts(const IsaLoops& isa) {{
    return {{
{casts}    }};
}}

std::vector<NamedFold> make_folds(const IsaLoops& isa) {{
    return {{
{folds}    }};
}}

std::vector<OpInfo> make_ops(std::span<const LoopInfo> loops) {{
    return {{
{rows}    }};
}}

const Alias kAliases[] = {{
{aliases}}};
const std::span<const Alias> aliases = kAliases;

const ReductionInfo kReductions[] = {{
{reduction_rows}}};
const std::span<const ReductionInfo> reductions = kReductions;

#define WEFT_SELECT(isa) \
    Loops{{make_loops(kIsaLoops_##isa), make_casts(kIsaLoops_##isa), make_folds(kIsaLoops_##isa), \
          kIsaLoops_##isa.searches}}
Loops loops_for(Isa isa) {{
    switch (isa) {{
#ifdef WEFT_HAS_X86_64_V4
    case Isa::kX86V4:
        return WEFT_SELECT(x86_64_v4);
#endif
#ifdef WEFT_HAS_X86_64_V3
    case Isa::kX86V3:
        return WEFT_SELECT(x86_64_v3);
#endif
    default:
        return WEFT_SELECT(x86_64_v2);
    }}
}}
#undef WEFT_SELECT

}}  // namespace ops_data
}}  // namespace weft
"""


def generate_vector_math(vector_math):
    text = HEADER
    for key, arguments in (("one_argument", 1), ("two_arguments", 2)):
        for entry in vector_math[key]:
            name, accuracy, *own_name = entry.split()
            called = own_name[0] if own_name else name
            for letter, cpp in (("d", "double"), ("f", "float")):
                symbol = f"Sleef_finz_{name}{letter}1_{accuracy}purecfma"
                text += f'WEFT_VECTOR_MATH({symbol}, {called}, "{name}", "{accuracy}", {cpp}, {arguments})\n'
    return text


def generate_docs(ops, reductions, types):
    text = "# Operations\n\nGenerated from `src/ops/op_table.toml`. Types are NumPy's characters.\n"
    for op in ops:
        space = op.row.get("namespace", "")
        title = f"{space}.{op.numpy_name}" if space else op.numpy_name
        text += f"\n## {title}\n\n{op.row['summary']}"
        text += f" {op.row['details']}\n" if "details" in op.row else "\n"
        if op.row.get("aliases"):
            text += "\nAlso called " + ", ".join(f"`{alias}`" for alias in op.row["aliases"]) + ".\n"
        text += "\nTypes: `" + " ".join(f"{loop.inputs}->{loop.outputs}" for loop in op.loops) + "`."
        if any(loop.outputs[0] in "eEfd" for loop in op.loops):
            text += f" Error at most {op.row.get('ulp', 0.5)} ULP"
            text += f" (complex {op.row['ulp_complex']}, by norm)." if "ulp_complex" in op.row else "."
        text += "\n"
        if "example" in op.row:
            text += f"\n```python\n>>> {op.row['example']}\n{op.row['result']}\n```\n"
    text += "\n# Reductions\n"
    for r in reductions:
        text += f"\n## {r['name']}\n\n{r['summary']}\n"
    return text


# ---- the C++ interface ----


def in_cpp(op):
    """Whether C++ has a function of the operation; some are for kernels, others weft/ops.h has as views."""
    return op.row.get("namespace") != "kernel" and op.row.get("cpp", True)


def cpp_signature(op, name, defaults):
    result = "array" if op.nout == 1 else "std::pair<array, array>"
    parameters = [f"Argument x{k}" for k in range(1, op.nin + 1)]
    parameters.append("const OperationOptions& options" + (" = {}" if defaults else ""))
    return f"{result} {name}({', '.join(parameters)})"


def cpp_comment(text, indent=""):
    return "".join(f"{indent}/// {line}\n" for line in textwrap.wrap(text, 105))


def generate_cpp_header(ops, reductions):
    functions = ""
    operators = ""
    for op in filter(in_cpp, ops):
        functions += "\n" + cpp_comment(" ".join([op.row["summary"], op.row.get("details", "")]).strip())
        functions += cpp_signature(op, op.numpy_name, True) + ";\n"
        arguments = ", ".join([*(f"std::move(x{k})" for k in range(1, op.nin + 1)), "options"])
        for alias in op.row.get("aliases", []):
            functions += f"inline {cpp_signature(op, alias, True)} {{\n"
            functions += f"    return {op.numpy_name}({arguments});\n}}\n"
        symbol = op.row.get("operator")
        if symbol and op.nin == 1:
            operators += f"""template <class T>
    requires operators::ArrayLike<std::remove_cvref_t<T>>
array operator{symbol}(T&& x) {{
    return {op.numpy_name}(std::forward<T>(x));
}}
"""
        elif symbol:
            operators += f"""template <class L, class R>
    requires operators::OfArrays<std::remove_cvref_t<L>, std::remove_cvref_t<R>>
array operator{symbol}(L&& left, R&& right) {{
    return {op.numpy_name}(std::forward<L>(left), std::forward<R>(right));
}}
"""
            if op.row["kind"] != "comparison":
                operators += f"""template <operators::Target T, operators::Operand R>
T&& operator{symbol}=(T&& target, const R& right) {{
    if constexpr (operators::Computed<T>) {{
        target = {op.numpy_name}(target, right);
    }} else {{
        operators::in_place("{op.name}", target, right);
    }}
    return std::forward<T>(target);
}}
"""
    folds = ""
    for r in reductions:
        if r["types"] != "deviations" and r["name"] != "all":
            folds += "\n" + cpp_comment(r["summary"])
            folds += (
                f"array {r['name']}(array input, const Axes& axis = {{}}, "
                "const ReductionOptions& options = {});\n"
            )
        elif r["name"] == "all":
            folds += f"""
/// The type of weft::all, which as an index is all of an axis, and called a reduction.
struct All {{
{cpp_comment(r["summary"], "    ")}    array operator()(array input, const Axes& axis = {{}},
                     const ReductionOptions& options = {{}}) const;
}};
"""
    return f"""{HEADER}//
// The operations of the op table, on arrays and scalars. They broadcast their operands and take NumPy's options
// (weft/options.h); nothing is computed until somebody looks at a result. Errors are thrown by the call.
//
// Operands are taken by value: what a call is given as a temporary is not held beyond it, until the end of the
// statement, where it would have to be stored for somebody who might look at it.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/options.h"

namespace weft {{

// ---- element-wise ----
{functions}
// ---- operators: of arrays among themselves and with scalars ----

namespace operators {{

// Elements at computed positions (weft/indexing.h): they have no view to be written through.
template <class T>
concept Computed = requires(const std::remove_cvref_t<T>& x) {{
    {{ x.read() }} -> std::same_as<array>;
}};
template <class T>
concept ArrayLike = std::derived_from<T, array> || Computed<T>;
template <class T>
concept Operand = std::convertible_to<const T&, Argument>;
template <class L, class R>
concept OfArrays = (ArrayLike<L> && Operand<R>) || (ArrayLike<R> && Operand<L>);
template <class T>
concept Target = ArrayLike<std::remove_reference_t<T>> && (!std::is_const_v<std::remove_reference_t<T>> || Computed<T>);

void in_place(std::string_view operation, const array& target, const Argument& right);

}}  // namespace operators

{operators}
// ---- reductions ----
{folds}
}}  // namespace weft
"""


def generate_cpp_source(ops, reductions):
    text = ""
    for op in filter(in_cpp, ops):
        text += f"{cpp_signature(op, op.numpy_name, False)} {{\n"
        arguments = ", ".join(f"std::move(x{k})" for k in range(1, op.nin + 1))
        call = "call_one" if op.nout == 1 else "call_pair"
        text += f"    const Argument inputs[] = {{{arguments}}};\n"
        text += f"    return {call}(op_info(OpId::{camel(op.name)}), inputs, options);\n}}\n"
    for r in reductions:
        if r["types"] == "deviations":
            continue
        name, constness = ("All::operator()", " const") if r["name"] == "all" else (r["name"], "")
        text += (
            f"array {name}(array input, const Axes& axis, const ReductionOptions& options){constness} {{\n"
            f"    return reduce_by(ReductionId::{camel(r['name'])}, std::move(input), axis, options);\n}}\n"
        )
    return f"""{HEADER}#include "weft/operations.h"

#include "api/elementwise/operations.h"

namespace weft {{

{text}
}}  // namespace weft
"""


def generate_dtypes(types):
    names = {"bool": "bool_"}  # as numpy.bool_: C++ has the word
    rows = "".join(
        f"inline const DType {names.get(t.name, t.name)} = ScalarType::{t.enumerator};\n"
        for t in types.values()
    )
    return f"""// Generated by tools/generate_ops.py from include/weft/scalar_types.def; do not edit.
//
// The dtypes by their NumPy names: weft::zeros({{3}}, weft::float32).
#pragma once

#include "weft/dtype.h"

namespace weft {{

{rows}
}}  // namespace weft
"""


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--output", type=Path, help="folder for the generated C++")
    parser.add_argument("--docs", type=Path, help="file for the reference page")
    parser.add_argument("--table", type=Path, default=root / "src/ops/op_table.toml")
    arguments = parser.parse_args()

    types = read_scalar_types(root / "include/weft/scalar_types.def")
    ops, reductions, vector_math = read_table(arguments.table, types)
    assign_groups(ops)
    if arguments.output:
        out = arguments.output
        write(
            out / "ops/reduction_ids.inc",
            HEADER + "".join(f"WEFT_REDUCTION({camel(r['name'])})\n" for r in reductions),
        )
        write(out / "ops/op_ids.inc", HEADER + "".join(f"WEFT_OP({camel(op.name)})\n" for op in ops))
        write(out / "ops/vector_math.inc", generate_vector_math(vector_math))
        groups = [*GROUPS, "cast"]
        write(
            out / "ops/bitcode_groups.inc", HEADER + "".join(f"WEFT_BITCODE({group})\n" for group in groups)
        )
        write(out / "weft/operations.h", generate_cpp_header(ops, reductions))
        write(out / "weft/dtypes.h", generate_dtypes(types))
        write(out / "operations.cpp", generate_cpp_source(ops, reductions))
        write(out / "op_table_data.cpp", generate_table(ops, reductions, types))
        files = generate_kernels(ops, types) | generate_folds(ops, reductions, types)
        for name, text in files.items():
            write(out / name, text)
    if arguments.docs:
        write(arguments.docs, generate_docs(ops, reductions, types))


if __name__ == "__main__":
    main()
