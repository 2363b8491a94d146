"""NumPy's own test_randomstate.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_randomstate",
        {
            "TestSetState.test_invalid_legacy_state_setting": "it is about arrays of objects or texts",
            "TestRandomDist.test_choice_noninteger": "it is about arrays of objects or texts",
            "TestRandomDist.test_choice_return_shape": "it is about arrays of objects or texts",
            "TestRandomDist.test_choice_nan_probabilities": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_permutation": "it is about arrays of objects or texts",
            "TestRandomDist.test_scalar_exception_propagation": "a subclass whose float() raises is an array all the same",
            "test_randomstate_ctor_old_style_pickle": "it is a pickle of NumPy's own classes",
            "test_hot_swap": "the module that the tests look in has a state of its own",
        },
    )
)
