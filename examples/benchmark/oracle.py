"""The regret in percent of rankings of the heads that know something exactly, for each instance:

layers   what each layer costs alone (L evaluations)
singles  what each head costs alone (N evaluations)
left out what each head costs when all others are converted (N evaluations)

    python oracle.py [PART OF THE NAME]
"""
import glob
import os
import sys

import numpy as np

import lh


def one(n, chosen, value):
    z = np.full(n, 1 - value)
    z[chosen] = value
    return z


def regrets(instance):
    n, heads, layers = instance.n, instance.H, instance.L
    best = instance.d["best_known"]["score"]
    random = instance.d["reference"]["random_mean_score"]

    def regret(costs):
        z = np.zeros(n, dtype=int)
        z[np.argsort(costs, kind="stable")[: instance.k]] = 1
        return 100 * (best - instance.score(z)) / (best - random)

    blocks = [slice(layer * heads, (layer + 1) * heads) for layer in range(layers)]
    everything = instance.damage(np.ones(n, dtype=int))
    return {
        "layers": regret(np.repeat([instance.damage(one(n, block, 1)) for block in blocks], heads)),
        "singles": regret([instance.damage(one(n, i, 1)) for i in range(n)]),
        "left out": regret([everything - instance.damage(one(n, i, 0)) for i in range(n)]),
    }


if __name__ == "__main__":
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "open")
    for path in sorted(glob.glob(os.path.join(folder, f"*{''.join(sys.argv[1:2])}*.json"))):
        figures = regrets(lh.load(path))
        print(os.path.basename(path), *(f"{name} {figure:.0f}" for name, figure in figures.items()), sep="  ")
