"""str() of a poly1d: its terms in a line, their powers in the line above."""

_WIDTH = 70  # of a line, after which another pair of lines begins


def _real_text(number):
    text = f"{number:.4g}"
    return text.removesuffix(".0000")


def _coefficient_text(number):
    if number.imag == 0:
        return _real_text(number.real)
    if number.real == 0:
        return f"{_real_text(number.imag)}j"
    return f"({_real_text(number.real)} + {_real_text(number.imag)}j)"


def _terms(numbers, variable):
    """Of each term that shows: its text without the power, and the power's text."""
    for place, number in enumerate(numbers):
        power = len(numbers) - 1 - place
        text = _coefficient_text(number)
        if text == "0":
            if place == 0:
                yield "0", ""
            continue
        yield (text if power == 0 else f"{text} {variable}"), (str(power) if power > 1 else "")


def polynomial_text(numbers, variable):
    """The lines of a polynomial; `numbers` are Python's, the highest power's coefficient first."""
    done, powers, line, pending = " ", "", "", ""
    for text, power in _terms(numbers, variable):
        if not (line or pending):
            pending = text
        else:
            pending += f" - {text[1:]}" if text.startswith("-") else f" + {text}"
        if not power:
            continue
        if max(len(line), len(powers)) + len(pending) + len(power) - 1 > _WIDTH:
            done += f"{powers}\n{line}\n "
            powers = line = ""
        powers += " " * (len(pending) - 1) + power
        line += pending + " " * (len(power) - 1)
        pending = ""
    return f"{done}{powers}\n{line}{pending}"
