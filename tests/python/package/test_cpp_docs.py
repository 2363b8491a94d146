"""The examples of docs/guide/cpp.md: compiled as one program against an installed weft, and what they print."""

import re
import shutil

import pytest
from installed_weft import COMPILERS, ROOT, STRICT, needs_build, run

pytestmark = needs_build
PAGE = ROOT / "docs/guide/cpp.md"
# The parentheses that -Wparentheses asks for would hide what an example shows.
BLOCK = re.compile(r"^```cpp\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def _examples():
    """The examples' code and what each prints."""
    return BLOCK.findall(PAGE.read_text())


def test_the_page_has_examples():
    examples = _examples()
    assert len(examples) >= 8 and all(printed for _, printed in examples)


def test_the_examples_print_what_the_page_says(prefix, tmp_path):
    parts = ["#include <weft/weft.h>\n#include <iostream>\n#include <span>\n#include <vector>\n"]
    calls = ""
    for number, (code, _) in enumerate(_examples()):
        if "int main()" in code:
            code = re.sub(r"^#include.*\n", "", code, flags=re.M).replace(
                "int main()", f"void example_{number}()"
            )
        else:
            code = f"void example_{number}() {{\n{code}}}\n"
        parts.append(code)
        calls += f'    example_{number}();\n    std::cout << "--\\n";\n'
    source = tmp_path / "page.cpp"
    source.write_text("".join([*parts, f"int main() {{\n{calls}}}\n"]))
    program = tmp_path / "page"
    compiler = shutil.which(COMPILERS[0])
    library = prefix / "lib"
    run(
        [compiler, *STRICT, "-Wno-parentheses", f"-I{prefix}/include", source, "-o", program]
        + [f"-L{library}", "-lweft", f"-Wl,-rpath,{library}"]
    )
    printed = run([program]).split("--\n")
    for (_, expected), found in zip(_examples(), printed):
        assert found == expected


@pytest.mark.parametrize("name", re.findall(r"`weft::(\w+)[(<{`]", PAGE.read_text()))
def test_the_names_of_the_page_are_there(name, prefix):
    text = "".join(path.read_text() for path in (prefix / "include/weft").rglob("*.*"))
    assert re.search(rf"\b{name}\b", text)
