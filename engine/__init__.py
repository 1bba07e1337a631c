"""Streaming inference for mixture-of-experts checkpoints larger than memory.

The package computes; it never imports Textual or `edge0_tui`. Modules that a user interface needs
(`protocol`, `client`, `errors`, `plan`, `probe`, `checkpoint`) do not import MLX either.
"""

__version__ = "0.1.0"
