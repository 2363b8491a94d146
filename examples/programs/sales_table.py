"""A table of sales as a structured array: filters, sorting by fields, sums by group, a cross table, a join.

python examples/programs/sales_table.py [rows]
"""

import sys

import numpy as np

SIZE = 300_000


ROW = np.dtype([("day", "i4"), ("shop", "U6"), ("item", "i2"), ("count", "i8"), ("price", "f8")])
SHOPS = np.array(["Bern", "Chur", "Genf", "Zug"])


def table(rows):
    rng = np.random.default_rng(15)
    sales = np.zeros(rows, dtype=ROW)
    sales["day"] = rng.integers(0, 365, rows)
    sales["shop"] = rng.choice(SHOPS, rows, p=[0.4, 0.1, 0.3, 0.2])
    sales["item"] = rng.zipf(1.8, rows) % 50
    sales["count"] = rng.poisson(3, rows)
    sales["price"] = np.round(rng.lognormal(2, 0.5, rows), 2)
    return sales


def main(size=SIZE):
    sales = table(size)
    sales = sales[sales["count"] > 0]
    worth = sales["count"] * sales["price"]

    shops, shop = np.unique(sales["shop"], return_inverse=True)
    by_shop = np.bincount(shop, weights=worth)
    months = np.searchsorted(
        np.cumsum([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]), sales["day"], side="right"
    )
    cross = np.zeros((len(shops), 12))
    np.add.at(cross, (shop, months), worth)

    order = np.argsort(sales["item"], kind="stable")
    _, start = np.unique(sales["item"][order], return_index=True)
    dearest = np.maximum.reduceat(sales["price"][order], start)
    pieces = np.add.reduceat(sales["count"][order], start)

    groups = np.array(
        [("Bern", 1), ("Chur", 2), ("Genf", 3), ("Zug", 2)], dtype=[("shop", "U6"), ("region", "i4")]
    )
    region = groups["region"][np.searchsorted(groups["shop"], sales["shop"])]
    top = np.sort(sales[worth > np.quantile(worth, 0.999)], order=["shop", "day", "item", "price"])
    return {
        "shops": shops,
        "by shop": by_shop,
        "cross": cross,
        "dearest": dearest,
        "pieces": pieces,
        "regions": np.array([worth[region == r].sum() for r in np.unique(region)]),
        "top shops": top["shop"],
        "top days": top["day"],
        "top prices": top["price"],
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    for shop, worth in zip(result["shops"], result["by shop"]):
        print(f"{shop:6} {worth:14,.2f}")
