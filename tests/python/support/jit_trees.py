"""Reads the text of a tree, for tests."""

import re

_TOKEN = re.compile(r'\(([a-z_]+)|\)|"((?:[^"\\]|\\.)*)"|([^\s()]+)|\s+')


def nodes_of(text):
    """The nodes in the order of their parentheses, each as (word, atoms, numbers of its children)."""
    nodes, open_nodes, end = [], [], 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        end = match.end()
        if match[1] is not None:
            if open_nodes:
                nodes[open_nodes[-1]][2].append(len(nodes))
            open_nodes.append(len(nodes))
            nodes.append((match[1], [], []))
        elif match[0] == ")":
            open_nodes.pop()
        elif match[2] is not None:
            nodes[open_nodes[-1]][1].append(_unquoted(match[2]))
        elif match[3] is not None:
            nodes[open_nodes[-1]][1].append(match[3])
    assert not open_nodes
    return nodes


def _unquoted(text):
    plain = re.sub(
        rb"\\(x[0-9a-f]{2}|.)",
        lambda m: bytes([int(m[1][1:], 16)]) if m[1][:1] == b"x" else b"\n" if m[1] == b"n" else m[1],
        text.encode(),
    )
    return plain.decode()
