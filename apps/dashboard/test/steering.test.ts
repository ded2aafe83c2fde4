/** Steering a run from its page, and the times at which each act took effect. */
import { apiKey } from '@tutti/control-api'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

/** A task whose tool waits for the test, call by call, followed by a second task. */
function watchers() {
  const calls: PromiseWithResolvers<void>[] = []
  const begun: (() => void)[] = []
  const hold = defineTool({
    name: 'hold',
    description: 'Waits for the test',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      const latch = Promise.withResolvers<void>()
      calls.push(latch)
      for (const look of begun) look()
      await Promise.race([
        latch.promise,
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      ])
      return 'held'
    },
  })
  const look = task({ name: 'look', description: 'Look at the sea', tools: [hold] })
  const tell = task({ name: 'tell', description: 'Tell of it', context: [look] })
  return {
    hold,
    ensemble: ensemble({ name: 'watchers', tasks: [look, tell], model: talker('small') }),
    models: { small: talker('small'), large: talker('large') },
    /** Resolves when the tool has been called this many times. */
    untilCalled: (count: number) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (calls.length >= count) resolve()
        }
        begun.push(check)
        check()
      }),
    goOn: (call: number) => calls[call - 1]?.resolve(),
  }
}

/** Calls the tool twice, then reports its name and whether it received the directive. */
function talker(name: string) {
  return scriptedModel(
    ({ messages, tools }: ModelRequest) => {
      const held = messages.filter(({ role }) => role === 'tool').length
      if (tools.length > 0 && held < 2) return { toolCalls: [{ name: 'hold', arguments: {} }] }
      const told = messages.some(({ content }) => content.includes('Look to the west'))
      return `${name} looked ${told ? 'west' : 'around'}`
    },
    { name },
  )
}

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

/** Starts a run whose tool waits, and shows it. */
async function watch(
  use: (stage: ServedDashboard, page: Page, run: Watched) => Promise<void>,
): Promise<void> {
  const parts = watchers()
  const { hold, models } = parts
  await using stage = await openDashboard({ ensembles: [parts.ensemble], tools: [hold], models })
  const { runId } = await stage.client.runs.submit({ ensemble: 'watchers' })
  await parts.untilCalled(1)
  await visit(browser, `${stage.url}/#/runs/${runId}?tab=steering`, {
    use: async ({ page, complaints }) => {
      await use(stage, page, { ...parts, runId })
      // Browsers log each rejected request as an error.
      const others = complaints.filter((text) => !/status of 4\d\d/.test(text))
      expect(others).toEqual([])
    },
  })
}

type Watched = ReturnType<typeof watchers> & { readonly runId: string }

describe('a directive', () => {
  it('A directive is validated at its fields, sent, and shown as delivered to a model call', async () => {
    await watch(async (stage, page, { goOn, untilCalled, runId }) => {
      await page.getByText('No steering yet').waitFor()
      await page.getByRole('button', { name: 'Direct…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Send a directive' })
      const words = dialog.getByRole('textbox', { name: 'Directive' })
      await expect.poll(() => words.evaluate((one) => one === document.activeElement)).toBe(true)
      const give = dialog.getByRole('button', { name: 'Send directive' })
      await give.click()
      await expect.poll(() => words.getAttribute('aria-invalid')).toBe('true')
      await words.fill('Look to the west')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Direct…' }).click()
      await expect.poll(() => words.inputValue()).toBe('Look to the west')
      await dialog.getByRole('combobox', { name: 'Target' }).selectOption('look')
      await dialog.getByRole('combobox', { name: 'Priority' }).selectOption('HIGH')
      await dialog.getByRole('combobox', { name: 'Valid' }).selectOption('custom')
      const time = dialog.getByRole('textbox', { name: 'Duration' })
      await time.fill('an hour')
      await dialog.getByText(/ISO-8601 duration/).waitFor()
      await time.fill('P1M')
      await give.click()
      await dialog.getByText(/without years or months/).waitFor()
      await time.fill('PT1H')
      await words.press('Control+Enter')
      await dialog.waitFor({ state: 'detached' })
      const act = page.getByRole('list', { name: 'Steering log' }).getByRole('listitem').first()
      await act.getByText('Not delivered yet').waitFor()
      await expect
        .poll(() => act.innerText())
        .toMatch(/sent a directive to look · high priority · valid until/)
      goOn(1)
      await untilCalled(2)
      await act.getByText(/Delivered to look at model call 2, [\d:]+, [^,]+ later/).waitFor()
      expect(await act.getByText('at most').count()).toBe(0)
      goOn(2)
      const { outputs } = await stage.client.runs.result(runId)
      expect(outputs[0]?.output).toBe('small looked west')
      await page.getByRole('link', { name: 'Run again' }).waitFor()
      await expect.poll(() => page.getByRole('button', { name: 'Direct…' }).count()).toBe(0)
    })
  })
})

describe('a model switch', () => {
  it('A model switch shows the current model, and the first call that used the new one', async () => {
    await watch(async (stage, page, { goOn, untilCalled, runId }) => {
      await page.getByRole('button', { name: 'Switch model…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Switch model' })
      await dialog.getByText(/Now: .*small/).waitFor()
      await dialog.getByRole('button', { name: 'Switch', exact: true }).click()
      await dialog.getByText('Choose a model').waitFor()
      await dialog.getByRole('combobox', { name: 'Switch to' }).selectOption('model:large')
      await dialog.getByRole('button', { name: 'Switch', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      const act = page.getByRole('list', { name: 'Steering log' }).getByRole('listitem').first()
      await act.getByText('The next model call uses it').waitFor()
      await expect
        .poll(() => act.innerText())
        .toMatch(/switched the whole run from .*small to large/)
      goOn(1)
      await untilCalled(2)
      await act.getByText(/In effect for look at model call 2 \(.*large\), .* later/).waitFor()
      await page.getByRole('button', { name: 'Switch model…' }).click()
      await dialog.getByRole('combobox', { name: 'Switch to' }).selectOption('tier:PRIMARY')
      await dialog.getByRole('button', { name: 'Switch', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await expect
        .poll(() => page.getByRole('list', { name: 'Steering log' }).innerText())
        .toMatch(/from large to .*small · tier PRIMARY/)
      await page.getByRole('button', { name: 'Switch model…' }).click()
      await dialog.getByText(/Now: .*small, tier PRIMARY/).waitFor()
      await dialog.getByText('Close').click()
      goOn(2)
      const { outputs } = await stage.client.runs.result(runId)
      expect(outputs.map(({ output }) => output)).toEqual([
        'small looked around',
        'small looked around',
      ])
    })
  })
})

describe('a cancel', () => {
  it('A cancel lets running tasks finish, shows this, and can still be changed to an immediate stop', async () => {
    await watch(async (stage, page, { runId }) => {
      await page.getByRole('button', { name: 'Cancel…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cancel run' })
      await dialog.getByText('1 task is running').waitFor()
      await dialog.getByRole('radio', { name: /Let running tasks finish/ }).check()
      await dialog.getByRole('button', { name: 'Cancel run' }).click()
      await page
        .getByRole('status')
        .getByText(/running tasks finish, no others start/)
        .waitFor()
      const acts = page.getByRole('list', { name: 'Steering log' }).getByRole('listitem')
      await acts.getByText('Waiting for running work to end').waitFor()
      await page.getByRole('button', { name: 'Cancel…' }).click()
      await expect.poll(() => dialog.getByRole('radio').count()).toBe(1)
      await dialog.getByRole('button', { name: 'Cancel run' }).click()
      await expect.poll(() => acts.count()).toBe(2)
      await acts
        .last()
        .getByText(/^Stopped at .*later$/)
        .waitFor()
      await page.getByRole('link', { name: 'Run again' }).waitFor()
      expect((await stage.client.runs.get(runId)).status).toBe('CANCELLED')
    })
  })
})

describe('a rejection', () => {
  it('A rejection is shown in the dialog if the run has ended meanwhile', async () => {
    await watch(async (stage, page, { runId }) => {
      await page.getByRole('button', { name: 'Cancel…' }).click()
      const dialog = page.getByRole('dialog')
      await stage.client.runs.cancel(runId)
      await stage.client.runs.result(runId)
      await page.getByRole('link', { name: 'Run again' }).waitFor({ state: 'attached' })
      await dialog.getByRole('button', { name: 'Cancel run' }).click()
      await dialog.getByRole('alert').waitFor()
    })
  })

  it('A rejection is anticipated for a read-only key: the buttons are disabled with the reason', async () => {
    const parts = watchers()
    await using stage = await openDashboard({
      ensembles: [parts.ensemble],
      tools: [parts.hold],
      models: parts.models,
      apiKeys: [
        apiKey('clara-key', { name: 'clara' }),
        apiKey('otto-key', { name: 'otto', scopes: ['runs:read'] }),
      ],
      key: 'clara-key',
    })
    const { runId } = await stage.client.runs.submit({ ensemble: 'watchers' })
    await parts.untilCalled(1)
    await visit(browser, `${stage.url}/favicon.svg`, {
      use: async ({ page }) => {
        await page.evaluate(() => sessionStorage.setItem('tutti.key', 'otto-key'))
        await page.goto(`${stage.url}/#/runs/${runId}?tab=steering`)
        for (const name of ['Direct…', 'Switch model…', 'Cancel…']) {
          const button = page.getByRole('button', { name })
          await expect
            .poll(() => button.getAttribute('title'))
            .toBe('Key "otto" does not have the scope runs:control')
          expect(await button.isDisabled()).toBe(true)
        }
        await stage.client.runs.inject(runId, 'Look to the west')
        const acts = page.getByRole('list', { name: 'Steering log' }).getByRole('listitem')
        await acts.getByText('clara').waitFor()
        await stage.client.runs.cancel(runId)
        await stage.client.runs.result(runId)
      },
    })
  })
})
