"""A blog on SQLite: eighteen tools for authors, posts, comments and pictures."""

# ruff: noqa: N803, UP013 - fields and parameters are named as the blog's clients know them

import sqlite3
import uuid
from typing import Any, TypedDict

from toolpath import tool

Author = TypedDict("Author", {"_id": str, "name": str, "email": str, "bio": str})
Blog = TypedDict("Blog", {"_id": str, "title": str, "content": str, "authorId": str})
Comment = TypedDict("Comment", {"_id": str, "blogId": str, "authorId": str, "content": str})
Picture = TypedDict("Picture", {"_id": str, "blogId": str, "url": str, "caption": str})


class Deleted(TypedDict):
    deleted: bool


TABLES = {
    "author": ("name", "email", "bio"),
    "blog": ("title", "content", "authorId"),
    "comment": ("blogId", "authorId", "content"),
    "picture": ("blogId", "url", "caption"),
}
database = sqlite3.connect(":memory:", check_same_thread=False)
database.row_factory = sqlite3.Row
for table, columns in TABLES.items():
    database.execute(f"CREATE TABLE {table} (_id TEXT PRIMARY KEY, {', '.join(f'{name} TEXT' for name in columns)})")


def insert(table: str, **values: str) -> Any:
    row = {"_id": uuid.uuid4().hex[:24], **values}
    marks = ", ".join("?" for _ in row)
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    return row


def one(table: str, key: str) -> Any:
    row = database.execute(f"SELECT * FROM {table} WHERE _id = ?", [key]).fetchone()
    if row is None:
        raise LookupError(f"There is no {table} {key}.")
    return dict(row)


def some(table: str, column: str = "", value: str = "") -> Any:
    where, values = (f"WHERE {column} = ?", [value]) if column else ("", [])
    return [dict(row) for row in database.execute(f"SELECT * FROM {table} {where}", values)]


def change(table: str, key: str, values: dict[str, str]) -> Any:
    one(table, key)
    for name, value in values.items():
        if value:
            database.execute(f"UPDATE {table} SET {name} = ? WHERE _id = ?", [value, key])
    return one(table, key)


def drop(table: str, key: str) -> Deleted:
    found = database.execute(f"DELETE FROM {table} WHERE _id = ?", [key])
    return Deleted(deleted=found.rowcount > 0)


@tool(group="blog", name="createAuthor", effect="write")
async def create_author(name: str, email: str, bio: str = "") -> Author:
    """Create an author.

    Args:
        name: Full name of the author.
        email: Where to reach the author.
        bio: A few words about the author.
    """
    return insert("author", name=name, email=email, bio=bio)


@tool(group="blog", name="getAuthor", effect="read")
async def get_author(authorId: str) -> Author:
    """Get an author by its id."""
    return one("author", authorId)


@tool(group="blog", name="updateAuthor", effect="write")
async def update_author(authorId: str, name: str = "", email: str = "", bio: str = "") -> Author:
    """Update an author."""
    return change("author", authorId, {"name": name, "email": email, "bio": bio})


@tool(group="blog", name="deleteAuthor", effect="destructive")
async def delete_author(authorId: str) -> Deleted:
    """Delete an author."""
    return drop("author", authorId)


@tool(group="blog", name="listAuthors", effect="read")
async def list_authors() -> list[Author]:
    """List all authors."""
    return some("author")


@tool(group="blog", name="createBlog", effect="write")
async def create_blog(title: str, content: str, authorId: str) -> Blog:
    """Create a blog post.

    Args:
        title: Title of the post.
        content: What the post is about.
        authorId: Id of the author who wrote it.
    """
    return insert("blog", title=title, content=content, authorId=authorId)


@tool(group="blog", name="getBlog", effect="read")
async def get_blog(blogId: str) -> Blog:
    """Get a blog post by its id."""
    return one("blog", blogId)


@tool(group="blog", name="updateBlog", effect="write")
async def update_blog(blogId: str, title: str = "", content: str = "") -> Blog:
    """Update a blog post."""
    return change("blog", blogId, {"title": title, "content": content})


@tool(group="blog", name="deleteBlog", effect="destructive")
async def delete_blog(blogId: str) -> Deleted:
    """Delete a blog post."""
    return drop("blog", blogId)


@tool(group="blog", name="listBlogs", effect="read")
async def list_blogs() -> list[Blog]:
    """List all blog posts."""
    return some("blog")


@tool(group="blog", name="createComment", effect="write")
async def create_comment(blogId: str, authorId: str, content: str) -> Comment:
    """Create a comment on a blog post.

    Args:
        blogId: Id of the post.
        authorId: Id of the author of the comment.
        content: What the comment says.
    """
    return insert("comment", blogId=blogId, authorId=authorId, content=content)


@tool(group="blog", name="getComment", effect="read")
async def get_comment(commentId: str) -> Comment:
    """Get a comment by its id."""
    return one("comment", commentId)


@tool(group="blog", name="deleteComment", effect="destructive")
async def delete_comment(commentId: str) -> Deleted:
    """Delete a comment."""
    return drop("comment", commentId)


@tool(group="blog", name="listCommentsByBlog", effect="read")
async def list_comments_by_blog(blogId: str) -> list[Comment]:
    """List the comments of a blog post."""
    return some("comment", "blogId", blogId)


@tool(group="blog", name="createPicture", effect="write")
async def create_picture(blogId: str, url: str, caption: str = "") -> Picture:
    """Add a picture to a blog post."""
    return insert("picture", blogId=blogId, url=url, caption=caption)


@tool(group="blog", name="getPicture", effect="read")
async def get_picture(pictureId: str) -> Picture:
    """Get a picture by its id."""
    return one("picture", pictureId)


@tool(group="blog", name="deletePicture", effect="destructive")
async def delete_picture(pictureId: str) -> Deleted:
    """Delete a picture."""
    return drop("picture", pictureId)


@tool(group="blog", name="listPicturesByBlog", effect="read")
async def list_pictures_by_blog(blogId: str) -> list[Picture]:
    """List the pictures of a blog post."""
    return some("picture", "blogId", blogId)


TOOLS = [
    create_author, get_author, update_author, delete_author, list_authors,
    create_blog, get_blog, update_blog, delete_blog, list_blogs,
    create_comment, get_comment, delete_comment, list_comments_by_blog,
    create_picture, get_picture, delete_picture, list_pictures_by_blog,
]  # fmt: skip
