/**
 * Runs the recipes of `docs/recipes` over the built packages, against one server with the config of their index.
 * ```ts recipe must print the next ```text of its page. Programs that serve are driven by stand-ins of the services they
 * connect, which refuse what the real ones refuse.
 */
import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createClient, type TuttiClient } from '../../packages/client/src/index.ts'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'

import { freePort } from '../postgres/free-port.ts'
import { readPages, type Page } from './pages.ts'
import { startSampleServer, type SampleServer } from './sample-server.ts'
import { snippetFiles } from './snippets.ts'
import { startBookings } from './stand-ins/bookings.ts'
import { startOauth2Proxy } from './stand-ins/oauth2-proxy.ts'
import { startOpenAi } from './stand-ins/openai.ts'
import { startPostmark } from './stand-ins/postmark.ts'
import { startSlack } from './stand-ins/slack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const PROGRAM = join(ROOT, 'apps/server/dist/tutti.js')

/** Entry point of the image. */
const IN_IMAGE = 'node /app/node_modules/@tutti/server/dist/tutti.js'

/** Maximum number of lines of all programs of a recipe. */
const MAX_LINES = 60

const pages = readPages(ROOT).filter(({ path }) => path.startsWith('docs/recipes/'))
const files = snippetFiles(pages)
const recipes = pages.flatMap(findRecipe)

// The folder is next to docs/package.json, whose dependencies the programs import.
const folder = mkdtempSync(join(ROOT, 'docs', '.snippets-'))

/** Free ports in place of those on the pages. */
const ports = new Map(
  await Promise.all(
    ['4180', '4181', '4182'].map(async (shown) => [shown, `${await freePort()}`] as const),
  ),
)

const secrets = {
  PROGRAMS_KEY: randomBytes(16).toString('hex'),
  OFFICE_KEY: randomBytes(16).toString('hex'),
  BOARD_KEY: randomBytes(16).toString('hex'),
  HOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
}

let server: SampleServer
/** Client of the programs. */
let client: TuttiClient

beforeAll(async () => {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), withFreePorts(text))
  }
  const config = files.find(({ path }) => path.endsWith('README-md/0/tutti.config.ts'))?.path ?? ''
  server = await startSampleServer(folder, {
    ...secrets,
    TUTTI_CONFIG: join(folder, config),
    TUTTI_SQLITE_SYNC: 'normal',
    LOG_LEVEL: 'error',
  })
  client = createClient({ baseUrl: server.url, apiKey: secrets.PROGRAMS_KEY })
})

afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe('a recipe', () => {
  it('The programs of each recipe have at most 60 lines together', () => {
    const recipes = pages.filter(({ path }) => !path.endsWith('README.md'))
    const long = recipes.filter((page) => countLines(page) > MAX_LINES)
    expect(long.map(({ path }) => path)).toEqual([])
    expect(recipes).toHaveLength(13)
  })

  it.each(['judge.ts', 'check.ts', 'visits.ts', 'evaluation.ts', 'batch.ts'])(
    'The recipe %s prints its output',
    async (file) => {
      await expectOutput(file)
    },
  )

  it('The recipe nightly.ts starts one run, even if it is started twice', async () => {
    const night = (): string => new Date().toISOString().slice(0, 10)
    const first = night()
    await expectOutput('nightly.ts')
    await expectOutput('nightly.ts')
    const nights = new Set([first, night()])
    const { total } = await client.runs.list({ tag: 'schedule:nightly' })
    // Midnight may pass between the two.
    expect([1, nights.size]).toContain(total)
  })

  it('The CronJob of the recipe nightly.ts runs an ensemble from its image', async () => {
    const { blocks } = pages.find(({ path }) => path.endsWith('nightly-run.md')) ?? { blocks: [] }
    const yaml = blocks.find(({ language }) => language === 'yaml')?.code ?? ''
    const [{ command, args }] = parse(yaml).spec.jobTemplate.spec.template.spec.containers
    expect([...command, ...args]).toEqual(['sh', '-c', expect.stringContaining(IN_IMAGE)])
    const script = args[0].replace(IN_IMAGE, `'${process.execPath}' '${PROGRAM}'`)
    const child = spawn('sh', ['-c', script], { env: environment(), stdio: 'ignore' })
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    const count = async () => (await client.runs.list({ q: 'sales' })).total
    const started = await count()
    const day = new Date().toISOString().slice(0, 10)
    const run = { ensemble: 'report', inputs: { topic: 'sales' } }
    await client.runs.run(run, { idempotencyKey: `sales-${day}` })
    expect(await count()).toBe(started)
  })

  it('The recipe items.ts runs five hundred items, each under its own key', async () => {
    await expectOutput('items.ts')
    const run = { inputs: { topic: 'order 4711' }, tags: { batch: 'november' } }
    const key = { idempotencyKey: 'november-4711' }
    const { runId } = await client.runs.submit({ ensemble: 'report', ...run }, key)
    expect((await client.runs.get(runId)).status).toBe('COMPLETED')
    expect((await client.runs.list({ tag: 'batch:november', limit: 1 })).total).toBe(500)
  })

  it('The recipe team-costs.ts adds up the costs of the runs of each team', async () => {
    for (const team of ['harbor', 'weather', 'harbor']) {
      await client.runs.run({ ensemble: 'report', inputs: { topic: 'tides' }, tags: { team } })
    }
    await expectOutput('team-costs.ts')
  })

  it('The recipe images.ts lets a model that sees answer, and names its refusal of another file', async () => {
    const OPENAI_API_KEY = 'sk-example'
    const variables = { OPENAI_API_KEY, OPENAI_BASE_URL: await startOpenAi(OPENAI_API_KEY) }
    const receipt = join(folderOf('images.ts'), 'receipt.png')
    copyFileSync(join(ROOT, 'docs/images/run-phone.png'), receipt)
    await expectOutput('images.ts', variables)

    writeFileSync(receipt, 'not a PNG')
    const { output } = await start('images.ts', variables).ended
    expect(output).toContain('400 Unsupported image')
  })
})

it('The recipe saga.ts undoes its bookings in reverse and once, although its process is killed in the middle', async () => {
  const bookings = await startBookings('/cancel/hotel-2')
  const variables = { BOOKINGS: bookings.url, LOG_LEVEL: 'error' }
  const program = start('saga.ts', variables)
  await bookings.held
  await program.stop('SIGKILL')
  await expectOutput('saga.ts', variables)
  const cancelled = ['cancel hotel-2', 'cancel flight-1']
  expect(bookings.effects).toEqual(['book flight-1', 'book hotel-2', ...cancelled])
  expect(bookings.requests).toEqual([
    '/book/flight',
    '/book/hotel',
    '/book/car',
    '/cancel/hotel-2',
    '/cancel/hotel-2',
    '/cancel/flight-1',
  ])
})

describe('the recipe slack.ts', () => {
  const app = `http://127.0.0.1:${ports.get('4180')}`

  it('The recipe slack.ts lets the first person decide who presses a button', async () => {
    const signingSecret = 'secret of the app'
    const slack = await startSlack('xoxb-1', signingSecret)
    const program = await startServing('slack.ts', app, {
      SLACK_API: slack.url,
      SLACK_BOT_TOKEN: 'xoxb-1',
      SLACK_SIGNING_SECRET: signingSecret,
    })
    const { runId } = await submitLetter('slack')
    await expect.poll(() => slack.buttons.length).toBe(2)
    const press = { user: 'eve', action: 'CONTINUE' }
    expect(await slack.press(`${app}/slack`, { ...press, secret: 'guessed' })).toBe(401)
    expect(await slack.press(`${app}/slack`, { ...press, age: 301 })).toBe(401)
    expect(await slack.press(`${app}/slack`, { ...press, user: 'ada' })).toBe(200)
    expect(await slack.press(`${app}/slack`, { user: 'ben', action: 'REJECT' })).toBe(200)
    expect((await client.runs.result(runId)).status).toBe('COMPLETED')
    expect(slack.updates).toEqual(['ada: CONTINUE', 'ben: REVIEW_RESOLVED'])
    await expectPrinted(program, 'slack.ts')
  })

  it('The recipe slack.ts refuses forged webhooks, and reports why Slack refuses a message', async () => {
    const slack = await startSlack('xoxb-1', 'secret of the app')
    const program = await startServing('slack.ts', app, {
      SLACK_API: slack.url,
      SLACK_BOT_TOKEN: 'xoxb-of-another-app',
      SLACK_SIGNING_SECRET: 'secret of the app',
    })
    const forged = { method: 'POST', body: '{"type":"review.requested","data":{}}' }
    expect((await fetch(`${app}/tutti`, forged)).status).toBe(401)
    await submitLetter('slack')
    await expect.poll(() => program.output()).toBe('Slack refused the question: invalid_auth\n')
    expect(slack.refusals).toEqual(['invalid_auth'])
  })
})

describe('the recipe email.ts', () => {
  const app = `http://127.0.0.1:${ports.get('4181')}`

  it('The recipe email.ts decides when a link is confirmed, and not when it is opened or forged', async () => {
    const postmark = await startPostmark('server token')
    const program = await startServing('email.ts', app, {
      POSTMARK_API: postmark.url,
      POSTMARK_TOKEN: 'server token',
      LINK_SECRET: 'secret of the links',
      PUBLIC_URL: app,
    })
    const { runId } = await submitLetter('mail')
    await expect.poll(() => postmark.mails.length).toBe(1)
    const [accept = '', reject = ''] = postmark.mails[0]?.match(/http:\S+/g) ?? []

    // A scanner opens every link of a mail.
    for (const link of [accept, reject]) {
      const opened = await fetch(link)
      expect({ status: opened.status, page: await opened.text() }).toEqual({
        status: 200,
        page: expect.stringContaining('<form method="post">'),
      })
    }
    const forged = accept.replace('dana', 'eve')
    expect((await fetch(forged, { method: 'POST' })).status).toBe(403)
    expect((await client.runs.get(runId)).status).toBe('WAITING_REVIEW')

    for (const link of [accept, reject]) await fetch(link, { method: 'POST' })
    expect((await client.runs.result(runId)).status).toBe('COMPLETED')
    await expectPrinted(program, 'email.ts')
  })
})

describe('the recipe sso.ts', () => {
  const app = `http://127.0.0.1:${ports.get('4182')}`

  it('The recipe sso.ts gives people the rights of their group, and forwards WebSockets', async () => {
    const program = await startServing('sso.ts', app, { TUTTI_URL: server.url })
    const people = new Map([
      ['ada', { email: 'ada@example.com', groups: ['staff', 'office'] }],
      ['dana', { email: 'dana@example.com', groups: ['office', 'board'] }],
      ['gus', { email: 'gus@example.com', groups: ['guests'] }],
    ])
    const proxy = await startOauth2Proxy(app, people)
    const { runId } = await submitLetter()
    const [review] = await openReviews(runId)
    const path = `/api/reviews/${review?.reviewId}`
    const call = async (cookie: string, url: string, init: RequestInit = {}) => {
      const headers = { cookie: `_oauth2_proxy=${cookie}`, 'content-type': 'application/json' }
      const response = await fetch(url, { ...init, headers: { ...headers, ...init.headers } })
      return response.status
    }
    const decide = { method: 'POST', body: '{"decision":"CONTINUE"}' }

    expect(await call('', `${proxy}/api/me`)).toBe(401)
    expect(await call('gus', `${proxy}/api/me`)).toBe(403)
    expect(await call('ada', `${app}/api/me`)).toBe(403)
    expect(await call('ada', `${proxy}/api/me`)).toBe(200)
    const claimed = { headers: { 'x-forwarded-groups': 'board' } }
    expect(await call('ada', `${proxy}${path}`, { ...decide, ...claimed })).toBe(403)
    expect(await call('dana', `${proxy}${path}`, decide)).toBe(200)
    expect((await client.runs.result(runId)).status).toBe('COMPLETED')

    // The WebSocket of Node accepts headers, as an option that its types lack.
    const options: object = { headers: { cookie: '_oauth2_proxy=dana' } }
    const socket = new WebSocket(`${proxy.replace('http', 'ws')}/ws`, options as string[])
    const greeting = await new Promise<string>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(String(data)))
      socket.addEventListener('error', () => reject(new Error('The WebSocket failed')))
    })
    socket.close()
    expect(JSON.parse(greeting).type).toBe('hello')
    await expectPrinted(program, 'sso.ts')
  })
})

/** Returns the number of lines of all programs of a page. */
function countLines({ blocks }: Page): number {
  const programs = blocks.filter(({ language }) => /^tsx?$/.test(language))
  return programs.flatMap(({ code }) => code.split('\n')).length
}

interface Recipe {
  readonly file: string
  readonly printed: string
}

/** Returns the recipe of a page; the index has none. */
function findRecipe({ blocks }: Page): readonly Recipe[] {
  return blocks.flatMap(({ language, meta, code }, at): readonly Recipe[] => {
    if (language !== 'ts' || meta !== 'recipe') return []
    const [, file] = /^\/\/ (\S+)\n/.exec(code) ?? []
    const printed = blocks.slice(at).find((block) => block.language === 'text')?.code
    return file === undefined || printed === undefined ? [] : [{ file, printed }]
  })
}

function withFreePorts(text: string): string {
  return [...ports].reduce((all, [shown, port]) => all.replaceAll(shown, port), text)
}

function findFile(name: string): string {
  const path = files.findLast((each) => each.path.endsWith(`/${name}`))?.path
  if (path === undefined) throw new Error(`No recipe has the file ${name}`)
  return join(folder, path)
}

function folderOf(name: string): string {
  return dirname(findFile(name))
}

interface Program {
  /** Output so far. */
  output(): string
  readonly ended: Promise<{ code: number | null; output: string; errors: string }>
  /** Stops the program, by default with SIGTERM, and returns its output. */
  stop(signal?: NodeJS.Signals): Promise<string>
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    TUTTI_URL: server.url,
    TUTTI_API_KEY: secrets.PROGRAMS_KEY,
    ...secrets,
  }
}

/** Starts a program in its folder, with the keys of the server. */
function start(name: string, variables: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [findFile(name)], {
    cwd: folderOf(name),
    env: { ...environment(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()))
  const ended = new Promise<Awaited<Program['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }))
  })
  return {
    output: () => output,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return (await ended).output
    },
  }
}

/** Starts a program that serves, and waits until it accepts connections; it is stopped at the end of the test. */
async function startServing(
  name: string,
  address: string,
  variables: NodeJS.ProcessEnv,
): Promise<Program> {
  const program = start(name, variables)
  onTestFinished(async () => {
    await program.stop()
  })
  await expect
    .poll(() =>
      fetch(address).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  return program
}

/** Runs a program to its end, and compares its output with that of its page. */
async function expectOutput(name: string, variables: NodeJS.ProcessEnv = {}): Promise<void> {
  const { code, output, errors } = await start(name, variables).ended
  expect({ code, errors, output: output.trim() }).toEqual({
    code: 0,
    errors: '',
    output: printedBy(name),
  })
}

/** Stops a program that serves, and compares its output with that of its page. */
async function expectPrinted(program: Program, name: string): Promise<void> {
  expect((await program.stop()).trim()).toBe(printedBy(name))
}

function printedBy(name: string): string {
  return recipes.find(({ file }) => file === name)?.printed ?? 'no recipe'
}

function submitLetter(webhook?: string): Promise<{ runId: string }> {
  const webhooks = webhook === undefined ? {} : { webhooks: [webhook] }
  return client.runs.submit({ ensemble: 'letter', inputs: { name: 'Ada' }, ...webhooks })
}

async function openReviews(runId: string) {
  await expect.poll(async () => (await client.reviews.list({ runId })).total).toBe(1)
  return (await client.reviews.list({ runId })).reviews
}
