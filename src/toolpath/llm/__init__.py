"""Language models behind `ports.Chat`: one request and its answer, over pydantic-ai's model layer."""
