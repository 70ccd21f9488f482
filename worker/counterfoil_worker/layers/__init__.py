"""The three layers. Pure: bytes and values in, receipts out; no clock, store or network."""
