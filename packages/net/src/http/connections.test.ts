import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { guardedRequest } from './guarded-request.ts'
import { HttpConnections, type OutgoingRequest } from './connections.ts'
import { networkGuard } from './network-guard.ts'
import { localServer, type LocalServer } from '../../../../tooling/test-kit/local-server.ts'

import type { AddressInfo } from 'node:net'

const guard = networkGuard({
  allow: ['127.0.0.1', 'a.example', 'b.example'],
  resolve: () => Promise.resolve(['127.0.0.1']),
})

describe('HttpConnections', () => {
  it('HttpConnections resolves with the headers before the body has arrived', async () => {
    const server = await localServer((response) => {
      response.writeHead(201, { 'x-a': 'b' }).flushHeaders()
    })
    const ended = new AbortController()
    const { signal } = ended
    const { status, headers, body } = await new HttpConnections(guard).send(to(server, { signal }))
    expect([status, headers.get('x-a')]).toEqual([201, 'b'])
    const failure = rejection(text(body))
    ended.abort()
    expect(await failure).toBeInstanceOf(Error)
    await server.allClosed()
  })

  it('HttpConnections reuses a connection for the next request, and closes it on close', async () => {
    const server = await localServer((response) => response.end('ok'))
    const connections = new HttpConnections(guard)
    for (let i = 0; i < 3; i += 1) {
      const { body } = await connections.send(to(server))
      expect(await text(body)).toBe('ok')
    }
    expect(server.connections).toBe(1)
    await connections.close()
    await server.allClosed()
  })

  it('HttpConnections fails requests in flight on close, and opens a new connection for a later request', async () => {
    const arrived = Promise.withResolvers<void>()
    const server = await localServer((response) => {
      if (server.requests.length > 1) response.end('ok')
      arrived.resolve()
    })
    const connections = new HttpConnections(guard)
    const first = rejection(connections.send(to(server)))
    await arrived.promise
    await connections.close()
    expect(await first).toMatchObject({ kind: 'lost', message: 'the connection was closed' })
    expect((await connections.send(to(server))).status).toBe(200)
    await connections.close()
  })

  it('[NET-C1] HttpConnections opens no connection to a URL that the guard refuses', async () => {
    const server = await localServer((response) => response.end())
    const connections = new HttpConnections(networkGuard())
    await expect(connections.send(to(server))).rejects.toMatchObject({ code: 'TOOL_FAILED' })
    expect(server.connections).toBe(0)
  })

  it('[NET-C3] HttpConnections fails the body when the connection is reset, also without a declared length', async () => {
    const server = await localServer((response) => {
      response.writeHead(200, { connection: 'close' })
      response.write('half', () => response.socket?.resetAndDestroy())
    })
    const { body } = await new HttpConnections(guard).send(to(server))
    expect(await rejection(text(body))).toMatchObject({ code: 'ECONNRESET' })
  })

  it('HttpConnections returns a complete response that arrives before the whole request was read', async () => {
    const server = await localServer((response) => {
      response.writeHead(413, { connection: 'close' }).end('too large')
    })
    const request = to(server, { method: 'POST', body: new Uint8Array(8_000_000) })
    const { status, body } = await new HttpConnections(guard).send(request)
    expect([status, await text(body)]).toEqual([413, 'too large'])
  })

  it('[NET-C4] HttpConnections does not keep the process alive', async () => {
    const server = await localServer((response) => response.end('fine'))
    const script = `
      import { HttpConnections, networkGuard } from ${JSON.stringify(INDEX)}
      import { text } from 'node:stream/consumers'
      const connections = new HttpConnections(networkGuard({ allow: ['127.0.0.1'] }))
      const url = new URL(${JSON.stringify(server.origin)})
      const { body } = await connections.send({ url, method: 'GET', headers: {} })
      console.log(await text(body), performance.now())
      process.on('exit', () => console.log(performance.now()))`
    const [, doneAt = 0, endedAt = Infinity] =
      /^fine (\S+)\n(\S+)\n$/.exec(await runScript(script)) ?? []
    // An idle connection stays open for 4 s; the process did not wait for it.
    expect(Number(endedAt) - Number(doneAt)).toBeLessThan(3_000)
  })

  it('[NET-C5] HttpConnections ignores proxy settings of the environment', async () => {
    const proxy = await localServer((response) => response.end('proxy'))
    const server = await localServer((response) => response.end('server'))
    const script = `
      import { decodeBody, guardedRequest, networkGuard } from ${JSON.stringify(INDEX)}
      const guard = networkGuard({ allow: ['127.0.0.1'] })
      process.stdout.write(decodeBody(await guardedRequest('${server.origin}', { guard })))`
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.origin, http_proxy: proxy.origin }
    expect(await runScript(script, env)).toBe('server')
    expect(proxy.connections).toBe(0)
  })
})

const INDEX = new URL('../internal.ts', import.meta.url).href

/** Runs a script in another process; returns its standard output. */
async function runScript(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = ['-C', '@tutti/source', '--input-type=module', '--eval', script]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return text(child.stdout)
}

function to({ origin }: LocalServer, request: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return { url: new URL(origin), method: 'GET', headers: {}, ...request }
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It did not fail')
    },
    (error: unknown) => error,
  )
}

const certificate = makeCertificate()

describe.skipIf(certificate === undefined)('HTTPS (requires openssl)', () => {
  it('HTTPS refuses a self-signed certificate', async () => {
    const port = await secureServer()
    await expect(guardedRequest(`https://a.example:${port}`, { guard })).rejects.toThrow(
      'the certificate of the server is self-signed',
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

    it('HTTPS accepts a server whose certificate is trusted and has its name', async () => {
      const port = await secureServer()
      const answer = await guardedRequest(`https://a.example:${port}`, {
        guard,
        connectTimeoutMs: 10_000,
      })
      expect(Buffer.from(answer.body).toString()).toBe('for a.example')
    })

    it('HTTPS refuses a trusted certificate for another name', async () => {
      const port = await secureServer()
      await expect(guardedRequest(`https://b.example:${port}`, { guard })).rejects.toThrow(
        "Hostname/IP does not match certificate's altnames",
      )
    })

    it('HTTPS refuses a redirect from https to http', async () => {
      const inside = await localServer((response) => response.end())
      const port = await secureServer(inside.origin)
      await expect(guardedRequest(`https://a.example:${port}`, { guard })).rejects.toThrow(
        'Refused to follow a redirect from https to http',
      )
      expect(inside.connections).toBe(0)
    })
  })
})

/** Starts a server with the certificate of `a.example`; returns its port. */
async function secureServer(location?: string): Promise<number> {
  const server = createServer({ ...certificate }, (request, response) => {
    // NOTE: the sockets of a TLS server have this type.
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
  // NOTE: the address of a TCP server has this type.
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
