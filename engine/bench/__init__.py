"""Measurements as ratios against a peer in the same run (`python -m engine.bench`, `edge0-tui bench`)."""
