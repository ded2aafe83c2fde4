import zlib from 'node:zlib'

import { runTool, toModelText, toolContext, type ToolResult } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { localServer, type LocalServer } from '../../../../../tooling/test-kit/local-server.ts'
import { webScrape } from './web-scrape.ts'

import type { WebScrapeOptions } from './options.ts'

const SENTENCE = 'This is a sentence of an article, long enough to be taken for one. '
const PAGE = `<html><head><title>A page about nothing much</title></head><body><nav>Home</nav>
  <article><p>${SENTENCE.repeat(10)}</p><p>See <a href="/more">more</a>.</p></article></body></html>`

describe('web_scrape', () => {
  it('web_scrape returns the title and the readable text of a page', async () => {
    const server = await serve('text/html; charset=utf-8', PAGE)
    const result = await scrape(`${server.origin}/a?b`)
    const text = `${SENTENCE.repeat(10).trim()}\n\nSee more.`
    expect(result).toEqual({
      success: true,
      output: `A page about nothing much\n\n${text}`,
      structured: {
        url: `${server.origin}/a?b`,
        title: 'A page about nothing much',
        text,
        truncated: false,
      },
    })
  })

  it('web_scrape sends its user agent and the accepted types', async () => {
    const server = await serve('text/plain', 'x')
    await scrape(server.origin)
    expect(server.requests[0]?.headers).toMatchObject({
      'user-agent': 'Mozilla/5.0 (compatible; Tutti)',
      accept: expect.stringContaining('text/html'),
      'accept-encoding': 'gzip, br',
    })
  })

  it('web_scrape has its name and checks its schema', async () => {
    const server = await serve('text/plain', 'hello')
    const tool = webScrape({ allow: ['127.0.0.1'] })
    const call = (args: unknown): Promise<string> =>
      runTool(tool, { id: '1', name: tool.name, arguments: JSON.stringify(args) }).then(
        ({ result }) => toModelText(result),
      )
    expect(tool).toMatchObject({ name: 'web_scrape', kind: 'typed', timeoutMs: 20_000 })
    expect(await call({ url: ` ${server.origin} ` })).toBe('hello')
    expect(await call({})).toBe('Error: Invalid input for "web_scrape": /url is required')
    expect(await call({ url: ' ' })).toBe('Error: URL must not be blank')
  })

  it('web_scrape adds the targets of links when configured', async () => {
    const server = await serve('text/html', PAGE)
    const { output } = await scrape(server.origin, { links: true })
    expect(output).toContain(`See more (${server.origin}/more).`)
  })

  it('web_scrape shortens a title that is too long', async () => {
    const server = await serve('text/html', `<title>${'t'.repeat(100_000)}</title><p>you`)
    const { output, structured } = await scrape(server.origin)
    expect(output).toBe(`${'t'.repeat(300)}…\n\nyou`)
    expect(structured).toMatchObject({ title: `${'t'.repeat(300)}…` })
  })

  it('web_scrape does not repeat a title that starts the text', async () => {
    const server = await serve('text/html', '<title>Hello</title><h1>Hello</h1><p>you')
    expect((await scrape(server.origin)).output).toBe('Hello\n\nyou')
  })
})

describe('the content type', () => {
  it.each([
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe9, 0x20]), 'é'],
    ['text/markdown', '# Title\n\n- a', '# Title\n\n- a'],
    ['application/json', ' {"a": [1,  2]}\n', '{"a": [1,  2]}'],
    ['application/ld+json', '{}', '{}'],
    ['application/problem+json; charset=utf-8', '{}', '{}'],
    ['application/xml', '<a>b</a>', '<a>b</a>'],
    ['application/rss+xml', '<rss>b</rss>', '<rss>b</rss>'],
    ['Text/CSV', 'a,b', 'a,b'],
    ['', 'just text', 'just text'],
  ])('web_scrape returns %s as unchanged text', async (type, body, text) => {
    const server = await serve(type, body)
    expect((await scrape(server.origin)).output).toBe(text)
  })

  it.each(['application/xhtml+xml', 'TEXT/HTML;charset=UTF-8', ''])(
    'web_scrape detects a page with the content type %j',
    async (type) => {
      const server = await serve(type, '\n<!DOCTYPE html><p>a</p><p>caf&eacute;')
      expect((await scrape(server.origin)).output).toBe('a\n\ncafé')
    },
  )

  it.each([
    'application/pdf',
    'image/png',
    'application/octet-stream',
    'video/mp4',
    'application/zip',
  ])('web_scrape refuses the content type %s by name', async (type) => {
    const server = await serve(type, '%PDF-1.7')
    expect(await scrape(server.origin)).toMatchObject({
      success: false,
      errorMessage: `Failed to fetch URL: cannot read "${type}" from ${server.origin}/`,
    })
  })

  it('web_scrape refuses a body without a type that is not text', async () => {
    const server = await serve('', Buffer.from([0x50, 0x4b, 0, 0]))
    expect((await scrape(server.origin)).errorMessage).toContain('"application/octet-stream"')
  })

  it('The content type is detected in a compressed body', async () => {
    const server = await localServer((response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
      response.end(zlib.gzipSync('<p>plain'))
    })
    expect((await scrape(server.origin)).output).toBe('plain')
  })
})

describe('the limits of web_scrape', () => {
  it('[TOOLS-W2] The limits of web_scrape on the text are stated with its length', async () => {
    const server = await serve('text/plain', 'x'.repeat(6000))
    const result = await scrape(server.origin)
    const text = `${'x'.repeat(5000)}\n[truncated: 6000 characters in full]`
    expect(result.output).toBe(text)
    expect(result.structured).toEqual({ url: `${server.origin}/`, text, truncated: true })
    expect((await scrape(server.origin, { maxChars: 6000 })).output).toHaveLength(6000)
    expect((await scrape(server.origin, { maxChars: -1 })).output).toHaveLength(6000)
    expect((await scrape(server.origin, { maxChars: 2 })).output).toBe(
      'xx\n[truncated: 6000 characters in full]',
    )
  })

  it('[TOOLS-W2] The limits of web_scrape on the bytes are stated, and characters stay whole', async () => {
    const server = await serve('text/plain', 'aé'.repeat(10))
    const result = await scrape(server.origin, { maxBytes: 5 })
    expect(result.output).toBe('aéa\n[only the first 5 bytes of the page were read]')
    expect(result.structured).toMatchObject({ text: 'aéa', truncated: true })
    expect((await scrape(server.origin, { maxBytes: 30 })).output).toBe('aé'.repeat(10))
  })

  it('[TOOLS-W2] The limits of web_scrape on the bytes apply to a page that never ends', async () => {
    const server = await localServer((response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write('<title>T</title>')
      const more = (): void => {
        while (response.write('<p>and on</p>'));
      }
      response.on('drain', more)
      more()
    })
    const { output } = await scrape(server.origin, { maxBytes: 50_000, maxChars: 30 })
    expect(output).toMatch(
      /^T\n\nand on\n\nand on\n\nand on\n\nand on\n\[truncated: \d+ characters in full\]\n\[only the first 50000 bytes of the page were read\]$/,
    )
  })

  it('[TOOLS-W3] The limits of web_scrape on the time cause a failure with the limit', async () => {
    const server = await localServer((response) => {
      response.write('begun')
    })
    expect((await scrape(server.origin, { timeoutMs: 50 })).errorMessage).toBe(
      `Failed to fetch URL: Request to ${server.origin} timed out after 50 ms`,
    )
  })

  it('The limits of web_scrape that are invalid are named together at creation', () => {
    expect(() => webScrape({ maxBytes: 0, maxChars: 1.5, maxRedirects: -1, timeoutMs: 0 })).toThrow(
      new RangeError(
        'Cannot define tool "web_scrape": maxBytes must be an integer >= 1, got 0; maxChars must be an integer, got 1.5; maxRedirects must be an integer >= 0, got -1; timeoutMs must be > 0, got 0',
      ),
    )
    expect(() => webScrape({ allow: ['http://x'] })).toThrow('Cannot allow "http://x"')
  })
})

describe('a page that cannot be read', () => {
  it.each([304, 400, 401, 404, 429, 500, 503])(
    '[TOOLS-W3] A page that cannot be read is a failure with its status: HTTP %i',
    async (status) => {
      const server = await localServer((response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end()
      })
      expect((await scrape(`${server.origin}/a`)).errorMessage).toBe(
        `Failed to fetch URL: HTTP ${status} from ${server.origin}/a`,
      )
    },
  )

  it('[TOOLS-W3] A page that cannot be read is reported when it is empty', async () => {
    const server = await serve('text/html', '<title></title><script>app()</script>')
    expect((await scrape(server.origin)).output).toBe('[no text found]')
  })

  it.each([
    ['not a url', 'Invalid URL "not a url"'],
    ['file:///etc/passwd', 'only http: and https: are allowed'],
    ['http://169.254.169.254/latest/meta-data/', 'a cloud metadata address'],
    ['http://2130706433/', 'a loopback address'],
    ['http://[::ffff:10.0.0.1]/', 'a private address'],
    ['http://user:pass@example.com/', 'a user name or password'],
  ])('[TOOLS-W1] [TOOLS-W3] A page that cannot be read is refused at %s', async (url, reason) => {
    const { errorMessage = '' } = await webScrape().execute({ url }, toolContext()).then(resultOf)
    expect(errorMessage).toContain('Failed to fetch URL: ')
    expect(errorMessage).toContain(reason)
  })

  it('[TOOLS-W1] A page that cannot be read is refused on this machine unless it is allowed', async () => {
    const server = await serve('text/plain', 'secret')
    const result = resultOf(await webScrape().execute({ url: server.origin }, toolContext()))
    expect(result.errorMessage).toContain(`allow: ['127.0.0.1']`)
    expect(server.requests).toEqual([])
  })

  it('[TOOLS-W1] A page that cannot be read is refused at a name that resolves to this machine', async () => {
    const server = await serve('text/plain', 'secret')
    const tool = webScrape({ resolve: () => Promise.resolve(['127.0.0.1']) })
    const url = server.origin.replace('127.0.0.1', 'rebind.example')
    const result = resultOf(await tool.execute({ url }, toolContext()))
    expect(result.errorMessage).toContain('it resolves to 127.0.0.1, a loopback address')
    expect(server.requests).toEqual([])
  })

  it.each(['http://169.254.169.254/', 'http://[::ffff:127.0.0.2]/', 'http://0x7f000002/'])(
    '[TOOLS-W1] A page that cannot be read is refused after a redirect to %s',
    async (location) => {
      const server = await localServer((response) => {
        response.writeHead(302, { location }).end()
      })
      expect((await scrape(server.origin)).errorMessage).toContain('Refused to connect to')
    },
  )

  it('[TOOLS-W3] A page that cannot be read is a failure after too many redirects', async () => {
    const server = await localServer((response) => {
      response.writeHead(302, { location: '/' }).end()
    })
    expect((await scrape(server.origin, { maxRedirects: 1 })).errorMessage).toBe(
      `Failed to fetch URL: Request to ${server.origin} failed: more than 1 redirects`,
    )
  })

  it('[TOOLS-W3] A page that cannot be read is no longer fetched when the call ends', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const server = await localServer((response) => {
      response.on('close', close)
      resolve()
    })
    const caller = new AbortController()
    const tool = webScrape({ allow: ['127.0.0.1'] })
    const args = JSON.stringify({ url: server.origin })
    const running = runTool(
      tool,
      { id: '1', name: tool.name, arguments: args },
      { signal: caller.signal },
    )
    await asked
    caller.abort()
    expect(await running).toMatchObject({ end: 'cancelled' })
    await closed
  })
})

function serve(type: string, body: string | Buffer): Promise<LocalServer> {
  return localServer((response) => {
    response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body)
  })
}

async function scrape(url: string, options: WebScrapeOptions = {}): Promise<ToolResult> {
  const tool = webScrape({ allow: ['127.0.0.1'], ...options })
  return resultOf(await tool.execute({ url }, toolContext()))
}

function resultOf(returned: unknown): ToolResult {
  // NOTE: the body of this tool returns only results.
  return returned as ToolResult
}
