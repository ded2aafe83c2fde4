/** The same story in Node and in a real page of another origin, with a key and a list of origins. */
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

describe('the story', { timeout: LIMIT_MS }, () => {
  it('in Node', async () => {
    await using api = await keyedStage()
    expect(await tellStory({ baseUrl: api.url, apiKey: KEY, ...controls(api) })).toEqual(END)
    expect(api.drains).toBe(1)
  })

  it('in a page of another origin that is on the list', async () => {
    await using site = await pageServer()
    await using api = await keyedStage([site.origin])
    await inPage(site.origin, async (page) => {
      for (const [name, control] of Object.entries(controls(api))) {
        await page.exposeFunction(name, control)
      }
      await page.evaluate('globalThis.controls = { cut, play, untilWaiting }')
      expect(await storyIn(page, api)).toEqual(END)
    })
    expect(api.drains).toBe(1)
  })

  it('does not begin in a page that is not on the list', async () => {
    await using site = await pageServer()
    await using api = await keyedStage(['http://other.localhost:1'])
    await inPage(site.origin, async (page) => {
      await expect(storyIn(page, api)).rejects.toThrow('Failed to fetch')
    })
    expect(await createClient({ baseUrl: api.url, apiKey: KEY }).runs.list()).toMatchObject({
      total: 0,
    })
  })
})

function keyedStage(allowedOrigins: readonly string[] = []): Promise<ClientServer> {
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
 * Serves the story under a name of this machine that is no other name of the API's: browsers take every
 * name below `localhost` for this machine, the server does not.
 */
async function pageServer(): Promise<AsyncDisposable & { readonly origin: string }> {
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

async function inPage(origin: string, visit: (page: Page) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${origin}/`)
    await visit(page)
  } finally {
    await browser.close()
  }
}

function storyIn(page: Page, api: ClientServer): Promise<unknown> {
  const [baseUrl, apiKey] = [JSON.stringify(api.url), JSON.stringify(KEY)]
  // As text: the runner of the tests would put names of its own into a function.
  return page.evaluate(`
    import('/story.js').then(({ tellStory }) =>
      tellStory({ baseUrl: ${baseUrl}, apiKey: ${apiKey}, ...globalThis.controls }))`)
}
