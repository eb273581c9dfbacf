"""The same plan from Python."""

import asyncio

import blog_tools

from toolpath import Toolpath


async def main() -> None:
    async with Toolpath() as tp:
        tp.add(blog_tools.create_author, blog_tools.create_post)
        plan = tp.read("publish.plan.yaml")
        result = await tp.run(plan, {"name": "Ada", "email": "ada@example.org"})
        print(result.status, result.outputs)
        print(result.step("post").inputs)


asyncio.run(main())
