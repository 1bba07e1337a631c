"""Measurements of the application in a real (pseudo-)terminal, as ratios: start-up, and what the screen costs."""
