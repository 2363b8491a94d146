"""Pillow: images of arrays, and arrays of images."""

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps, ImageStat

RGB = (np.arange(24 * 16 * 3) % 256).astype(np.uint8).reshape(24, 16, 3)


def images_of_arrays():
    grey = RGB[..., 0]
    for array in (
        RGB,
        grey,
        grey > 100,
        RGB[::2, ::-1],
        np.dstack([RGB, np.full((24, 16), 255, np.uint8)]),
        np.linspace(0, 1, 12).reshape(3, 4).astype(np.float32),
        np.arange(12, dtype=np.int32).reshape(3, 4),
        np.arange(12, dtype=np.uint16).reshape(3, 4),
    ):
        image = Image.fromarray(array)
        yield image.mode, image.size
        yield np.asarray(image)


def operations():
    image = Image.fromarray(RGB)
    yield np.array(ImageOps.invert(image))
    yield np.asarray(image.convert("L"))
    yield np.asarray(image.filter(ImageFilter.GaussianBlur(1)))
    yield np.asarray(image.resize((np.int64(3), np.int64(2))))
    yield np.asarray(image.rotate(np.float64(30)))
    yield np.asarray(image.crop(tuple(np.array([0, 0, 3, 4]))))
    yield np.asarray(image.point((np.arange(256) // 2).tolist() * 3))
    yield np.asarray(image.transform((8, 8), Image.Transform.AFFINE, tuple(np.eye(3).ravel()[:6])))
    yield np.array(image.histogram())[:9]
    yield ImageStat.Stat(image).mean
    mask = Image.fromarray(RGB[..., 1] > 50)
    image.paste((0, 0, 0), mask=mask)
    yield np.asarray(image)
    ImageDraw.Draw(image).line([tuple(point) for point in np.arange(4).reshape(2, 2)], fill=(1, 2, 3))
    yield np.asarray(image)


def arrays_of_images():
    image = Image.fromarray(RGB)
    yield np.array(image)[..., ::-1].mean()
    yield np.mean(image)
    yield np.asarray(image, dtype=np.float32)[0, :2]
    copy = np.array(image)
    copy[0, 0] = 0
    yield copy[0, :2]
    yield np.stack([image, image]).shape
    yield np.asarray(image) / 255.0
    yield np.clip(np.asarray(image).astype(int) + 40, 0, 255).astype(np.uint8)


def files():
    stored = io.BytesIO()
    Image.fromarray(RGB).save(stored, "PNG")
    yield np.asarray(Image.open(io.BytesIO(stored.getvalue())))
    Image.fromarray(RGB[..., 2]).save(stored, "TIFF")
    yield stored.tell()
