"""The two ends of the process boundary in parts: what `engine.client` and `engine.worker` are made of."""
