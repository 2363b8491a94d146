"""NumPy's own test_smoke.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_smoke",
        {
            "TestDefaultRNG.test_integers_broadcast": "objects or texts",
            "TestMT19937.test_integers_broadcast": "objects or texts",
            "TestPCG64.test_integers_broadcast": "objects or texts",
            "TestPCG64DXSM.test_integers_broadcast": "objects or texts",
            "TestPhilox.test_integers_broadcast": "objects or texts",
            "TestSFC64.test_integers_broadcast": "objects or texts",
        },
    )
)
