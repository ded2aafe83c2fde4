/** The files of the workspace over HTTP; the tests next to the sources cover paths. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openServer, type TestServer } from './open-server.ts'

let folder: string
let workspace: string

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-files-')))
  workspace = join(folder, 'work')
  mkdirSync(join(workspace, 'docs/deep'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'SECRET')
  writeFileSync(join(workspace, '.env'), 'SECRET')
  writeFileSync(join(workspace, 'größe.md'), '# Größe\n')
  writeFileSync(join(workspace, 'page.html'), '<script>alert(1)</script>')
  writeFileSync(join(workspace, 'image.png'), Buffer.from([0x89, 0x50, 0xff]))
  writeFileSync(join(workspace, 'big.log'), 'x'.repeat(1024 * 1024 + 1))
  writeFileSync(join(workspace, 'docs/a.txt'), 'a')
  symlinkSync(join(folder, 'secret.txt'), join(workspace, 'link'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

async function refusal(api: TestServer, path: string): Promise<readonly [number, unknown]> {
  const response = await api.get(path)
  const text = await response.text()
  expect(text).not.toContain('SECRET')
  expect(text).not.toContain(folder)
  return [response.status, (JSON.parse(text) as { readonly error?: unknown }).error]
}

/** Returns the status line of a request whose target is sent unchanged. */
function rawStatus(api: TestServer, target: string): Promise<string> {
  const { hostname, port } = new URL(api.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
    })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => {
      expect(text).not.toContain('SECRET')
      resolve(text.split('\r\n')[0] ?? '')
    })
  })
}

/** Paths of the routes: top-level, and below the socket of a run. */
const BASES: readonly [string, (api: TestServer) => Promise<string>][] = [
  ['/api/workspace', () => Promise.resolve('/api/workspace')],
  ['/runs/{runId}/api/workspace', async (api) => `/runs/${await api.submit()}/api/workspace`],
]

describe.each(BASES)('%s', (_title, baseOf) => {
  it('The workspace lists a directory as a bare array, directories first', async () => {
    await using api = await openServer({ workspace })
    const base = await baseOf(api)
    for (const query of ['', '?path=', '?path=.']) {
      const entries: unknown = await (await api.get(`${base}/files${query}`)).json()
      expect(entries).toEqual([
        { name: 'docs', type: 'directory', lastModified: expect.any(String) },
        { name: 'big.log', type: 'file', size: 1_048_577, lastModified: expect.any(String) },
        expect.objectContaining({ name: 'größe.md', size: 10 }),
        expect.objectContaining({ name: 'image.png' }),
        expect.objectContaining({ name: 'page.html' }),
      ])
    }
    expect(await (await api.get(`${base}/files?path=docs`)).json()).toMatchObject([
      { name: 'deep', type: 'directory' },
      { name: 'a.txt', type: 'file', size: 1 },
    ])
  })

  it('The workspace sends a file as plain text in UTF-8, regardless of its name', async () => {
    await using api = await openServer({ workspace })
    const base = await baseOf(api)
    for (const [path, text] of [
      ['gr%C3%B6%C3%9Fe.md', '# Größe\n'],
      ['page.html', '<script>alert(1)</script>'],
      ['docs/a.txt', 'a'],
      ['docs%2Fa.txt', 'a'],
    ]) {
      const response = await api.get(`${base}/file?path=${path}`)
      expect([response.status, await response.text()]).toEqual([200, text])
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    }
  })

  it.each([
    ['file', 400, 'BAD_REQUEST'],
    ['file?path=', 400, 'BAD_REQUEST'],
    ['file?path=a&path=b', 400, 'BAD_REQUEST'],
    ['file?path=a&file=b', 400, 'BAD_REQUEST'],
    ['file?path=page.html%00.txt', 400, 'BAD_REQUEST'],
    ['file?path=..%5Csecret.txt', 400, 'BAD_REQUEST'],
    ['file?path=../secret.txt', 403, 'FORBIDDEN'],
    ['file?path=%2e%2e%2fsecret.txt', 403, 'FORBIDDEN'],
    ['file?path=docs/../../secret.txt', 403, 'FORBIDDEN'],
    ['file?path=/etc/passwd', 403, 'FORBIDDEN'],
    ['file?path=link', 403, 'FORBIDDEN'],
    ['file?path=none.txt', 404, 'NOT_FOUND'],
    ['file?path=%FF', 400, 'BAD_REQUEST'],
    ['file?path=docs', 404, 'NOT_FOUND'],
    ['file?path=.env', 404, 'NOT_FOUND'],
    ['file?path=big.log', 413, 'PAYLOAD_TOO_LARGE'],
    ['file?path=image.png', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['files?path=none', 404, 'NOT_FOUND'],
    ['files?path=page.html', 404, 'NOT_FOUND'],
    ['files?path=..', 403, 'FORBIDDEN'],
    ['files?path=%2F', 403, 'FORBIDDEN'],
    ['files?dir=docs', 400, 'BAD_REQUEST'],
  ])('The workspace answers %s with %i', async (query, status, code) => {
    await using api = await openServer({ workspace })
    expect(await refusal(api, `${await baseOf(api)}/${query}`)).toEqual([status, code])
    expect(api.errors).toEqual([])
  })

  it('The workspace returns an error if there is no workspace', async () => {
    await using api = await openServer()
    const base = await baseOf(api)
    expect(await refusal(api, `${base}/files`)).toEqual([503, 'NOT_CONFIGURED'])
    expect(await refusal(api, `${base}/file?path=a`)).toEqual([503, 'NOT_CONFIGURED'])
  })

  it('The workspace does not follow a request path that leads up', async () => {
    await using api = await openServer({ workspace })
    const base = await baseOf(api)
    for (const target of [
      `${base}/../../secret.txt`,
      `${base}/file/../../../secret.txt`,
      `${base}/file?path=..%c0%afsecret.txt`,
      `${base}/file?path=%zz`,
      `${base}/%2e%2e/file?path=secret.txt`,
    ]) {
      expect(await rawStatus(api, target)).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect(api.errors).toEqual([])
  })
})

it('The workspace does not exist for an unknown run', async () => {
  await using api = await openServer({ workspace })
  expect(await refusal(api, '/runs/run-none/api/workspace/files')).toEqual([404, 'RUN_NOT_FOUND'])
  expect(await refusal(api, '/runs/run-none/api/workspace/file?path=docs/a.txt')).toEqual([
    404,
    'RUN_NOT_FOUND',
  ])
})

it('The workspace returns NOT_FOUND after it was removed', async () => {
  const gone = join(folder, 'gone')
  mkdirSync(gone)
  await using api = await openServer({ workspace: gone })
  rmSync(gone, { recursive: true })
  expect(await refusal(api, '/api/workspace/files')).toEqual([404, 'NOT_FOUND'])
  expect(await refusal(api, '/api/workspace/file?path=a')).toEqual([404, 'NOT_FOUND'])
})

it.each([
  ['work', 'must be an absolute path'],
  ['/none/of/this', 'ENOENT'],
  ['/etc/hostname', 'is not a directory'],
])('A server does not start with the workspace "%s"', async (directory, why) => {
  await expect(openServer({ workspace: directory })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(why),
  })
})
