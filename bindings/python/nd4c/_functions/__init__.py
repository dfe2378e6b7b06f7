"""The functions of the namespace, a chapter a module. nd4c/__init__.py exports them."""
