/** The page of a run whose request has handoffs and a loop, in a real browser. */
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser } from 'playwright-core'

let browser: Browser
let stage: ServedDashboard
let runId: string

beforeAll(async () => {
  const model = scriptedModel(({ messages, tools: [tool] }) => {
    const last = messages.at(-1)
    if (tool !== undefined && last?.role !== 'tool') {
      return { toolCalls: [{ name: tool.name, arguments: {} }] }
    }
    return `After ${last?.content.match(/Round \d/)?.[0] ?? 'a handoff'}`
  })
  const own = task({ name: 'own', description: 'Own' })
  stage = await openDashboard({ ensembles: [ensemble({ name: 'crew', model, tasks: [own] })] })
  const { runs } = stage.client
  const accepted = await runs.submit({
    tasks: [
      {
        name: 'support',
        description: 'Help',
        agents: [
          { role: 'Triage', handoffs: ['Billing'] },
          { role: 'Billing', handoffs: ['Triage'] },
        ],
      },
      { name: 'refine', description: 'Round {round}', loop: { max: 3, until: 'round == 2' } },
    ],
  })
  runId = accepted.runId
  await runs.result(runId)
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

it('The page of a run names the active agent of a task, and its rounds can be forked', async () => {
  await visit(browser, `${stage.url}/#/runs/${runId}`, {
    viewport: { width: 1440, height: 900 },
    async use({ page, complaints }) {
      const list = page.getByRole('list', { name: 'Tasks in order' })
      const row = (name: string) => list.locator(`[data-task="${name}"]`)
      await row('support').getByText('Triage › Billing').waitFor()
      await row('support/Billing').click()
      await page.getByRole('heading', { name: 'support/Billing' }).waitFor()

      await row('refine/2').click()
      await page.getByRole('button', { name: 'Fork from this task…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Fork from "refine/2"' })
      await dialog.getByRole('button', { name: 'Start fork' }).click()
      await page.getByText(/Fork after event \d+ of/).waitFor()
      const forkId = /#\/runs\/([^?]+)/.exec(page.url())?.[1] ?? ''
      const { outputs } = await stage.client.runs.result(forkId)
      expect(outputs.find(({ taskName }) => taskName === 'refine')?.output).toBe('After Round 2')
      expect(complaints).toEqual([])
    },
  })
})
