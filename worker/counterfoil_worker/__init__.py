"""The checking side: three pure layers, the ledger, and the processes that run them."""
