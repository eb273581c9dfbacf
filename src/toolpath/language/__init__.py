"""Notations and the expression language: text → plans, tools and compiled expressions. Pure; executes nothing."""
