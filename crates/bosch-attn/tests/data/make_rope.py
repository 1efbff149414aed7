#!/usr/bin/env python3
"""Writes rope.json beside this file: configurations, and the rotary frequencies that transformers computes from them
for texts of some lengths. Needs torch and transformers 5."""
import json, os
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

HEAD_DIM, POSITIONS = 12, 64
SHORT, LONG = [1.0, 1.1, 1.25, 1.5, 2.0, 2.5], [1.5, 2.0, 3.0, 4.0, 6.0, 8.0]
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
LONGROPE = {"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG, "original_max_position_embeddings": 32}
SCALINGS = [
    {"rope_type": "linear", "factor": 2.5},
    {"rope_type": "dynamic", "factor": 1.0},
    {"rope_type": "dynamic", "factor": 3.0},
    YARN, {**YARN, "factor": 1.0}, {**YARN, "original_max_position_embeddings": 64},
    {**YARN, "attention_factor": 0.75}, {**YARN, "beta_fast": 8, "beta_slow": 2.5, "truncate": False},
    {**YARN, "mscale": 0.707, "mscale_all_dim": 1.0}, {**YARN, "mscale": 0.707},
    {**YARN, "factor": 40.0, "original_max_position_embeddings": 4},
    LLAMA3, {**LLAMA3, "factor": 2.0, "high_freq_factor": 1.5, "original_max_position_embeddings": 8},
    LONGROPE, {**LONGROPE, "factor": 8.0}, {**LONGROPE, "factor": 1.0}, {**LONGROPE, "attention_factor": 1.3},
    {**LONGROPE, "original_max_position_embeddings": 64},
]

cases = []
for scaling in SCALINGS:
    for theta in (10000.0, 500000.0):
        parameters = {**scaling, "rope_theta": theta}
        config = LlamaConfig(hidden_size=48, num_attention_heads=4, head_dim=HEAD_DIM, max_position_embeddings=POSITIONS,
                             rope_parameters=dict(parameters))
        for length in (1, 32, 33, 64, 65, 200):
            if length > 1 and scaling["rope_type"] not in ("dynamic", "longrope"):
                continue
            frequencies, factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, "cpu", seq_len=length)
            cases.append({"rope_parameters": parameters, "length": length, "attention_factor": factor,
                          "frequencies": [float(f"{x:.7g}") for x in frequencies.tolist()]})
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rope.json")
with open(path, "w") as file:
    file.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
