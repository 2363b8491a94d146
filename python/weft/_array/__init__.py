"""What arrays are made of: element types, axes, views, and their text."""
