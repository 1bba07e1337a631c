"""The 8B's family: kimi delta attention with a latent attention layer now and then, layer 0 without experts."""
