/** Visiting many runs leaks no sockets, listeners, elements or events. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page, WebSocket } from 'playwright-core'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
})

/** Turns of a run; its events would take some megabytes if they were retained. */
const TURNS = 60
const PAGE = 'All of it was read before, and is read again. '.repeat(40)

/** Visits before the first measurement, during which modules are loaded. */
const WARM_UP = 4
const VISITS = 20

/** Runs that wait in their last turn, so that their pages keep their sockets. */
async function openLibrary() {
  const closing = Promise.withResolvers<void>()
  const read = defineTool({
    name: 'read',
    description: 'Reads a page',
    input: Type.Object({ page: Type.Integer() }),
    // Keep the runs active during the test, however slow the machine is.
    timeoutMs: 600_000,
    async execute({ page }) {
      if (page === TURNS) await closing.promise
      return `Page ${page}: ${PAGE}`
    },
  })
  const model = scriptedModel(({ messages }) => {
    const page = messages.filter(({ role }) => role === 'assistant').length + 1
    return { text: `Page ${page} comes. `, toolCalls: [{ name: 'read', arguments: { page } }] }
  })
  const study = task({
    name: 'study',
    description: 'Study {book}',
    tools: [read],
    maxIterations: TURNS + 5,
  })
  const stage = await openDashboard({
    ensembles: [ensemble({ name: 'study', tasks: [study], model })],
  })
  return {
    stage,
    async [Symbol.asyncDispose]() {
      closing.resolve()
      await stage[Symbol.asyncDispose]()
    },
  }
}

async function start({ client }: ServedDashboard, book: string): Promise<string> {
  const { runId } = await client.runs.submit({ ensemble: 'study', inputs: { book } })
  for await (const event of client.runs.events(runId)) {
    if (event.type === 'llm_iteration_completed' && event.iterationIndex === TURNS - 1) break
  }
  return runId
}

/** Opens a run, waits until all of it is shown, then opens the list of runs. */
async function lookAt(page: Page, runId: string): Promise<void> {
  await page.evaluate((id) => {
    location.hash = `#/runs/${id}`
  }, runId)
  const name = `Model call ${TURNS}`
  await page.getByRole('article', { name, exact: true }).waitFor()
  await page.evaluate(() => {
    location.hash = '#/runs'
  })
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
}

interface Held {
  readonly heapMiB: number
  readonly listeners: number
  readonly elements: number
}

/** Measures what the page retains after garbage collection. */
async function held(page: Page): Promise<Held> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { jsEventListeners, nodes } = await session.send('Memory.getDOMCounters')
  await session.detach()
  return { heapMiB: usedSize / 1024 / 1024, listeners: jsEventListeners, elements: nodes }
}

describe('a reader who visits many runs', { timeout: 180_000 }, () => {
  it('A reader who visits many runs leaks no socket, listener, element or event', async () => {
    await using library = await openLibrary()
    const { stage } = library
    const runIds = await Promise.all(['one', 'two'].map((book) => start(stage, book)))
    await visit(browser, 'about:blank', {
      async use({ page, complaints }) {
        const sockets: WebSocket[] = []
        page.on('websocket', (socket) => sockets.push(socket))
        await page.goto(stage.url)
        await page.getByRole('heading', { name: 'Runs' }).waitFor()
        const open = (): number => sockets.filter((socket) => !socket.isClosed()).length
        const look = async (count: number): Promise<void> => {
          for (let at = 0; at < count; at += 1) await lookAt(page, runIds[at % 2] ?? '')
        }

        await look(WARM_UP)
        const before = await held(page)
        await look(VISITS)
        const after = await held(page)

        // Each visit had one socket; the remaining one is the feed of all runs.
        expect(sockets.length).toBeGreaterThan(WARM_UP + VISITS)
        await expect.poll(open).toBe(1)
        expect(after.heapMiB - before.heapMiB).toBeLessThan(3)
        expect(after.listeners - before.listeners).toBeLessThan(VISITS)
        expect(after.elements - before.elements).toBeLessThan(VISITS * 10)
        expect(complaints).toEqual([])
      },
    })
  })
})
