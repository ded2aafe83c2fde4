/** Runs the same client story in Node and in a real cross-origin page, with a key and allowed origins. */
import { once } from 'node:events'
import { createServer } from 'node:http'

import { createClient } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { bundleStory } from '../../../packages/client/test/browser/bundle-story.ts'
import { tellStory, type StoryEnd } from '../../../packages/client/test/browser/story.ts'
import { ADMIN, KEY, openClientServer, type ClientServer } from './client-server.ts'

import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

const LIMIT_MS = 20_000

const END: StoryEnd = {
  refused: ['BAD_REQUEST', ['/runId']],
  cancelled: 'CANCELLED',
  followed: {
    told: ['open', 'reconnecting', 'open', 'closed'],
    isWhole: true,
    isSame: true,
    last: 'run_result',
    outputs: [
      { taskName: 'tune', output: 'All instruments are in tune, says small' },
      { taskName: 'play', output: 'It was played in full, says small' },
    ],
  },
  reviewed: { status: 'COMPLETED', outputs: [{ taskName: 'decide', output: 'Better' }] },
  tool: { tool: 'add', status: 'SUCCESS', output: '5' },
  listed: 1,
  drained: { status: 'DRAINING' },
}

describe('the client story', { timeout: LIMIT_MS }, () => {
  it('The client works in Node', async () => {
    await using api = await startKeyedServer()
    expect(await tellStory({ baseUrl: api.url, apiKey: KEY, ...controls(api) })).toEqual(END)
    expect(api.drains).toBe(1)
  })

  it('The client works in a page of an allowed origin', async () => {
    await using site = await servePage()
    await using api = await startKeyedServer([site.origin])
    await visitPage(site.origin, async (page) => {
      for (const [name, control] of Object.entries(controls(api))) {
        await page.exposeFunction(name, control)
      }
      await page.evaluate('globalThis.controls = { cut, play, untilWaiting }')
      expect(await runStoryIn(page, api)).toEqual(END)
    })
    expect(api.drains).toBe(1)
  })

  it('The client fails in a page of another origin', async () => {
    await using site = await servePage()
    await using api = await startKeyedServer(['http://other.localhost:1'])
    await visitPage(site.origin, async (page) => {
      await expect(runStoryIn(page, api)).rejects.toThrow('Failed to fetch')
    })
    expect(await createClient({ baseUrl: api.url, apiKey: KEY }).runs.list()).toMatchObject({
      total: 0,
    })
  })
})

function startKeyedServer(allowedOrigins: readonly string[] = []): Promise<ClientServer> {
  return openClientServer({ apiKeys: [ADMIN], allowedOrigins })
}

function controls({ cut, play, untilWaiting }: ClientServer) {
  return {
    cut: () => Promise.resolve(cut()),
    play: () => Promise.resolve(play()),
    untilWaiting,
  }
}

/**
 * Serves the story under a host name that is not one of the API: browsers resolve every name below `localhost` to this
 * machine, the server does not accept it.
 */
async function servePage(): Promise<AsyncDisposable & { readonly origin: string }> {
  const script = await bundleStory()
  const server = createServer((request, response) => {
    const isScript = request.url === '/story.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>Story</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // NOTE: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://app.localhost:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function visitPage(origin: string, visit: (page: Page) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${origin}/`)
    await visit(page)
  } finally {
    await browser.close()
  }
}

function runStoryIn(page: Page, api: ClientServer): Promise<unknown> {
  const [baseUrl, apiKey] = [JSON.stringify(api.url), JSON.stringify(KEY)]
  // As text, because the test runner would insert its names into a function.
  return page.evaluate(`
    import('/story.js').then(({ tellStory }) =>
      tellStory({ baseUrl: ${baseUrl}, apiKey: ${apiKey}, ...globalThis.controls }))`)
}
