"""What a model will need and how fast it will be on this machine, before anything is downloaded or loaded. No MLX."""
