"""How long a model's own layers take on this machine, with random weights of its dimensions (needs MLX)."""
