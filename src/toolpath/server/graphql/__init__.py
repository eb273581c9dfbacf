"""GraphQL at `/graphql`: the operations of the chaining system, people's answers, live events."""
