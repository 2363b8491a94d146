"""Optimisation switches had other names one release ago: these go on working, with a note."""

import os
import subprocess
import sys

import pytest
import weft

FORMER = {
    "streams": "nontemporal_stores",
    "gather_first": "gather_pushdown",
    "repeats": "recomputation",
    "views": "view_fusion",
    "phases": "multi_phase",
    "neighbours": "horizontal_fusion",
    "interchange_reductions": "loop_interchange",
    "pair_rows": "unroll_and_jam",
    "turns": "loop_detection",
    "folds": "collapsed_reductions",
    "choose_in_one": "compress_in_one",
    "surroundings": "known_border",
}


@pytest.mark.parametrize("former", FORMER)
def test_former_names_of_switches_work_with_a_warning(former):
    with pytest.warns(DeprecationWarning, match=f"'{former}' is called '{FORMER[former]}'"):
        with weft.config(without=former):
            assert weft.config.without == FORMER[former]
    assert weft.config.without == ""


def test_former_names_in_the_environment_work_with_a_line():
    environment = {**os.environ, "WEFT_WITHOUT": ",".join(FORMER)}
    program = "import weft; print(weft.config.without)"
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    assert set(ran.stdout.strip().split(",")) - {""} == set(FORMER.values())
    for former, name in FORMER.items():
        assert f"[weft] WEFT_WITHOUT: the optimisation switch '{former}' is called '{name}' now" in ran.stderr
