"""What weft.scipy.linalg is made of."""
