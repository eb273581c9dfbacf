# Server, worker and command line in one image: `docker build --tag toolpath .`
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src ./src
# The versions are those that the tests have passed with.
RUN python -m venv /opt/toolpath \
    && /opt/toolpath/bin/python -m pip install --no-cache-dir --disable-pip-version-check "$(grep '^pip==' constraints.txt)" \
    && /opt/toolpath/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        --constraint constraints.txt --build-constraint constraints.txt '.[server,postgres,workers,llm]'

FROM python:3.11-slim
# Nobody in particular, without a shell; /data is all that it may write to.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin toolpath \
    && mkdir /data \
    && chown 10001:10001 /data
COPY --from=build /opt/toolpath /opt/toolpath
ENV PATH=/opt/toolpath/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TOOLPATH_LOG_FORMAT=json
WORKDIR /data
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8000
# A worker has no /health: give it a check of its own, as compose.yaml does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["toolpath"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
