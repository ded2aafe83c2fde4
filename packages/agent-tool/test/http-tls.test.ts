import { spawnSync } from 'node:child_process'
import tls, { createServer } from 'node:tls'

import { AgentError } from '@tutti/agent-call'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { agentFetch, type AgentFetch, type AgentHttpOptions } from '../src/http/agent-fetch.ts'
import { rawServer, whole, type RawAnswer, type RawServer } from './http-raw-server.ts'

/** A key and a certificate of `a.example`; undefined without the program openssl. */
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

const certificate = makeCertificate()
const resolve = async (): Promise<string[]> => ['127.0.0.1']

function secureServer(answer: RawAnswer): Promise<RawServer> {
  return rawServer(answer, (onSocket) =>
    createServer({ ...certificate }, onSocket).on('tlsClientError', () => undefined),
  )
}

function fetchFor(url: string, options: AgentHttpOptions = {}): AgentFetch {
  const fetch = agentFetch(url, { resolve, ...options })
  onTestFinished(() => fetch.close())
  return fetch
}

const trusts = certificate !== undefined && 'setDefaultCACertificates' in tls

describe.skipIf(certificate === undefined)('https (needs the program openssl)', () => {
  test('[F6] a server that nobody vouches for is unreachable', async () => {
    const server = await secureServer((socket) => socket.write(whole('ok')))
    const url = `https://a.example:${server.port}/`
    const problem = await fetchFor(url)(url).catch((thrown: unknown) => thrown)
    expect(problem).toBeInstanceOf(AgentError)
    expect(problem).toMatchObject({
      failureType: 'unreachable',
      message: `Cannot reach the agent at https://a.example:${server.port}: the certificate of the server is self-signed`,
    })
    expect(server.requests).toEqual([])
  })

  describe.skipIf(!trusts)('with a trusted certificate', () => {
    let before: string[] = []

    beforeAll(() => {
      before = tls.getCACertificates('default')
      tls.setDefaultCACertificates([certificate?.cert ?? ''])
    })

    afterAll(() => {
      tls.setDefaultCACertificates(before)
    })

    test('an agent is asked, and its connection is kept', async () => {
      const server = await secureServer((socket) => socket.write(whole('ok')))
      const url = `https://a.example:${server.port}/`
      const fetch = fetchFor(url, { headers: { 'x-key': 'secret' } })
      for (let i = 0; i < 2; i += 1) {
        expect(await (await fetch(url, { method: 'POST', body: 'x' })).text()).toBe('ok')
      }
      expect(server.connections).toBe(1)
      expect(server.requests[1]?.headers).toMatchObject({ 'x-key': 'secret' })
    })

    test('[F6] a server of another name is unreachable', async () => {
      const server = await secureServer((socket) => socket.write(whole('ok')))
      const url = `https://b.example:${server.port}/`
      await expect(fetchFor(url)(url)).rejects.toMatchObject({ failureType: 'unreachable' })
    })

    test('[D3] from https there is no way to http, not even by allowance', async () => {
      const inside = await rawServer((socket) => socket.write(whole('inside')))
      const server = await secureServer((socket) =>
        socket.write(
          whole('', {
            status: '307 Temporary Redirect',
            headers: [`location: ${inside.origin}/x`],
          }),
        ),
      )
      const url = `https://a.example:${server.port}/`
      const fetch = fetchFor(url, { allowHttp: true, allow: ['127.0.0.1'] })
      await expect(fetch(url)).rejects.toMatchObject({
        failureType: 'configuration',
        message: `Refused a redirect of the agent at ${url}: it leads to another origin (${inside.origin}); if the agent has moved, use its new address`,
      })
      expect(inside.connections).toBe(0)
    })
  })
})
