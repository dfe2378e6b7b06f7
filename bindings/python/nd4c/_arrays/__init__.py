"""What arrays are in Python beside their core: methods, operators, protocols. nd4c/__init__.py imports the modules."""
