"""The engine as Python sees it: settings, devices, profiles, and what C++ programs are built with."""
