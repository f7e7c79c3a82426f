"""The calls behind `import judge`: the same names and answers as the command line."""
