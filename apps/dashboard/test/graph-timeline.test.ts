/** The task graph and the timeline of an active run, in a real browser. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { defineTool, TuttiError, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Zooms in to the maximum. */
const CLOSEST = Array.from({ length: 20 }, () => '+')

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

/** A tool that waits until the test releases it. */
function waitingTool(name: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const tool = defineTool({
    name,
    description: 'Waits',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      const stopped = new Promise<void>((stop) => signal.addEventListener('abort', () => stop()))
      await Promise.race([promise, stopped])
      return 'done'
    },
  })
  return { tool, play: resolve }
}

/** Calls its tool in each of the first turns, then answers. */
function working(tool: string, turns = 1) {
  return scriptedModel(({ messages }: ModelRequest) => {
    const done = messages.filter(({ role }) => role === 'assistant').length
    return done < turns ? { toolCalls: [{ name: tool, arguments: {} }] } : 'It is done'
  })
}

/** A plan, three parallel tasks (one fails at first), and one task that joins them. */
async function band() {
  const play = waitingTool('play')
  const note = waitingTool('note')
  const fix = waitingTool('fix')
  let failures = 0
  const stumbling = scriptedModel(({ messages }: ModelRequest) => {
    if (messages.some(({ role }) => role === 'tool')) return 'It is mended'
    failures += 1
    if (failures === 1) return new TuttiError('MODEL_FAILED', 'Out of tune', { retryable: true })
    return { toolCalls: [{ name: 'fix', arguments: {} }] }
  })
  const plan = task({ name: 'plan', description: 'Plan', model: scriptedModel(['A plan']) })
  const middle = [
    task({
      name: 'strings',
      description: 'Strings',
      context: [plan],
      tools: [play.tool],
      model: working('play'),
    }),
    task({
      name: 'brass',
      description: 'Brass',
      context: [plan],
      tools: [fix.tool],
      retries: 1,
      model: stumbling,
    }),
    task({
      name: 'choir',
      description: 'Choir',
      context: [plan],
      model: scriptedModel(['Sung']),
      review: { prompt: 'In tune?', timeoutMs: 600_000 },
    }),
  ]
  const finale = task({
    name: 'finale',
    description: 'Finale',
    context: middle,
    tools: [note.tool],
    model: working('note'),
  })
  const stage = await openDashboard({
    ensembles: [ensemble({ name: 'band', tasks: [plan, ...middle, finale], modelRetries: 0 })],
    models: { large: working('note') },
    // Disable parking: on a slow machine, the resumption of the run would add a mark.
    parkAfterMs: 60_000,
  })
  const { runId } = await stage.client.runs.submit({ ensemble: 'band' })
  return { stage, runId, url: `${stage.url}/#/runs/${runId}`, play, note, fix }
}

const nodeOf = (page: Page, name: string): Locator =>
  page
    .getByRole('list', { name: 'Tasks in order' })
    .getByRole('button', { name: new RegExp(`^${name}\\b`) })
const rowOf = (page: Page, words: string | RegExp): Locator =>
  page.getByRole('img', { name: words })
const timelineOf = (page: Page): Locator => page.getByRole('group', { name: /^Timeline/ })
const cursorOf = (page: Page): Locator => timelineOf(page).getByRole('button').last()
const query = (page: Page): URLSearchParams =>
  new URLSearchParams(new URL(page.url()).hash.split('?')[1])

/** Presses keys until the cursor has a label that matches `words`. */
async function walk(cursor: Locator, keys: readonly string[], words: RegExp): Promise<void> {
  for (const key of keys) await cursor.page().keyboard.press(key)
  await expect.poll(() => cursor.getAttribute('aria-label')).toMatch(words)
}

async function decide(stage: ServedDashboard): Promise<void> {
  const { reviews } = await stage.client.reviews.list()
  const [review] = reviews
  if (review === undefined) throw new TypeError('No review')
  await stage.client.reviews.decide(review.reviewId, { decision: 'CONTINUE' })
}

/** Returns the serious findings of axe in the graph and the timeline. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate<readonly string[]>(`
    axe.run({ include: [['[aria-label="Tasks in order"]'], ['[aria-label^="Timeline of"]'], ['[data-card]']] })
      .then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ')))`)
}

describe('an active run', () => {
  it('An active run shows parallel tasks, a retried one, one with an open review, and a waiting one', async () => {
    const { stage, url, play, note, fix } = await band()
    await using _ = stage
    await visit(browser, url, {
      viewport: { width: 1_280, height: 800 },
      use: async ({ page, complaints }) => {
        await nodeOf(page, 'plan Completed').waitFor()
        await nodeOf(page, 'strings Running').waitFor()
        await nodeOf(page, 'choir Needs review').waitFor()
        await nodeOf(page, 'finale Waiting').waitFor()
        await expect
          .poll(() => nodeOf(page, 'finale').textContent())
          .toContain('depends on strings, brass, choir')

        await rowOf(page, /^plan: Completed, started .* long, 1 model call$/).waitFor()
        await rowOf(page, /^strings: Running, .*, 1 model call, 1 tool call$/).waitFor()
        await rowOf(
          page,
          /^brass: Running, .*, 2 attempts, 2 model calls \(1 failed\), 1 tool call$/,
        ).waitFor()
        await rowOf(page, /^choir: Needs review, .*waited .* for 1 review$/).waitFor()
        const legend = page.getByRole('list', { name: 'Legend' })
        await legend.getByText('failed', { exact: true }).waitFor()
        await rowOf(page, /^finale: Waiting$/).waitFor()
        await expect
          .poll(() =>
            rowOf(page, /^brass/)
              .locator('[data-attempt]')
              .count(),
          )
          .toBe(2)
        await expect.poll(() => nodeOf(page, 'brass Running').textContent()).toContain('Attempt 2')

        fix.play()
        await decide(stage)
        await nodeOf(page, 'brass Completed').waitFor()
        await nodeOf(page, 'choir Completed').waitFor()
        play.play()
        await nodeOf(page, 'finale Running').waitFor()
        note.play()
        await rowOf(page, /^finale: Completed, .*, 2 model calls, 1 tool call$/).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })

  it('An active run shows directives, switches and a cancel on the ruler', async () => {
    const { stage, runId, url, play, fix } = await band()
    await using _ = stage
    for (const { play: go } of [play, fix]) go()
    await visit(browser, url, {
      use: async ({ page, complaints }) => {
        await nodeOf(page, 'choir Needs review').waitFor()
        await stage.client.runs.inject(runId, 'Softer')
        await stage.client.runs.switchModel(runId, 'large')
        await decide(stage)
        await rowOf(page, /^finale: Running, .*1 tool call$/).waitFor()
        const legend = page.getByRole('list', { name: 'Legend' })
        await legend.getByText('directive delivered').waitFor()
        await legend.getByText('model switched').waitFor()

        const cursor = cursorOf(page)
        await cursor.focus()
        await walk(cursor, ['ArrowUp'], /^Model switched to large, .*For the whole run/)
        await walk(cursor, ['End'], /^Directive delivered, .*Softer$/)
        await page.keyboard.press('Enter')
        await expect.poll(() => query(page).get('turn')).toBe('0')
        await expect.poll(() => query(page).get('task')).toBe('finale')

        await stage.client.runs.cancel(runId)
        await nodeOf(page, 'finale Cancelled').waitFor()
        await rowOf(page, /^finale: Cancelled, /).waitFor()
        await legend.getByText('cancel', { exact: true }).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })
})

describe('an ended run', () => {
  let stage: ServedDashboard
  let url: string

  beforeAll(async () => {
    const tool = defineTool({
      name: 'search',
      description: 'Searches',
      input: Type.Object({}),
      // Instants are whole milliseconds, so shorter calls cannot be separated at any zoom.
      execute: () => new Promise((resolve) => setTimeout(resolve, 3, 'found')),
    })
    const many = (count: number) => working('search', count)
    const first = task({
      name: 'first',
      description: 'First',
      tools: [tool],
      maxIterations: 210,
      model: many(200),
    })
    const side = (name: string) =>
      task({ name, description: name, context: [first], tools: [tool], model: many(2) })
    const [left, right] = [side('left'), side('right')]
    const last = task({ name: 'last', description: 'Last', context: [left, right], model: many(0) })
    stage = await openDashboard({
      ensembles: [ensemble({ name: 'search', tasks: [first, left, right, last] })],
    })
    const { runId } = await stage.client.runs.submit({ ensemble: 'search' })
    url = `${stage.url}/#/runs/${runId}`
    await stage.client.runs.result(runId, { throwOnFailure: true })
  })

  afterAll(async () => {
    await stage[Symbol.asyncDispose]()
  })

  it('An ended run is navigated with the keyboard in the graph, along its lines, and Enter selects', async () => {
    await visit(browser, url, {
      use: async ({ page, complaints }) => {
        await nodeOf(page, 'last Completed').waitFor()
        await nodeOf(page, 'first').click()
        await expect.poll(() => query(page).get('task')).toBe('first')
        await expect.poll(() => nodeOf(page, 'first').getAttribute('aria-pressed')).toBe('true')
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('ArrowDown')
        await expect
          .poll(() => page.evaluate(() => document.activeElement?.textContent))
          .toContain('last')
        await page.keyboard.press('ArrowUp')
        await page.keyboard.press('Enter')
        await expect.poll(() => query(page).get('task')).toBe('right')
        await expect.poll(() => nodeOf(page, 'first').getAttribute('aria-pressed')).toBe('false')
        await page.keyboard.press('Tab')
        await expect
          .poll(() => page.evaluate(() => document.activeElement?.closest('ol') === null))
          .toBe(true)
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run is navigated with the keyboard in the timeline, with a card and a label for each note', async () => {
    await visit(browser, url, {
      use: async ({ page, complaints }) => {
        await rowOf(page, /^last: Completed/).waitFor()
        const cursor = cursorOf(page)
        await cursor.focus()
        const down = Array.from({ length: 4 }, () => 'ArrowDown')
        await walk(cursor, CLOSEST, /^first, Completed, At \d/)
        await walk(cursor, down, /^Model call 1, /)
        await walk(
          cursor,
          ['End'],
          /^Model call 3, Answered, At .*, Duration .*, Model scripted:model/,
        )
        await walk(cursor, ['ArrowDown', 'Home'], /^Tool call search, Succeeded/)
        await page.locator('[data-card]').getByText('Tool call search').waitFor()
        await page
          .getByRole('status')
          .getByText(/^Tool call search/)
          .waitFor()
        await page.keyboard.press('Enter')
        await expect.poll(() => query(page).get('turn')).toBe('0')
        await expect.poll(() => query(page).get('task')).toBe('left')
        expect(query(page).get('call')).toMatch(/^call-/)
        await page.keyboard.press('Escape')
        await expect.poll(() => page.locator('[data-card]').count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run is zoomed and dragged around the pointer', async () => {
    await visit(browser, url, {
      viewport: { width: 1_280, height: 800 },
      use: async ({ page, complaints }) => {
        const row = rowOf(page, /^first: Completed/)
        await row.waitFor()
        // The selected task is scrolled into view when the whole run has loaded.
        await rowOf(page, /^last: Completed/).waitFor()
        const group = timelineOf(page)
        const placeOf = () =>
          group.evaluate(({ scrollWidth, clientWidth, scrollLeft }) => ({
            hiddenPx: scrollWidth - clientWidth,
            scrollLeft,
          }))
        await expect.poll(placeOf).toEqual({ hiddenPx: 0, scrollLeft: 0 })
        const zoomOut = page.getByRole('button', { name: 'Zoom out' })
        await expect.poll(() => zoomOut.isDisabled()).toBe(true)

        // The cursor starts at the selected task, which is not the first one.
        await group.evaluate((element) => element.scrollTo(0, 0))
        const box = await row.boundingBox()
        if (box === null) throw new TypeError('The row is not drawn')
        const [x, y] = [box.x + 400, box.y + 15]
        const card = page.locator('[data-card]')
        await page.mouse.move(x, y)
        await card.waitFor()
        await page.keyboard.down('Control')
        for (let turns = 1; turns <= 3; turns += 1) {
          const { hiddenPx } = await placeOf()
          await page.mouse.wheel(0, -120)
          await expect
            .poll(async () => (await placeOf()).hiddenPx)
            .toBeGreaterThan(Math.max(100, hiddenPx))
        }
        await page.keyboard.up('Control')
        const { scrollLeft } = await placeOf()
        expect(scrollLeft).toBeGreaterThan(0)

        await page.mouse.down()
        await page.mouse.move(x + 50, y, { steps: 5 })
        await expect.poll(() => card.count()).toBe(0)
        await page.mouse.up()
        await expect
          .poll(async () => Math.round((await placeOf()).scrollLeft - scrollLeft))
          .toBe(-50)
        expect(query(page).get('turn')).toBeNull()

        await page.getByRole('button', { name: 'Show all' }).click()
        await expect.poll(placeOf).toEqual({ hiddenPx: 0, scrollLeft: 0 })
        await group.focus()
        await page.keyboard.press('+')
        await expect.poll(async () => (await placeOf()).hiddenPx).toBeGreaterThan(100)
        await page.keyboard.press('0')
        await expect.poll(placeOf).toEqual({ hiddenPx: 0, scrollLeft: 0 })
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run shows details under the pointer, and selects on a click', async () => {
    await visit(browser, url, {
      use: async ({ page, complaints }) => {
        const row = rowOf(page, /^left: Completed/)
        await row.getByText('left').click()
        await expect.poll(() => query(page).get('task')).toBe('left')
        await cursorOf(page).focus()
        // The cursor scrolls a note to the pointer: the last model call of the task.
        const toLast = ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'End']
        await walk(cursorOf(page), [...CLOSEST, ...toLast], /^Model call 3, /)
        const box = await cursorOf(page).boundingBox()
        if (box === null) throw new TypeError('The cursor is not drawn')
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
        await page.locator('[data-card]').getByText('Model call 3').waitFor()
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
        await expect.poll(() => query(page).get('turn')).toBe('2')
        await row.locator('rect[rx="2"]').waitFor({ state: 'attached' })
        await page.mouse.move(5, 5)
        await page.getByRole('button', { name: 'Zoom out' }).focus()
        await expect.poll(() => page.locator('[data-card]').count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run zooms into notes that are too narrow to separate', async () => {
    await visit(browser, url, {
      viewport: { width: 390, height: 844 },
      use: async ({ page, complaints }) => {
        await rowOf(page, /^first: Completed/).waitFor()
        const cursor = cursorOf(page)
        await cursor.focus()
        await page.keyboard.press('ArrowDown')
        const crowd = /^\d+ model calls, From .*Zoom in to separate them$/
        for (let step = 0; step < 20; step += 1) {
          const label = await cursor.getAttribute('aria-label')
          if (crowd.test(label ?? '')) break
          await page.keyboard.press('ArrowRight')
          await expect.poll(() => cursor.getAttribute('aria-label')).not.toBe(label)
        }
        expect(await cursor.getAttribute('aria-label')).toMatch(crowd)
        await page.keyboard.press('Enter')
        await expect
          .poll(() => timelineOf(page).evaluate((group) => group.scrollWidth - group.clientWidth))
          .toBeGreaterThan(0)
        expect(query(page).get('turn')).toBeNull()
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run has no serious axe findings, and fits on a phone', async () => {
    await visit(browser, url, {
      colorScheme: 'dark',
      viewport: { width: 390, height: 844 },
      // The content policy forbids axe to other callers, so inject it into the page.
      bypassCSP: true,
      use: async ({ page }) => {
        await rowOf(page, /^left: Completed/).waitFor()
        await cursorOf(page).focus()
        await page.locator('[data-card]').waitFor()
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
        expect(await findings(page)).toEqual([])
      },
    })
  })
})
