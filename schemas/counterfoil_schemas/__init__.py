"""The wire contract: events, rules, receipts and results, and the digests that name them."""
