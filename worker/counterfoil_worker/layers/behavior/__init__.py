"""Layer three: were proposed actions gated, executed once, and confirmed by fresh state?"""
