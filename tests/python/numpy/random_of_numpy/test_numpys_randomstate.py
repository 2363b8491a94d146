"""NumPy's own test_randomstate.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_randomstate",
        {
            "TestRandomDist.test_choice_noninteger": "objects or texts",
            "TestRandomDist.test_choice_return_shape": "objects or texts",
            "TestRandomDist.test_shuffle": "objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_scalar_exception_propagation": "float() of a subclass raises",
            "test_randomstate_ctor_old_style_pickle": "a pickle of NumPy's classes",
        },
    )
)

# They swap the state of NumPy's module, and ask weft's about it.
for each in ("test_hot_swap", "test_state_error_alt_bit_gen", "test_swap_worked"):
    del globals()[each]
