import { address, Problem, type Schemas } from '../api/client'

/** Keeps files as an upload of their own. Raises `Problem`. */
export async function uploadFiles(files: Iterable<File>): Promise<Schemas['UploadRow']> {
  const form = new FormData()
  for (const one of files) form.append('files', one)
  const response = await fetch(address('/files'), { method: 'POST', body: form })
  if (response.ok) return (await response.json()) as Schemas['UploadRow']
  const said = (await response.json()) as { code: string; detail: string; hint?: string }
  throw new Problem(response.status, said.code, said.detail, said.hint)
}
