"""Documents as Markdown: real ones of each kind, and hostile ones that hold up nobody."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from toolpath.errors import ToolFailed, ToolTimeout
from toolpath.providers.builtin.documents import documents_group
from toolpath.providers.run_files.folder import Quota
from toolpath.providers.run_files.folders import Folders
from toolpath.providers.surroundings import Surroundings


class Call:
    run_id = "run_1"


def pdf(text: str) -> bytes:
    """A PDF of one page, written by hand."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))


def docx(body: str) -> bytes:
    """A Word document with this body."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    kinds = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override'
        ' PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"'
        ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
        ' Target="word/document.xml"/></Relationships>'
    )
    return archive(
        {
            "[Content_Types].xml": kinds,
            "_rels/.rels": relations,
            "word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>",
        }
    )


def archive(parts: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in parts.items():
            zipped.writestr(name, content)
    return made.getvalue()


def xlsx() -> bytes:
    book, made = Workbook(), io.BytesIO()
    book.active.append(["kind", "price"])  # type: ignore[union-attr]
    book.active.append(["green|tea", 2.5])  # type: ignore[union-attr]
    book.save(made)
    return made.getvalue()


async def markdown(folder: Path, name: str, content: bytes, **options: Any) -> Any:
    folders = Folders(folder, Quota(10**9, 100))
    await folders.do("runs", "run_1", lambda inside: inside.write(name, [content]))
    (tool,) = documents_group(options, Surroundings(folders=folders)).tools
    body: Any = tool.body
    return (await body.invoke({"path": name}, Call()))["markdown"]


PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"


@pytest.mark.parametrize(
    ("name", "content", "holds"),
    [
        ("a.pdf", pdf("Green tea is fine"), "Green tea is fine"),
        ("called.txt", pdf("Known by what it is"), "Known by what it is"),
        ("a.docx", docx(PARAGRAPH.format("Dear reader")), "Dear reader"),
        ("a.xlsx", xlsx(), "| kind | price |\n| --- | --- |\n| green\\|tea | 2.5 |"),
        ("a.html", b"<h1>Tea</h1><script>alert(1)</script><p>is <b>fine</b></p>", "# Tea\n\nis **fine**"),
        ("a.csv", "kind;price\ngrün;2,5\n".encode("cp1252"), "| kind | price |\n| --- | --- |\n| grün | 2,5 |"),
        ("a.txt", "\ufeffas it is".encode("utf-16"), "as it is"),
    ],
)
async def test_documents_of_each_kind(tmp_path: Path, name: str, content: bytes, holds: str) -> None:
    assert holds in await markdown(tmp_path, name, content)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("broken.pdf", b"%PDF-1.7\nnothing", "cannot be read"),
        ("old.doc", b"\xd0\xcf\x11\xe0" + bytes(100), "old Office"),
        ("a.exe", b"MZ\0\0" + bytes(100), "no PDF"),
        ("a.zip", archive({"a": b"x"}), "archive"),
        ("broken.docx", docx("<w:p")[:-30], "cannot be read"),
        ("bomb.docx", archive({f"word/{n}": "" for n in range(10_001)}), "unpacks"),
        ("deep.html", b"<div>" * 200_000, "cannot be read"),
    ],
)
async def test_hostile_documents_are_told_as_such(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        await markdown(tmp_path, name, content)


async def test_what_takes_too_long_or_too_much_is_killed(tmp_path: Path) -> None:
    with pytest.raises(ToolTimeout):
        await markdown(tmp_path, "a.txt", b"x", timeout=0.001)
    rows = b"a,b\n" * 10_000_000
    with pytest.raises(ToolFailed, match="memory"):
        await markdown(tmp_path, "a.csv", rows, memory=300_000_000)
    with pytest.raises(ToolFailed, match="bytes"):
        await markdown(tmp_path, "a.csv", rows, max_bytes=1_000)
