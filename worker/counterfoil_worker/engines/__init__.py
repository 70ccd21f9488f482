"""The engines that read other people's rules: JSON Schema and CEL. Values in, values out.

Each engine has two doors. *Vetting* is for the moment a rule is put: it returns every reason to
refuse it. *Compiling and evaluating* is for the moment a rule is used: a rule that was never
vetted fails there too, but with one error in place of a list. Whatever an engine cannot decide
is told apart from both "yes" and "no".
"""
