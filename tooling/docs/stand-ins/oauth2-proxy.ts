/**
 * Plays oauth2-proxy: refuses requests without a session, removes identity headers that a client sends, and adds
 * those of the session.
 *
 * @see https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview
 */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'

import { onTestFinished } from 'vitest'

import type { AddressInfo } from 'node:net'

/** Name of the cookie with the session. */
const COOKIE = '_oauth2_proxy'

/** A person with a session. */
export interface Person {
  readonly email: string
  readonly groups: readonly string[]
}

/**
 * Starts the proxy in front of `upstream` until the end of the test, with the people by the value of their cookie.
 * Returns its address.
 */
export async function startOauth2Proxy(
  upstream: string,
  people: ReadonlyMap<string, Person>,
): Promise<string> {
  const { hostname, port } = new URL(upstream)
  const forward = ({ headers, method, url }: IncomingMessage, { email, groups }: Person) => {
    const kept = Object.entries(headers).filter(([name]) => !name.startsWith('x-forwarded-'))
    const identity = { 'x-forwarded-email': email, 'x-forwarded-groups': groups.join(',') }
    const sent = { ...Object.fromEntries(kept), ...identity }
    return request({ hostname, port, method, path: url, headers: sent })
  }
  const findPerson = ({ headers: { cookie = '' } }: IncomingMessage): Person | undefined =>
    people.get(new RegExp(`${COOKIE}=(\\w+)`).exec(cookie)?.[1] ?? '')
  const server = createServer((incoming, outgoing) => {
    const person = findPerson(incoming)
    if (person === undefined) return outgoing.writeHead(401).end()
    const sent = forward(incoming, person).on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    return incoming.pipe(sent)
  })
  server.on('upgrade', (incoming, browser) => {
    const person = findPerson(incoming)
    if (person === undefined) return browser.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    const sent = forward(incoming, person).on('upgrade', (answer, socket) => {
      const lines = answer.rawHeaders.map((text, at) => text + (at % 2 === 0 ? ': ' : '\r\n'))
      browser.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      socket.pipe(browser).pipe(socket)
      socket.on('error', () => browser.destroy())
      browser.on('error', () => socket.destroy())
    })
    return sent.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
