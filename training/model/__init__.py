"""The published 35B architecture (gated delta net, gated attention, routed experts) in plain PyTorch functions."""
