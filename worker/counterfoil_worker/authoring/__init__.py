"""Writing contracts: from a model, with a second look at what they promise, with examples. Pure.

What is here helps an author before anything is put; nothing here decides about an event.
"""
