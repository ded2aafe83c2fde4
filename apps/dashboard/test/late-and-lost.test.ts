/** Readers who join late or lose the connection see the same as others. Each page reads the stored events over HTTP once. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { conductedModel } from './paced-model.ts'
import {
  launchBrowser,
  openDashboard,
  visit,
  type ServedDashboard,
  type Visit,
} from './open-dashboard.ts'

import type { TuttiClient } from '@tutti/client'
import type { Browser, Locator, Page } from 'playwright-core'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
})

async function openHall() {
  const model = conductedModel()
  const count = defineTool({
    name: 'count',
    description: 'Counts bars',
    input: Type.Object({ bars: Type.Integer() }),
    execute: ({ bars }) => `${bars} bars`,
  })
  const open = task({ name: 'open', description: 'Open', tools: [count] })
  const close = task({ name: 'close', description: 'Close', context: [open] })
  const stage: ServedDashboard = await openDashboard({
    ensembles: [ensemble({ name: 'piece', tasks: [open, close], model })],
    models: { conducted: model },
  })
  const { runId } = await stage.client.runs.submit({ ensemble: 'piece' })
  const look = (use: (seen: Visit) => Promise<void>, place = ''): Promise<void> =>
    visit(browser, `${stage.url}/#/runs/${runId}${place}`, {
      // High enough for all rows to be in view.
      viewport: { width: 1440, height: 2000 },
      use,
    })
  return { stage, model, runId, look, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

function work(page: Page, taskName: string): Locator {
  return page.getByRole('list', { name: `Work of ${taskName}` })
}

/** Returns the text of a model that the server has stored. */
async function readServerText(client: TuttiClient, runId: string, taskName: string) {
  const { lastSeq } = await client.runs.get(runId)
  let words = ''
  for await (const event of client.runs.events(runId)) {
    if (event.type === 'token' && event.taskName === taskName) words += event.token
    if (event.seq === lastSeq) break
  }
  return words
}

/** Returns the requests of a page for a run. */
function listRequests({ requests }: Visit, runId: string): readonly string[] {
  return requests.filter((one) => one.includes(runId))
}

/** Requests for the stored events and for the newest one, where they end. */
function eventRequests(runId: string): readonly string[] {
  return Array.from({ length: 2 }, () => `GET /api/runs/${runId}/events`)
}

/** Waits until two pages show the same for the first task, except for running times. */
async function alike(one: Page, other: Page): Promise<void> {
  const read = (page: Page): Promise<string> => work(page, 'open').innerText()
  const compare = async (): Promise<string> => {
    const [first, second] = await Promise.all([one, other].map(read))
    return first === second ? 'alike' : `${first}\n\nand not\n\n${second}`
  }
  await expect.poll(compare).toBe('alike')
}

/** Waits until the page and its run are connected. */
async function connected(page: Page): Promise<void> {
  await expect.poll(() => page.getByText(/^Reconnecting/).count()).toBe(0)
}

/** Returns the text of each task, and the number of events. */
async function everything(page: Page): Promise<readonly (string | null)[]> {
  const parts: (string | null)[] = []
  await page.getByRole('tab', { name: 'Work' }).click()
  for (const name of ['open', 'close']) {
    await page.getByRole('listitem').getByRole('button', { name }).first().click()
    await work(page, name).waitFor()
    await work(page, name).press('Home')
    await work(page, name)
      .getByRole('button', { name: /^Input/ })
      .waitFor()
    // The Markdown renderer is loaded when first needed.
    if (name === 'open') await work(page, name).getByRole('emphasis').waitFor()
    parts.push(await work(page, name).innerText())
  }
  await page.getByRole('tab', { name: 'Events' }).click()
  await page.getByRole('button', { name: 'Tokens', exact: true }).click()
  await page.getByRole('list', { name: 'Events' }).press('Home')
  await page.getByRole('button', { name: /Run queued/ }).waitFor()
  parts.push(await page.getByRole('list', { name: 'Events' }).innerText())
  parts.push(await page.getByText(/^\d+ events$/).innerText())
  return parts
}

describe('a late reader', () => {
  it('A late reader sees the same as others in the middle of a task, and follows it with them', async () => {
    await using hall = await openHall()
    const { model, look } = hall
    await look(async (first) => {
      model.say('Let me count. ')
      model.answer({ toolCalls: [{ name: 'count', arguments: { bars: 12 } }] })
      model.say('It begins softly')
      const words = (page: Page, text: string): Promise<void> =>
        work(page, 'open').getByText(text, { exact: true }).waitFor()
      await words(first.page, 'It begins softly')
      await look(async (second) => {
        await words(second.page, 'It begins softly')
        await work(second.page, 'open').getByText('{"bars":12}').waitFor()
        model.say(' and grows')
        await words(first.page, 'It begins softly and grows')
        await words(second.page, 'It begins softly and grows')
        await alike(first.page, second.page)
        expect(second.complaints).toEqual([])
      }, '?task=open')
      expect(first.complaints).toEqual([])
    }, '?task=open')
  })

  it('A late reader sees the same as others after the end', async () => {
    await using hall = await openHall()
    const { model, look, stage, runId } = hall
    await look(async (first) => {
      model.say('Let me count. ')
      model.answer({ toolCalls: [{ name: 'count', arguments: { bars: 12 } }] })
      model.say('It *begins*')
      model.answer()
      model.say('It ends')
      await work(first.page, 'close').getByText('It ends').waitFor()
      model.answer()
      await first.page.getByRole('status').getByText('Completed').waitFor()
      const seen = await everything(first.page)
      await look(async (second) => {
        await second.page.getByRole('status').getByText('Completed').waitFor()
        expect(await everything(second.page)).toEqual(seen)
        expect(second.complaints).toEqual([])
        expect(listRequests(second, runId)).toEqual(eventRequests(runId))
      })
      const { lastSeq } = await stage.client.runs.get(runId)
      expect(seen.at(-1)).toBe(`${lastSeq + 1} events`)
      expect(seen[1]).toContain('It ends')
      expect(first.complaints).toEqual([])
      expect(listRequests(first, runId)).toEqual(eventRequests(runId))
    })
  })
})

describe('a reader who loses the connection', () => {
  it('A reader who loses the connection twice while text is streamed has every word once after reconnecting', async () => {
    await using hall = await openHall()
    const { model, look, stage, runId } = hall
    await look(async (seen) => {
      const { page } = seen
      const shown = work(page, 'open')
      let words = ''
      const say = (text: string): void => {
        words += text
        model.say(text)
      }
      say('One two')
      await shown.getByText(words, { exact: true }).waitFor()
      for (const [before, meanwhile, after] of [
        [' three', ' four', ' five'],
        [' six', ' seven', ' eight'],
      ] as const) {
        say(before)
        stage.cut({ stay: true })
        await page.getByRole('status').getByText('Reconnecting…').waitFor()
        say(meanwhile)
        await expect.poll(() => readServerText(stage.client, runId, 'open')).toBe(words)
        expect(await shown.getByText(words, { exact: true }).count()).toBe(0)
        stage.restore()
        await shown.getByText(words, { exact: true }).waitFor()
        say(after)
        await shown.getByText(words, { exact: true }).waitFor()
        await connected(page)
      }
      expect(await readServerText(stage.client, runId, 'open')).toBe(words)
      model.answer()
      model.say('Fine')
      model.answer()
      await page.getByRole('status').getByText('Completed').waitFor()
      const { lastSeq } = await stage.client.runs.get(runId)
      await page.getByRole('tab', { name: 'Events' }).click()
      await page.getByText(new RegExp(`^${lastSeq + 1} events, `)).waitFor()
      expect(listRequests(seen, runId)).toEqual(eventRequests(runId))
    }, '?task=open')
  })

  it('A reader who loses the connection before the run ends sees the end after reconnecting', async () => {
    await using hall = await openHall()
    const { model, look, stage, runId } = hall
    await look(async ({ page }) => {
      model.say('One')
      await work(page, 'open').getByText('One', { exact: true }).waitFor()
      stage.cut({ stay: true })
      await page.getByRole('status').getByText('Reconnecting…').waitFor()
      model.say(' and all')
      model.answer()
      model.say('Over')
      model.answer()
      await stage.client.runs.result(runId)
      expect(await page.getByRole('status').getByText('Running').count()).toBe(1)
      stage.restore()
      await page.getByRole('status').getByText('Completed').waitFor()
      await work(page, 'open').getByText('One and all', { exact: true }).waitFor()
      await connected(page)
    }, '?task=open')
  })
})
