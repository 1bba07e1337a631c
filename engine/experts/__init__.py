"""Experts streamed from disk into a fixed arena of slots. `streamer.ExpertStreamer` is the way in."""
