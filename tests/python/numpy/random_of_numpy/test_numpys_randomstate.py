"""NumPy's own test_randomstate.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_randomstate",
        {
            "TestSetState.test_invalid_legacy_state_setting": "objects or texts",
            "TestRandomDist.test_choice_noninteger": "objects or texts",
            "TestRandomDist.test_choice_return_shape": "objects or texts",
            "TestRandomDist.test_choice_nan_probabilities": "objects or texts",
            "TestRandomDist.test_shuffle": "objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_permutation": "objects or texts",
            "TestRandomDist.test_scalar_exception_propagation": "float() of a subclass raises",
            "test_randomstate_ctor_old_style_pickle": "a pickle of NumPy's classes",
            "test_hot_swap": "the module that the tests look in has a state of its own",
        },
    )
)
