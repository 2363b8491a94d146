"""NumPy's own test_random.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_random",
        {
            "TestRandomDist.test_choice_noninteger": "it is about arrays of objects or texts",
            "TestRandomDist.test_choice_return_shape": "it is about arrays of objects or texts",
            "TestRandomDist.test_choice_nan_probabilities": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_shuffle_untyped_warning[random2]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-numpy.random]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-random1]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-random2]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-numpy.random]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-random1]": "it is about arrays of objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-random2]": "it is about arrays of objects or texts",
            "TestRandomDist.test_scalar_exception_propagation": "a subclass whose float() raises is an array all the same",
        },
    )
)
