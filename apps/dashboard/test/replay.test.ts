import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

const SONG = 'The first song is in a minor key'
const PLAN = 'The plan of the evening is settled'

/** Calls the tool once, then answers; the second task answers at once. */
function model() {
  return scriptedModel(({ messages, tools }: ModelRequest) => {
    if (tools.length === 0) return PLAN
    if (messages.at(-1)?.role === 'tool') return SONG
    return { text: 'I look for a song', toolCalls: [{ name: 'find_song', arguments: {} }] }
  })
}

/** A run of two tasks; its tool waits for `latch`, if given. */
function concert(latch?: Promise<void>) {
  const findSong = defineTool({
    name: 'find_song',
    description: 'Finds a song',
    input: Type.Object({}),
    async execute() {
      await latch
      return 'Night song'
    },
  })
  const choose = task({ name: 'choose', description: 'Choose a song', tools: [findSong] })
  const plan = task({ name: 'plan', description: 'Plan the evening', context: [choose] })
  return openDashboard({
    ensembles: [ensemble({ name: 'concert', tasks: [choose, plan], model: model() })],
  })
}

async function played(stage: ServedDashboard): Promise<string> {
  const { runId } = await stage.client.runs.run({})
  return `${stage.url}#/runs/${runId}`
}

function bar(page: Page) {
  const region = page.getByRole('region', { name: 'Replay' })
  return {
    region,
    slider: region.getByRole('slider', { name: 'Position in the run' }),
    play: region.getByRole('button', { name: 'Play', exact: true }),
    pause: region.getByRole('button', { name: 'Pause' }),
    next: region.getByRole('button', { name: 'Go to next key event' }),
    before: region.getByRole('button', { name: 'Go to previous key event' }),
    speed: region.getByRole('combobox', { name: 'Speed' }),
  }
}

describe('an ended run', () => {
  it('An ended run is shown at a position in its middle, and again at its end', async () => {
    await using stage = await concert()
    await visit(browser, await played(stage), {
      async use({ page, complaints }) {
        const { region, slider } = bar(page)
        await page.getByText(PLAN).first().waitFor()
        const end = region.getByRole('button', { name: 'End' })
        await expect.poll(() => end.getAttribute('aria-pressed')).toBe('true')
        const last = Number(await slider.getAttribute('max'))
        expect(await slider.inputValue()).toBe(String(last))

        await slider.focus()
        await page.keyboard.press('Home')
        await expect.poll(() => page.getByText(PLAN).count()).toBe(0)
        expect(await slider.getAttribute('aria-valuetext')).toMatch(
          new RegExp(`^Event 1 of ${last}, Run queued, 0 ms into the run$`),
        )
        expect(await end.getAttribute('aria-pressed')).toBe('false')

        await page.keyboard.press('PageUp')
        expect(Number(await slider.inputValue())).toBeGreaterThan(1)
        await page.keyboard.press('ArrowRight')

        await end.click()
        await page.getByText(PLAN).first().waitFor()
        expect(await slider.inputValue()).toBe(String(last))
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run has its position in the URL, and keeps the title of its current state', async () => {
    await using stage = await concert()
    const address = await played(stage)
    await visit(browser, `${address}?at=3`, {
      async use({ page, complaints }) {
        const { region, slider } = bar(page)
        await expect.poll(() => slider.inputValue()).toBe('3')
        expect(await page.getByText(PLAN).count()).toBe(0)
        await expect.poll(() => page.title()).toBe('✓ Completed — concert')
        await slider.focus()
        await page.keyboard.press('ArrowRight')
        await expect.poll(() => slider.inputValue()).toBe('4')
        await expect.poll(() => new URL(page.url()).hash).toMatch(/\?at=4$/)
        await page.getByRole('tab', { name: 'Costs' }).click()
        await expect.poll(() => new URL(page.url()).hash).toMatch(/at=4/)
        expect(await slider.inputValue()).toBe('4')
        await region.getByRole('button', { name: 'End' }).click()
        await expect.poll(() => new URL(page.url()).hash).not.toMatch(/at=/)
        await page.goto(`${address}?at=many`)
        await page.getByText(PLAN).first().waitFor()
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run lists the events up to its position, and all of them at the end', async () => {
    await using stage = await concert()
    await visit(browser, `${await played(stage)}?tab=events`, {
      viewport: { width: 1440, height: 1600 },
      async use({ page, complaints }) {
        const { region, slider } = bar(page)
        const rows = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
        await rows.filter({ hasText: 'Run result' }).waitFor()
        const all = await rows.count()

        await slider.focus()
        await page.keyboard.press('Home')
        await expect.poll(() => rows.count()).toBe(1)
        expect(await rows.innerText()).toContain('Run queued')
        await page.getByText('1 shown up to here').waitFor()
        await page.keyboard.press('ArrowRight')
        await expect.poll(() => rows.count()).toBe(2)

        await region.getByRole('button', { name: 'End' }).click()
        await expect.poll(() => rows.count()).toBe(all)
        expect(await page.getByText('up to here').count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run is stepped through by key events', async () => {
    await using stage = await concert()
    await visit(browser, await played(stage), {
      async use({ page, complaints }) {
        const { region, slider, next, before } = bar(page)
        await page.getByText(PLAN).first().waitFor()
        await slider.focus()
        await page.keyboard.press('Home')
        await expect.poll(() => slider.inputValue()).toBe('1')
        const end = region.getByRole('button', { name: 'End' })
        const text = async (): Promise<string | undefined> =>
          (await slider.getAttribute('aria-valuetext'))?.split(', ')[1]
        const events = [
          'Task started: choose',
          'Tool called: find_song',
          'Task completed: choose',
          'Task started: plan',
          'Task completed: plan',
          'Run result',
        ]
        for (const event of events) {
          await next.click()
          await expect.poll(text).toBe(event)
        }
        await expect.poll(() => end.getAttribute('aria-pressed')).toBe('true')
        await before.click()
        await expect.poll(text).toBe('Task completed: plan')
        for (let count = 0; count < 3; count += 1) {
          const value = await slider.inputValue()
          await before.click()
          await expect.poll(() => slider.inputValue()).not.toBe(value)
        }
        await expect.poll(text).toBe('Tool called: find_song')
        await expect.poll(() => page.getByText(PLAN).count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run is played to its end, at any speed', async () => {
    await using stage = await concert()
    await visit(browser, await played(stage), {
      async use({ page, complaints }) {
        const { region, slider, play, speed } = bar(page)
        await page.getByText(PLAN).first().waitFor()
        expect(await speed.locator('optgroup').getAttribute('label')).toMatch(/shortened to 1 s/)
        await speed.selectOption('Fast')
        const values = await page.evaluateHandle(() => {
          const input = document.querySelector<HTMLInputElement>('input[type=range]')
          const seen: number[] = []
          const look = (): void => {
            const value = Number(input?.value)
            if (seen.at(-1) !== value) seen.push(value)
            requestAnimationFrame(look)
          }
          look()
          return seen
        })
        const max = Number(await slider.getAttribute('max'))
        await play.click()
        const isOver = (seen: readonly number[]): boolean => seen.length > 2 && seen.at(-1) === max
        await expect.poll(() => values.jsonValue()).toSatisfy(isOver)
        const [atEnd, first, ...rest] = await values.jsonValue()
        expect(atEnd).toBe(max)
        expect(first).toBeLessThan(max)
        expect(rest).toEqual(rest.toSorted((left, right) => left - right))
        await page.getByText(PLAN).first().waitFor()
        await play.waitFor()
        const end = region.getByRole('button', { name: 'End' })
        await expect.poll(() => end.getAttribute('aria-pressed')).toBe('true')

        expect(complaints).toEqual([])
      },
    })
  })

  it('An ended run can be paused and continued', async () => {
    await using stage = await concert()
    await visit(browser, await played(stage), {
      async use({ page, complaints }) {
        const { slider, play, pause } = bar(page)
        await page.getByText(PLAN).first().waitFor()
        // A run without model delays ends instantly, so the test controls the clock.
        await page.clock.install()
        await page.clock.pauseAt(Date.now() + 60_000)
        const last = await slider.inputValue()
        const passes = async (): Promise<string> => {
          await page.clock.runFor(100)
          return slider.inputValue()
        }
        await play.click()
        await expect.poll(() => slider.inputValue()).toBe('1')
        await pause.click()
        await play.waitFor()
        await page.clock.runFor(5_000)
        expect(await slider.inputValue()).toBe('1')
        await play.click()
        await expect.poll(passes).toBe(last)
        await play.waitFor()
        expect(complaints).toEqual([])
      },
    })
  })
})

describe('an active run', () => {
  it('An active run stays at a past position, shows the number of new events, and returns to live', async () => {
    const latch = Promise.withResolvers<void>()
    await using stage = await concert(latch.promise)
    const { runId } = await stage.client.runs.submit({})
    await visit(browser, `${stage.url}#/runs/${runId}`, {
      async use({ page, complaints }) {
        const { region, slider, before } = bar(page)
        const live = region.getByRole('button', { name: 'Live' })
        await page.getByText('I look for a song').first().waitFor()
        await expect.poll(() => live.getAttribute('aria-pressed')).toBe('true')
        await before.click()
        await expect.poll(() => live.getAttribute('aria-pressed')).toBe('false')
        const place = await slider.inputValue()
        const length = await slider.getAttribute('max')

        latch.resolve()
        await stage.client.runs.result(runId)
        const end = region.getByRole('button', { name: /^End \+\d+ events$/ })
        await end.waitFor()
        expect(await slider.inputValue()).toBe(place)
        expect(await slider.getAttribute('max')).toBe(length)
        expect(await page.getByText(PLAN).count()).toBe(0)

        await end.click()
        await page.getByText(PLAN).first().waitFor()
        await expect.poll(() => slider.getAttribute('max')).not.toBe(length)
        expect(complaints).toEqual([])
      },
    })
  })
})
