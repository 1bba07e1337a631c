"""What a model will need and how fast it will be on this machine, before it is loaded. No MLX."""
