"""NumPy's own test_randomstate.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_randomstate",
        {
            "TestRandomDist.test_choice_return_shape": "objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_scalar_exception_propagation": "float() of a subclass raises",
            "test_randomstate_ctor_old_style_pickle": "a pickle of NumPy's classes",
        },
    )
)
