"""scikit-image: filters, transforms, labels, colours, features of arrays."""

import numpy as np
from skimage import (
    color,
    draw,
    exposure,
    feature,
    filters,
    measure,
    metrics,
    morphology,
    restoration,
    segmentation,
    transform,
    util,
)

ON_THE_HOST = {"drawn"}  # scikit-image writes into the CPU's memory
k = np.arange(48 * 40).reshape(48, 40)
GREY = (np.sin(k * 0.01) + np.cos(k * 0.37)) * 0.25 + 0.5
RGB = np.stack([GREY, GREY * 0.5, 1 - GREY], axis=-1)
BYTES = np.round(GREY * 255).astype(np.uint8)
WHITE = GREY > 0.5


def filtered():
    for function in (filters.gaussian, filters.sobel, filters.median, filters.laplace, filters.scharr):
        yield function(GREY)
    yield filters.unsharp_mask(GREY)
    yield filters.frangi(GREY)
    yield filters.threshold_otsu(GREY)
    yield filters.threshold_local(GREY, 5)
    yield filters.rank.median(BYTES, np.ones((3, 3), np.uint8))


def transformed():
    yield transform.resize(GREY, (10, 12))
    yield transform.rotate(GREY, 30)
    yield transform.rescale(GREY, 0.5)
    shear = transform.AffineTransform(matrix=np.array([[1, 0.1, 0], [0, 1, 2], [0, 0, 1.0]]))
    yield transform.warp(GREY, shear)
    yield shear(np.array([[1.0, 2.0]]))
    yield transform.estimate_transform("similarity", np.eye(3)[:, :2], np.eye(3)[:, :2] * 2 + 1).params
    yield transform.radon(GREY[:32, :32], theta=np.arange(0, 180, 60.0), circle=False)
    yield transform.downscale_local_mean(GREY, (2, 2))
    yield transform.integral_image(GREY)
    yield transform.hough_line(WHITE)[0].sum()


def shapes():
    yield morphology.erosion(BYTES)
    yield morphology.dilation(WHITE)
    yield morphology.opening(BYTES, np.ones((3, 3), np.uint8))
    yield morphology.skeletonize(WHITE)
    labels = measure.label(WHITE)
    yield labels
    yield [(one.label, float(one.area)) for one in measure.regionprops(labels, intensity_image=GREY)]
    table = measure.regionprops_table(labels, GREY, properties=("area", "mean_intensity"))
    yield table["mean_intensity"]
    yield [len(line) for line in measure.find_contours(GREY, 0.5)]
    yield measure.block_reduce(GREY, (2, 2), np.mean)
    yield measure.profile_line(GREY, (0, 0), (10, 10))
    yield measure.shannon_entropy(BYTES)
    yield segmentation.watershed(GREY, markers=labels)
    yield segmentation.clear_border(labels)
    yield segmentation.find_boundaries(labels)
    yield segmentation.felzenszwalb(GREY)
    yield segmentation.slic(RGB, n_segments=5)


def coloured():
    for function in (color.rgb2gray, color.rgb2hsv, color.rgb2lab):
        yield function(RGB)
    yield color.gray2rgb(GREY)
    yield color.label2rgb(measure.label(WHITE), GREY, bg_label=0)
    yield exposure.equalize_hist(GREY)
    yield exposure.rescale_intensity(GREY, in_range=(0.2, 0.8))
    yield exposure.adjust_gamma(GREY, 2)
    yield exposure.equalize_adapthist(GREY)
    yield exposure.match_histograms(GREY, GREY * 0.5)
    yield exposure.histogram(BYTES)


def found():
    yield feature.canny(GREY)
    yield feature.peak_local_max(GREY, min_distance=2)
    yield feature.corner_harris(GREY)
    yield feature.hog(GREY)
    yield feature.match_template(GREY, GREY[5:12, 5:12])
    yield feature.local_binary_pattern(BYTES, 8, 1)
    yield feature.graycomatrix(BYTES, [1], [0]).sum()


def restored():
    yield restoration.denoise_tv_chambolle(GREY)
    yield restoration.denoise_bilateral(GREY)
    yield restoration.richardson_lucy(GREY, np.ones((3, 3)) / 9, num_iter=2)
    yield restoration.inpaint_biharmonic(GREY, k == 500)
    yield restoration.unwrap_phase(GREY)


def drawn():
    canvas = np.zeros((48, 40))
    draw.set_color(canvas, draw.polygon(np.array([1, 10, 5]), np.array([1, 2, 9])), 0.5)
    yield canvas


def utilities():
    yield util.img_as_ubyte(GREY)
    yield util.img_as_float(BYTES)
    yield util.invert(BYTES)
    yield util.view_as_windows(GREY, (3, 3)).shape
    yield util.view_as_blocks(GREY, (4, 4)).shape
    yield util.montage(np.stack([GREY, GREY]))
    yield util.random_noise(GREY, rng=np.random.default_rng(1))
    rows, columns = draw.disk((10, 10), 5)
    canvas = np.zeros((48, 40))
    canvas[rows, columns] = 1
    yield canvas
    yield draw.polygon(np.array([1, 10, 5]), np.array([1, 2, 9]))
    yield metrics.structural_similarity(GREY, GREY * 0.9, data_range=1.0)
    yield metrics.mean_squared_error(GREY, GREY * 0.9)
