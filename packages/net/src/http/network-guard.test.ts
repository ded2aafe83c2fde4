import http from 'node:http'

import { describe, expect, it } from 'vitest'

import { TuttiError } from '@tutti/core'
import { localServer } from '../../../../tooling/test-kit/local-server.ts'
import { BAD_PORTS, networkGuard, type NetworkGuard, type ResolveHost } from './network-guard.ts'

import type { LookupAddress, LookupOptions } from 'node:dns'

/** Spellings of refused URLs, each with a part of the reason. */
const REFUSED: readonly (readonly [string, string])[] = [
  // Loopback, as inet_aton and browsers parse it
  ['http://127.0.0.1', 'a loopback address'],
  ['http://127.0.0.1.', 'a loopback address'],
  ['http://127.1', 'a loopback address'],
  ['http://127.0.1', 'a loopback address'],
  ['http://2130706433', 'a loopback address'],
  ['http://0x7f000001', 'a loopback address'],
  ['http://0x7f.0x0.0x0.0x1', 'a loopback address'],
  ['http://0X7F.1', 'a loopback address'],
  ['http://0177.0.0.1', 'a loopback address'],
  ['http://0177.0x0.0.1', 'a loopback address'],
  ['http://017700000001', 'a loopback address'],
  ['http://127.255.255.254', 'a loopback address'],
  ['http://%31%32%37%2e0.0.1', 'a loopback address'],
  ['http://127。0。0。1', 'a loopback address'],
  ['http://127｡0｡0｡1', 'a loopback address'],
  ['http://１２７.0.0.1', 'a loopback address'],
  ['http://①②⑦.⓪.⓪.①', 'a loopback address'],
  ['http://0x⑦f.1', 'a loopback address'],
  ['HTTP://127.0.0.1', 'a loopback address'],
  ['http:127.0.0.1', 'a loopback address'],
  ['http:/127.0.0.1', 'a loopback address'],
  ['http:///127.0.0.1', 'a loopback address'],
  ['http:\\\\127.0.0.1\\', 'a loopback address'],
  ['ht\ntp://127.0\t.0.1', 'a loopback address'],
  ['  http://127.0.0.1  ', 'a loopback address'],
  ['https://127.0.0.1:8443/x', 'a loopback address'],
  // Unspecified addresses, which mean this machine on most systems
  ['http://0', 'an unspecified address'],
  ['http://0.0.0.0', 'an unspecified address'],
  ['http://0x', 'an unspecified address'],
  ['http://0.1.2.3', 'an unspecified address'],
  ['http://[::]', 'an unspecified address'],
  ['http://[0:0:0:0:0:0:0:0]', 'an unspecified address'],
  // Loopback in IPv6, also as an embedded IPv4 address
  ['http://[::1]', 'a loopback address'],
  ['http://[0:0:0:0:0:0:0:1]', 'a loopback address'],
  ['http://[0000:0000:0000:0000:0000:0000:0000:0001]:80', 'a loopback address'],
  ['http://[::ffff:127.0.0.1]', 'a loopback address'],
  ['http://[::ffff:7f00:1]', 'a loopback address'],
  ['http://[0:0:0:0:0:FFFF:7F00:0001]', 'a loopback address'],
  ['http://[::127.0.0.1]', 'embeds an IPv4 address'],
  ['http://[::ffff:0:127.0.0.1]', 'embeds an IPv4 address'],
  ['http://[64:ff9b::127.0.0.1]', 'a loopback address'],
  ['http://[64:ff9b::7f00:1]', 'a loopback address'],
  ['http://[64:ff9b:1::7f00:1]', 'a local NAT64 address'],
  ['http://[2002:7f00:1::]', 'embeds an IPv4 address'],
  ['http://[2001:0:7f00:1::]', 'embeds an IPv4 address'],
  ['http://[2001::1]', 'embeds an IPv4 address'],
  // Private networks
  ['http://10.0.0.1', 'a private address'],
  ['http://10.1', 'a private address'],
  ['http://167772161', 'a private address'],
  ['http://0xa.0.0.1', 'a private address'],
  ['http://012.0.0.1', 'a private address'],
  ['http://172.16.0.1', 'a private address'],
  ['http://172.31.255.255', 'a private address'],
  ['http://192.168.1.1', 'a private address'],
  ['http://192.168.257', 'a private address'],
  ['http://3232235777', 'a private address'],
  ['http://[::ffff:10.0.0.1]', 'a private address'],
  ['http://[fd00::1]', 'a private address'],
  ['http://[fec0::1]', 'a private address'],
  ['http://[fe80::1]', 'a link-local address'],
  ['http://100.64.0.1', 'a carrier-grade NAT address'],
  // Metadata services
  ['http://169.254.169.254/latest/meta-data/', 'a cloud metadata address'],
  ['http://2852039166', 'a cloud metadata address'],
  ['http://0xa9fea9fe', 'a cloud metadata address'],
  ['http://0251.0376.0251.0376', 'a cloud metadata address'],
  ['http://169.254.43518', 'a cloud metadata address'],
  ['http://169.16689662', 'a cloud metadata address'],
  ['http://[::ffff:169.254.169.254]', 'a cloud metadata address'],
  ['http://[64:ff9b::a9fe:a9fe]', 'a cloud metadata address'],
  ['http://[fd00:ec2::254]', 'a cloud metadata address'],
  ['http://168.63.129.16', 'a cloud metadata address'],
  ['http://169.254.1.1', 'a link-local address'],
  // Addresses without a host
  ['http://192.0.2.1', 'a documentation address'],
  ['http://198.18.0.1', 'a benchmarking address'],
  ['http://224.0.0.1', 'a multicast address'],
  ['http://255.255.255.255', 'a broadcast address'],
  ['http://4294967295', 'a broadcast address'],
  ['http://240.0.0.1', 'a reserved address'],
  ['http://[2001:db8::1]', 'a documentation address'],
  ['http://[ff02::1]', 'a multicast address'],
  ['http://[100::1]', 'a reserved address'],
  // Hosts hidden behind a login that looks like another host
  ['http://example.com@127.0.0.1', 'a user name or password'],
  ['http://127.0.0.1:80@example.com', 'a user name or password'],
  ['http://example.com:80@127.0.0.1/', 'a user name or password'],
  ['http://:secret@example.com', 'a user name or password'],
  ['http://1.1.1.1 &@2.2.2.2# @3.3.3.3/', 'a user name or password'],
  // Other schemes
  ['file:///etc/passwd', 'scheme "file:"'],
  ['ftp://example.com', 'scheme "ftp:"'],
  ['gopher://example.com', 'scheme "gopher:"'],
  ['data:text/plain,hello', 'scheme "data:"'],
  ['javascript:alert(1)', 'scheme "javascript:"'],
  ['ws://example.com', 'scheme "ws:"'],
  ['blob:http://example.com/1', 'scheme "blob:"'],
  ['//example.com', 'Invalid URL'],
  ['example.com', 'Invalid URL'],
  ['', 'Invalid URL'],
  // Invalid URLs
  ['http://', 'Invalid URL'],
  ['http://.', 'no host'],
  ['http://..', 'no host'],
  ['http://256.0.0.1', 'Invalid URL'],
  ['http://1.2.3.4.5', 'Invalid URL'],
  ['http://4294967296', 'Invalid URL'],
  ['http://[fe80::1%25eth0]', 'Invalid URL'],
  ['http://[fe80::1%eth0]', 'Invalid URL'],
  ['http://[127.0.0.1]', 'Invalid URL'],
  ['http://127.0.0.1%00.example.com', 'Invalid URL'],
  ['http://exa mple.com', 'Invalid URL'],
  ['http://example.com:99999', 'Invalid URL'],
]

/** Allowed URLs, each with its canonical form. */
const ALLOWED: readonly (readonly [string, string])[] = [
  ['http://example.com', 'http://example.com/'],
  ['https://example.com:8443/a?b=c#d', 'https://example.com:8443/a?b=c#d'],
  ['HTTPS://EXAMPLE.com./', 'https://example.com./'],
  ['http://8.8.8.8', 'http://8.8.8.8/'],
  ['http://0x8.0x8.010.8', 'http://8.8.8.8/'],
  ['http://134744072', 'http://8.8.8.8/'],
  ['http://[2606:4700:4700::1111]', 'http://[2606:4700:4700::1111]/'],
  ['http://[::ffff:8.8.8.8]', 'http://[::ffff:808:808]/'],
  ['http://[64:ff9b::8.8.8.8]', 'http://[64:ff9b::808:808]/'],
  ['http://172.32.0.1', 'http://172.32.0.1/'],
  ['http://bücher.example', 'http://xn--bcher-kva.example/'],
  ['http://127.0.0.1.nip.io', 'http://127.0.0.1.nip.io/'],
  ['http://example.com/@127.0.0.1', 'http://example.com/@127.0.0.1'],
  ['http://example.com#@127.0.0.1', 'http://example.com/#@127.0.0.1'],
]

describe('assertUrl', () => {
  const { assertUrl } = networkGuard()

  it.each(REFUSED)('[NET-G1] [NET-G2] assertUrl refuses %j: %s', (url, reason) => {
    const error = refusalOf(() => assertUrl(url))
    expect(error).toMatchObject({ code: 'TOOL_FAILED', retryable: false })
    expect(error.message).toContain(reason)
  })

  it.each(ALLOWED)('assertUrl allows %j as %s', (url, href) => {
    expect(assertUrl(url).href).toBe(href)
    expect(assertUrl(new URL(url)).href).toBe(href)
  })

  it('[NET-G1] assertUrl refuses every port that browsers block, on any host', () => {
    expect(BAD_PORTS.size).toBeGreaterThan(80)
    for (const port of [0, 22, 25, 6667, 10_080]) expect(BAD_PORTS).toContain(port)
    for (const port of [80, 443, 3000, 8080, 8443]) expect(BAD_PORTS).not.toContain(port)
    for (const port of BAD_PORTS) {
      const { message } = refusalOf(() => assertUrl(`http://example.com:${port}`))
      expect(message).toBe(
        `Refused to connect to port ${port} of "example.com": it is a port of a protocol other than HTTP; the author of the tool can allow it with allow: ['example.com:${port}']`,
      )
    }
  })

  it('[NET-G5] assertUrl names the refused address and host, and how to allow them', () => {
    const error = refusalOf(() => assertUrl('http://10.0.0.5'))
    expect(error.message).toBe(
      `Refused to connect to "10.0.0.5": it is a private address; the author of the tool can allow it with allow: ['10.0.0.5']`,
    )
    expect(error.details).toEqual({ host: '10.0.0.5', address: '10.0.0.5' })
    const { message } = refusalOf(() => assertUrl('http://[::1]:25'))
    expect(message).toContain(`allow: ['[::1]:25']`)
  })

  it.each([
    'http://user:hunter2@example.com/',
    'http://user:hunter2@exa mple.com/',
    'http://exa mple.com/?key=hunter2',
    'http://exa mple.com/#hunter2',
  ])('[NET-G5] assertUrl never quotes a password or a query: %s', (url) => {
    expect(refusalOf(() => assertUrl(url)).message).not.toContain('hunter2')
  })

  it('[NET-G5] assertUrl quotes the start of an invalid URL', () => {
    expect(refusalOf(() => assertUrl('example.com/a')).message).toBe('Invalid URL "example.com/a"')
    expect(refusalOf(() => assertUrl('x'.repeat(5000))).message).toHaveLength(214)
  })
})

describe('assertUrl with rules', () => {
  it.each([
    ['localhost', 'http://localhost:1234'],
    ['localhost', 'http://LOCALHOST.:1234'],
    ['localhost', 'http://localhost:25'],
    ['localhost:8080', 'http://localhost:8080'],
    ['example.com:80', 'http://example.com'],
    ['example.com:443', 'https://example.com'],
    ['example.com:25', 'http://example.com:25'],
    ['10.0.0.5', 'http://10.0.0.5:9999'],
    ['10.0.0.5', 'http://0xa.5'],
    ['10.0.0.5:8080', 'http://10.0.0.5:8080'],
    ['[::1]:81', 'http://[0::1]:81'],
    ['::1', 'https://[::1]'],
    ['192.168.0.0/16', 'http://192.168.7.7'],
    ['127.0.0.1', 'http://[::ffff:7f00:1]'],
  ])('[NET-G4] %s allows %s', (rule, url) => {
    expect(networkGuard({ allow: [rule] }).assertUrl(url)).toBeInstanceOf(URL)
  })

  it.each([
    ['localhost:8080', 'http://localhost:8081'],
    ['localhost:8080', 'http://localhost'],
    ['example.com:8443', 'https://example.com'],
    ['10.0.0.5:8080', 'http://10.0.0.5'],
    ['10.0.0.5', 'http://10.0.0.6'],
    ['10.0.0.5', 'ftp://10.0.0.5'],
    ['10.0.0.5', 'http://u:p@10.0.0.5'],
    ['localhost', 'http://127.0.0.1'],
    ['127.0.0.1', 'http://[::1]'],
    ['192.168.0.0/16', 'http://10.0.0.1'],
    ['::1', 'http://127.0.0.1'],
  ])('[NET-G4] %s does not allow %s', (rule, url) => {
    refusalOf(() => networkGuard({ allow: [rule] }).assertUrl(url))
  })

  it('[NET-G4] [NET-G5] assertUrl with rules names the ports on which a host is allowed', () => {
    const { assertUrl } = networkGuard({ allow: ['localhost:80', 'localhost:8080'] })
    expect(refusalOf(() => assertUrl('http://localhost:81')).message).toBe(
      'Refused to connect to port 81 of "localhost"; allowed ports: 80, 8080',
    )
  })

  it('assertUrl refuses invalid rules at creation', () => {
    expect(() => networkGuard({ allow: ['http://x'] })).toThrow(TypeError)
  })
})

describe('lookup', () => {
  it('[NET-G3] `lookup` returns the addresses of a name in their order', async () => {
    const guard = guardOver({ 'a.example': ['8.8.8.8', '2606:4700::1', '1.1.1.1'] })
    expect(await lookup(guard, 'a.example', { all: true })).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
      { address: '1.1.1.1', family: 4 },
    ])
    expect(await lookup(guard, 'A.example.', {})).toEqual({ address: '8.8.8.8', family: 4 })
  })

  it('[NET-G3] `lookup` skips refused addresses', async () => {
    const guard = guardOver({
      'a.example': ['127.0.0.1', '8.8.8.8', '::1', 'fd00::1', '::ffff:10.0.0.1', 'nonsense'],
    })
    expect(await lookup(guard, 'a.example', { all: true })).toEqual([
      { address: '8.8.8.8', family: 4 },
    ])
    expect(await lookup(guard, 'a.example', {})).toEqual({ address: '8.8.8.8', family: 4 })
  })

  it('[NET-G3] [NET-G5] `lookup` refuses a name that has only refused addresses', async () => {
    const guard = guardOver({ 'intranet.example': ['10.0.0.5', '::1'] })
    await expect(lookup(guard, 'Intranet.example', { all: true })).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      retryable: false,
      message: `Refused to connect to "intranet.example": it resolves to 10.0.0.5, a private address; the author of the tool can allow it with allow: ['intranet.example']`,
      details: { host: 'intranet.example', address: '10.0.0.5' },
    })
  })

  it.each(['169.254.169.254', '127.0.0.1', '::1', '::ffff:127.0.0.1', 'fe80::1%eth0', '0.0.0.0'])(
    '[NET-G2] `lookup` refuses a name that resolves to %s',
    async (address) => {
      const guard = guardOver({ 'a.example': [address] })
      await expect(lookup(guard, 'a.example', {})).rejects.toThrow('Refused to connect')
    },
  )

  it('[NET-G3] `lookup` returns only addresses of the requested family', async () => {
    const guard = guardOver({
      'a.example': ['2606:4700::1', '8.8.8.8'],
      'six.example': ['2606::1'],
    })
    const four = [{ address: '8.8.8.8', family: 4 }]
    const six = [{ address: '2606:4700::1', family: 6 }]
    expect(await lookup(guard, 'a.example', { all: true, family: 4 })).toEqual(four)
    expect(await lookup(guard, 'a.example', { all: true, family: 'IPv4' })).toEqual(four)
    expect(await lookup(guard, 'a.example', { all: true, family: 6 })).toEqual(six)
    expect(await lookup(guard, 'a.example', { all: true, family: 'IPv6' })).toEqual(six)
    expect(await lookup(guard, 'a.example', { all: true, family: 0 })).toEqual([...six, ...four])
    await expect(lookup(guard, 'six.example', { family: 4 })).rejects.toMatchObject({
      code: 'ENOTFOUND',
    })
  })

  it('`lookup` rejects with the error of the resolver', async () => {
    await expect(lookup(guardOver({}), 'gone.example', {})).rejects.toMatchObject({
      code: 'ENOTFOUND',
    })
    const empty = guardOver({ 'empty.example': [] })
    await expect(lookup(empty, 'empty.example', { all: true })).rejects.toMatchObject({
      code: 'ENOTFOUND',
      message: 'lookup ENOTFOUND empty.example',
    })
  })

  it('[NET-G4] `lookup` returns every address of a host that a rule names', async () => {
    const names = { 'api.internal': ['10.0.0.5', '::1', 'nonsense'] }
    for (const rule of ['api.internal', 'api.internal:8080']) {
      const guard = guardOver(names, [rule])
      expect(await lookup(guard, 'API.internal.', { all: true })).toEqual([
        { address: '10.0.0.5', family: 4 },
        { address: '::1', family: 6 },
      ])
    }
  })

  it('[NET-G4] `lookup` returns addresses that a rule or block allows, for any name', async () => {
    const names = { 'a.example': ['10.0.0.5', '10.0.0.6', '192.168.1.1'] }
    const guard = guardOver(names, ['10.0.0.5', '192.168.0.0/16', '10.0.0.6:80'])
    expect(await lookup(guard, 'a.example', { all: true })).toEqual([
      { address: '10.0.0.5', family: 4 },
      { address: '192.168.1.1', family: 4 },
    ])
  })

  it('[NET-G2] `lookup` does not call the resolver for an address', async () => {
    const guard = guardOver({ '127.0.0.1': ['8.8.8.8'] })
    await expect(lookup(guard, '127.0.0.1', {})).rejects.toThrow('a loopback address')
    expect(await lookup(guard, '1.1.1.1', {})).toEqual({ address: '1.1.1.1', family: 4 })
  })

  it('`lookup` uses the resolver of the system by default', async () => {
    const guard = networkGuard({ allow: ['localhost'] })
    const found = await lookup(guard, 'localhost', { all: true })
    expect(found).toContainEqual({ address: '127.0.0.1', family: 4 })
    await expect(lookup(networkGuard(), 'localhost', {})).rejects.toThrow('a loopback address')
  })
})

/** macOS has only one loopback address. */
const hasLoopbackBlock = process.platform !== 'darwin'

describe.runIf(hasLoopbackBlock)('a real connection', () => {
  it('[NET-G3] A real connection uses the checked address, even if the name resolves differently the next time', async () => {
    const inside = await localServer((response) => response.end('inside'))
    const outside = await localServer((response) => response.end('outside'), '127.0.0.2')
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']]
    let lookups = 0
    const { lookup } = networkGuard({
      allow: ['127.0.0.2'],
      resolve: () => Promise.resolve(answers[lookups++] ?? []),
    })
    const first = await get(`http://rebind.example:${outside.port}`, lookup)
    expect(first).toBe('outside')
    expect(lookups).toBe(1)
    await expect(get(`http://rebind.example:${inside.port}`, lookup)).rejects.toThrow(
      'it resolves to 127.0.0.1, a loopback address',
    )
    expect(lookups).toBe(2)
    expect(inside.connections).toBe(0)
  })

  it('[NET-G3] A real connection is opened only to allowed addresses', async () => {
    const inside = await localServer((response) => response.end('inside'))
    const { lookup } = networkGuard({
      allow: ['127.0.0.3'],
      resolve: () => Promise.resolve(['127.0.0.1', '127.0.0.3', '::1']),
    })
    // No server listens on 127.0.0.3, and the server on 127.0.0.1 gets no connection.
    await expect(get(`http://both.example:${inside.port}`, lookup)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      address: '127.0.0.3',
    })
    expect(inside.connections).toBe(0)
  })
})

function refusalOf(ask: () => unknown): TuttiError {
  try {
    ask()
  } catch (error) {
    if (TuttiError.isInstance(error)) return error
    throw error
  }
  throw new Error('It was not refused')
}

function guardOver(
  names: Record<string, readonly string[]>,
  allow: readonly string[] = [],
): NetworkGuard {
  const resolve: ResolveHost = async (host) => {
    const found = names[host]
    if (found === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return found
  }
  return networkGuard({ allow, resolve })
}

function lookup(
  guard: NetworkGuard,
  host: string,
  options: LookupOptions,
): Promise<LookupAddress | LookupAddress[]> {
  return new Promise((resolve, reject) => {
    guard.lookup(host, options, (error, address, family) => {
      if (error !== null) reject(error)
      else resolve(typeof address === 'string' ? { address, family: family ?? 0 } : address)
    })
  })
}

function get(url: string, lookup: NetworkGuard['lookup']): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { lookup, agent: false }, (response) => {
      response.setEncoding('utf8')
      response.on('data', resolve)
    })
    request.on('error', reject)
  })
}
