"""How nano gets its prerouter heads and adapters: the base stays frozen, everything here is learned beside it."""
