"""The 35B's family: gated delta nets with a gated attention layer now and then, experts in every layer."""
