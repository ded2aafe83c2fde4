/** Calling tools by hand: the form follows the schema, and results and problems are shown in place. */
import { execFileSync } from 'node:child_process'

import { apiKey } from '@tutti/control-api'
import { defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { formatCurl } from '../src/api/curl-line.ts'
import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

const booked: unknown[] = []
const book = defineTool({
  name: 'book',
  description: 'Books seats on a train',
  input: Type.Object({
    train: Type.String({ pattern: '^[A-Z]+ \\d+$' }),
    day: Type.Optional(Type.String({ format: 'date' })),
    class: Type.Optional(Type.Enum(['first', 'second'])),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    seats: Type.Array(
      Type.Object({ name: Type.String(), age: Type.Integer({ minimum: 0 }) }, { title: 'Seat' }),
      { minItems: 1 },
    ),
    payment: Type.Union([
      Type.Object({ kind: Type.Literal('card'), number: Type.String() }),
      Type.Object({ kind: Type.Literal('bill'), address: Type.Object({ city: Type.String() }) }),
    ]),
    more: Type.Optional(Type.Unsafe<object>({ type: 'object' })),
  }),
  execute(input) {
    booked.push(input)
    return ToolResult.success('{"ticket": "T-1"}', { ticket: 'T-1' })
  },
})
const broken = defineTool({
  name: 'broken',
  description: 'Never works',
  input: Type.Object({}),
  execute: () => {
    throw new Error('Out of tune')
  },
})
const shout = defineTextTool({
  name: 'shout',
  description: 'Says it louder',
  execute: (text) => text.toUpperCase(),
})
const wary = defineTool({
  name: 'wary',
  description: 'Asks a person first',
  input: Type.Object({}),
  requireApproval: true,
  execute: () => 'done',
})
const slow = defineTool({
  name: 'slow',
  description: 'Takes for ever',
  input: Type.Object({}),
  timeoutMs: 600_000,
  execute: (_input, { signal }) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('stopped'))
    }),
})

let browser: Browser
let stage: ServedDashboard

beforeAll(async () => {
  browser = await launchBrowser()
  const model = scriptedModel(() => 'Done')
  const tasks = [task({ name: 'a', description: 'A' })]
  stage = await openDashboard({
    ensembles: [ensemble({ name: 'e', tasks, model })],
    tools: [book, broken, shout, wary, slow],
  })
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

async function story(
  tool: string,
  tell: (page: Page) => Promise<void>,
  { complaints: allowed = [] as readonly RegExp[], viewport = { width: 1280, height: 800 } } = {},
): Promise<void> {
  await visit(browser, `${stage.url}/#/tools/${tool}`, {
    viewport,
    async use({ page, complaints }) {
      await tell(page)
      const others = complaints.filter((text) => !allowed.some((one) => one.test(text)))
      expect(others).toEqual([])
    },
  })
}

const field = (page: Page | Locator, name: string) =>
  page.getByRole('textbox', { name, exact: true })

async function call(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Call tool' }).click()
}

function readDescription(control: Locator): Promise<string> {
  // In one step, because the description may change.
  return control.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.innerText ?? '')
      .join(' '),
  )
}

describe('a typed tool', () => {
  it('A typed tool is called with the values of its form', async () => {
    await story('book', async (page) => {
      await field(page, 'train').fill('ICE 1')
      await page.getByLabel('day').fill('2026-12-24')
      await page.getByLabel('class').selectOption('second')
      await page.getByRole('checkbox', { name: 'note is null' }).check()
      await field(page, 'name').fill('Clara')
      await field(page, 'age').fill('37')
      await page.getByRole('button', { name: 'Add to seats' }).click()
      await field(page, 'name').nth(1).fill('Robert')
      await field(page, 'age').nth(1).fill('46')
      await page.getByRole('button', { name: 'Move Seat up' }).nth(1).click()
      await page.getByLabel('Kind of payment').selectOption('bill')
      await field(page, 'city').fill('Leipzig')
      await field(page, 'more').fill('{"pets": 2}')
      await call(page)
      const result = page.getByRole('status').filter({ hasText: 'Succeeded' })
      await result.waitFor()
      const input = {
        train: 'ICE 1',
        day: '2026-12-24',
        class: 'second',
        note: null,
        seats: [
          { name: 'Robert', age: 46 },
          { name: 'Clara', age: 37 },
        ],
        payment: { kind: 'bill', address: { city: 'Leipzig' } },
        more: { pets: 2 },
      }
      expect(booked.at(-1)).toEqual(input)
      await page.getByRole('radio', { name: 'Text' }).check()
      await page.getByText('{"ticket": "T-1"}').waitFor()
      // The same value as JSON, edited there, and back in the form.
      await page.getByRole('radio', { name: 'JSON' }).check()
      const json = field(page, 'Input as JSON')
      await expect.poll(async () => JSON.parse(await json.inputValue())).toEqual(input)
      await json.fill(JSON.stringify({ ...input, train: 'RE 7', class: undefined }))
      await page.getByRole('radio', { name: 'Form' }).check()
      await expect.poll(() => field(page, 'train').inputValue()).toBe('RE 7')
      await call(page)
      await expect.poll(() => booked.at(-1)).toMatchObject({ train: 'RE 7' })
      expect(booked.at(-1)).not.toHaveProperty('class')
      // Repeat an earlier call.
      const calls = page.getByRole('list', { name: 'Calls in this session' }).getByRole('listitem')
      await expect.poll(() => calls.count()).toBe(2)
      await calls.nth(1).getByRole('button', { name: 'Call again' }).click()
      await expect.poll(() => booked.length).toBe(3)
      expect(booked.at(-1)).toEqual(input)
    })
  })

  it('A typed tool is not called with invalid input; each problem is shown at its field', async () => {
    await story('book', async (page) => {
      const calls = booked.length
      const train = field(page, 'train')
      await train.fill('ice 1')
      await expect.poll(() => readDescription(train)).toContain('Must be text that matches')
      await field(page, 'age').fill('old')
      await expect
        .poll(() => readDescription(field(page, 'age')))
        .toContain('Must be an integer, got "old"')
      expect(await field(page, 'number').getAttribute('aria-invalid')).toBeNull()
      await call(page)
      await expect
        .poll(() => train.evaluate((input) => input === document.activeElement))
        .toBe(true)
      await expect.poll(() => readDescription(field(page, 'number'))).toContain('Is required')
      await page.getByRole('radio', { name: 'JSON' }).check()
      await field(page, 'Input as JSON').fill('{"train"')
      await expect
        .poll(() => readDescription(field(page, 'Input as JSON')))
        .toContain('Is not valid JSON')
      await call(page)
      expect(booked).toHaveLength(calls)
    })
  })
})

describe('other tools', () => {
  it('Other tools call a text tool with its text, using only the keyboard', async () => {
    await story('shout', async (page) => {
      await field(page, 'input').focus()
      await page.keyboard.type('hush\nnow')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText('HUSH\nNOW').first().waitFor()
    })
  })

  it('Other tools show the error of a failed call', async () => {
    await story('broken', async (page) => {
      await call(page)
      await page.getByRole('status').filter({ hasText: 'Failed' }).waitFor()
      await page.getByRole('alert').filter({ hasText: 'Out of tune' }).waitFor()
    })
  })

  it('Other tools reject a call that requires a review', async () => {
    await story(
      'wary',
      async (page) => {
        await call(page)
        await page.getByRole('alert').filter({ hasText: 'requires a review' }).waitFor()
        await page.getByRole('status').filter({ hasText: 'No result' }).waitFor()
      },
      { complaints: [/status of 403/] },
    )
  })

  it('Other tools stop a slow call', async () => {
    await story('slow', async (page) => {
      await call(page)
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('alert').filter({ hasText: 'Call stopped' }).waitFor()
    })
  })
})

describe('the list of tools', () => {
  it('The list of tools is searched, and makes way for the selected tool on a phone', async () => {
    await story(
      '',
      async (page) => {
        await page.getByRole('searchbox', { name: 'Search tools' }).fill('louder')
        const list = page.getByRole('list', { name: 'Tools' })
        await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
        await list.getByRole('link', { name: 'shout' }).click()
        await page.getByRole('heading', { name: 'shout' }).waitFor()
        await expect.poll(() => list.isVisible()).toBe(false)
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
        await page.getByRole('main').getByRole('link', { name: 'Tools' }).click()
        await list.waitFor()
      },
      { viewport: { width: 390, height: 844 } },
    )
  })

  it('The list of tools reports an unknown tool', async () => {
    await story('nobody', async (page) => {
      await page.getByText('Tool "nobody" not found').waitFor()
    })
  })
})

describe('a key that may not call tools', () => {
  it('A key that may not call tools disables the call and explains why', async () => {
    await using guarded = await openDashboard({
      ensembles: [
        ensemble({
          name: 'e',
          tasks: [task({ name: 'a', description: 'A' })],
          model: scriptedModel(() => 'Done'),
        }),
      ],
      tools: [shout],
      apiKeys: [apiKey('k-reader', { name: 'reader', scopes: ['runs:read'] })],
      key: 'k-reader',
    })
    const context = await browser.newContext()
    await context.addInitScript(() => sessionStorage.setItem('tutti.key', 'k-reader'))
    const page = await context.newPage()
    await page.goto(`${guarded.url}/#/tools/shout`)
    await field(page, 'input').fill('hush')
    const button = page.getByRole('button', { name: 'Call tool' })
    await expect
      .poll(() => button.getAttribute('title'))
      .toBe('Key "reader" does not have the scope tools:invoke')
    expect(await button.isDisabled()).toBe(true)
    await page.getByText('Command').click()
    const command = await page.getByText('curl -X POST').innerText()
    expect(command).toContain('$TUTTI_API_KEY')
    expect(await page.content()).not.toContain('k-reader')
    await context.close()
  })
})

describe('formatCurl', () => {
  const line = { method: 'POST', path: '/api/runs', base: 'http://host:1/ui/#/new', hasKey: false }

  /** Parses the arguments of a command line, as a shell does. */
  function argumentsOf(text: string): readonly string[] {
    const script = text.replace(/^curl/, 'printf "%s\\0"')
    const output = execFileSync('sh', ['-c', script], { env: { TUTTI_API_KEY: 'k' } })
    return output.toString().split('\0').slice(0, -1)
  }

  it('formatCurl calls the URL below the page, with the body', () => {
    expect(argumentsOf(formatCurl({ ...line, body: { a: 1 } }))).toEqual([
      '-X',
      'POST',
      'http://host:1/ui/api/runs',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{"a":1}',
    ])
  })

  it('formatCurl protects the body from the shell, and refers to the key as a variable', () => {
    const body = { text: `it's "$HOME" \`id\` \\ !\n$(id); 'x'` }
    const words = argumentsOf(formatCurl({ ...line, body, hasKey: true }))
    expect(JSON.parse(words.at(-1) ?? '')).toEqual(body)
    expect(words).toContain('Authorization: Bearer k')
  })
})
