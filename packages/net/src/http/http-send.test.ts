import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import tls from 'node:tls'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { guardedRequest } from './guarded-request.ts'
import { sendOverNode } from './http-send.ts'
import { networkGuard } from './network-guard.ts'
import { localServer } from '../testing/local-server.ts'

import type { AddressInfo } from 'node:net'

const guard = networkGuard({
  allow: ['127.0.0.1', 'a.example', 'b.example'],
  resolve: () => Promise.resolve(['127.0.0.1']),
})

describe('sendOverNode', () => {
  it('resolves with the headers, before the body is there', async () => {
    const server = await localServer((_, response) => {
      response.writeHead(201, { 'x-a': 'b' }).flushHeaders()
    })
    const ended = new AbortController()
    let connected = 0
    const answer = await sendOverNode({
      url: new URL(server.origin),
      method: 'GET',
      headers: {},
      signal: ended.signal,
      lookup: guard.lookup,
      onConnect: () => {
        connected += 1
      },
    })
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.headers.get('x-a')).toBe('b')
    expect(connected).toBe(1)
    answer.body.on('error', () => undefined)
    ended.abort()
    await server.allClosed()
  })

  it('uses no proxy of the environment', async () => {
    const proxy = await localServer((_, response) => response.end('proxy'))
    const server = await localServer((_, response) => response.end('server'))
    const script = `
      import { sendOverNode } from ${JSON.stringify(new URL('http-send.ts', import.meta.url).href)}
      import { text } from 'node:stream/consumers'
      const { signal } = new AbortController()
      const url = new URL(${JSON.stringify(server.origin)})
      const { body } = await sendOverNode({ url, method: 'GET', headers: {}, signal, onConnect() {} })
      process.stdout.write(await text(body))`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.origin, http_proxy: proxy.origin },
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(await text(child.stdout)).toBe('server')
    expect(proxy.connections).toBe(0)
  })
})

const certificate = makeCertificate()

describe.skipIf(certificate === undefined)('https (needs the program openssl)', () => {
  it('refuses a server that nobody vouches for', async () => {
    const port = await secureServer()
    await expect(guardedRequest(`https://a.example:${port}`, { guard })).rejects.toThrow(
      'self-signed certificate',
    )
  })

  describe.skipIf(!('setDefaultCACertificates' in tls))('with a trusted certificate', () => {
    let before: string[] = []

    beforeAll(() => {
      before = tls.getCACertificates('default')
      tls.setDefaultCACertificates([certificate?.cert ?? ''])
    })

    afterAll(() => {
      tls.setDefaultCACertificates(before)
    })

    it('asks a server that proves the name it was looked up by', async () => {
      const port = await secureServer()
      const answer = await guardedRequest(`https://a.example:${port}`, {
        guard,
        connectTimeoutMs: 10_000,
      })
      expect(Buffer.from(answer.body).toString()).toBe('for a.example')
    })

    it('refuses a server of another name', async () => {
      const port = await secureServer()
      await expect(guardedRequest(`https://b.example:${port}`, { guard })).rejects.toThrow(
        "Hostname/IP does not match certificate's altnames",
      )
    })

    it('does not go on from https to http', async () => {
      const inside = await localServer((_, response) => response.end())
      const port = await secureServer(inside.origin)
      await expect(guardedRequest(`https://a.example:${port}`, { guard })).rejects.toThrow(
        'Refused to follow a redirect from https to http',
      )
      expect(inside.connections).toBe(0)
    })
  })
})

/** The port of a server with the certificate of `a.example`. */
async function secureServer(location?: string): Promise<number> {
  const server = createServer({ ...certificate }, (request, response) => {
    // NOTE: a server for TLS has sockets of this kind.
    const { servername } = request.socket as tls.TLSSocket
    if (location !== undefined) response.writeHead(302, { location })
    response.end(`for ${String(servername)}`)
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
      }),
  )
  // NOTE: a server that listens on a port has an address of this kind.
  return (server.address() as AddressInfo).port
}

function makeCertificate(): { readonly key: string; readonly cert: string } | undefined {
  const { status, stdout } = spawnSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=a.example
     -addext subjectAltName=DNS:a.example -days 2 -keyout - -out -`.split(/\s+/),
    { encoding: 'utf8', timeout: 10_000 },
  )
  const [key, cert] = stdout?.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) ?? []
  return status === 0 && key !== undefined && cert !== undefined ? { key, cert } : undefined
}
