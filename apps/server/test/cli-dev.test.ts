/** Tests `tutti dev` with and without a terminal, over changes, broken files and interrupted runs. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { existsSync } from 'node:fs'

import { createClient } from '@tutti/client'
import { describe, expect, it } from 'vitest'

import { CommandProcess, POLL_OPTIONS, project } from './cli-process.ts'
import { KEYS, openTerminal } from './terminal.ts'

const HEAD = `
import { existsSync, appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensemble, task } from '@tutti/ensemble'
import { greeting } from './greeting.ts'
`

/** Two tasks without a model: the first records that it has run, the second waits for a file. */
const CONFIG = `${HEAD}
const first = task({ name: 'first', description: 'Begin {what}', handler: () => {
  appendFileSync('first', 'x')
  return 'begun'
} })
const second = task({ name: 'second', description: 'Wait', context: [first], handler: async ({ signal }) => {
  appendFileSync('waiting', 'x')
  signal.addEventListener('abort', () => appendFileSync('aborted', 'x'))
  while (!existsSync('go')) await sleep(10, undefined, { signal })
  return greeting
} })
export default { ensembles: [ensemble({ name: 'waiter', tasks: [first, second] })] }
`

const greeting = (text: string): string => `export const greeting: string = '${text}'\n`

function waiter() {
  return project({ 'tutti.config.ts': CONFIG, 'greeting.ts': greeting('old greeting') })
}

describe('tutti dev on a terminal', () => {
  it('`tutti dev` on a terminal prints its address once, continues runs after changes, survives a broken file, and ends on Ctrl-C', async () => {
    using home = waiter()
    await using terminal = openTerminal(['dev', '--port', '0'], { cwd: home.path, cols: 120 })
    const lines = await terminal.until(/Tutti ready on \S+:\d+/)
    const url =
      /http\S+/.exec(lines.find((line) => line.startsWith('Tutti ready')) ?? '')?.[0] ?? ''
    expect(lines.slice(0, 3)).toEqual([
      `Dashboard: ${url}/`,
      'Watching tutti.config.ts, greeting.ts',
      `Tutti ready on ${url}`,
    ])
    const { runs } = createClient({ baseUrl: url })
    const { runId } = await runs.submit({ inputs: { what: 'tea' } })
    await expect.poll(() => existsSync(join(home.path, 'waiting')), POLL_OPTIONS).toBe(true)

    home.write('greeting.ts', greeting('new greeting'))
    await terminal.until(/\d\d:\d\d:\d\d info {2}greeting\.ts changed, restarting/)
    await terminal.until(/info {2}Resuming interrupted runs runIds=\["run-/)
    await terminal.until(/Ready again after \d+\.\d s/)
    home.write('go', '')
    const end = await runs.result(runId)
    expect(end).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'begun' }, { output: 'new greeting' }],
    })
    expect(home.read('first')).toBe('x')
    // The restart did not wait for the run, but did not kill its process either.
    expect(home.read('aborted')).toBe('x')

    home.write('greeting.ts', 'export const greeting: = 1\n')
    await terminal.until(/error Cannot use the config file[^]*Waiting for a file change/)
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    home.write('greeting.ts', greeting('newest greeting'))
    await terminal.until(/Waiting for a file change[^]*Ready again/)
    expect((await runs.run({ inputs: { what: 'tea' } })).outputs.at(-1)?.output).toBe(
      'newest greeting',
    )

    terminal.write(KEYS.ctrlC)
    expect(await terminal.ended()).toBe(0)
    const history = terminal.history().join('\n')
    expect(history.match(/Tutti ready on|Dashboard:/g)).toHaveLength(2)
    expect(history).toContain('Stopping; press Ctrl-C again to exit immediately')
    expect(terminal.written).toContain('\x1b[32minfo')
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('`tutti dev` on a terminal exits at once on a second Ctrl-C when the server does not stop', async () => {
    using home = project({ 'tutti.config.js': 'console.error("stuck"); for (;;);' })
    await using terminal = openTerminal(['dev', '-p', '0'], { cwd: home.path })
    await terminal.until('stuck')
    terminal.write(KEYS.ctrlC)
    await terminal.until('Stopping')
    const again = setInterval(() => terminal.write(KEYS.ctrlC), 100)
    expect(await terminal.ended()).toBe(130)
    clearInterval(again)
  })
})

describe('tutti dev without a terminal', () => {
  it('`tutti dev` without a terminal logs JSON lines, reads .env without overriding variables, and serves a config that appears', async () => {
    using home = project({ '.env': 'TUTTI_DATA_DIR=from-env-file\nPORT=1\n' })
    await using dev = new CommandProcess(['dev'], { cwd: home.path, env: { PORT: '0' } })
    await dev.until(/Tutti ready on \S+\n/)
    expect(dev.stdout).toContain('No tutti.config.ts: serving the sample ensembles')
    expect(dev.stdout).toContain('Create a tutti.config.ts to serve your own ensembles')
    expect(existsSync(join(home.path, 'from-env-file', 'runs.sqlite'))).toBe(true)
    const url = /ready on (\S+)/.exec(dev.stdout)?.[1] ?? ''
    const names = async () =>
      (await createClient({ baseUrl: url }).capabilities()).ensembles.map(({ name }) => name)
    expect(await names()).toEqual(['briefing', 'reviewed-briefing'])

    home.write('tutti.config.ts', CONFIG)
    await dev.until(/Cannot find module/)
    home.write('greeting.ts', greeting('found'))
    await dev.until('Ready again')
    expect(await names()).toEqual(['waiter'])
    const lines = dev.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ level, message }) => `${level} ${message.split('\n')[0]}`)).toEqual([
      'info tutti.config.ts changed, restarting',
      expect.stringMatching(/^error Cannot use the config file/),
      'info Waiting for a file change',
      'info greeting.ts changed, restarting',
      expect.stringMatching(/^info Ready again after/),
    ])
    expect(dev.stdout.match(/Tutti ready on/g)).toHaveLength(1)
    dev.child.kill('SIGTERM')
    expect((await dev.ended).code).toBe(0)
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('`tutti dev` without a terminal continues a run that waits for a review after its prompt was edited', async () => {
    const config = (description: string): string => `
import { ensemble, task } from '@tutti/ensemble'
const draft = task({ name: 'draft', description: '${description}', handler: () => 'A draft', review: { timeoutMs: 600_000 } })
export default { ensembles: [ensemble({ name: 'writer', tasks: [draft] })] }
`
    using home = project({ 'tutti.config.ts': config('Draft a letter') })
    await using dev = new CommandProcess(['dev'], { cwd: home.path, env: { PORT: '0' } })
    await dev.until(/Tutti ready on \S+\n/)
    const { runs, reviews } = createClient({
      baseUrl: /ready on (\S+)/.exec(dev.stdout)?.[1] ?? '',
    })
    const { runId } = await runs.submit({})
    const readIds = async () =>
      (await reviews.list({ runId })).reviews.map(({ reviewId }) => reviewId)
    await expect.poll(readIds, POLL_OPTIONS).toHaveLength(1)
    const [before] = await readIds()
    home.write('tutti.config.ts', config('Draft a short letter'))
    await dev.until('Ready again')
    // The reviewer saw other code, so the review is asked again.
    await expect.poll(readIds, POLL_OPTIONS).not.toEqual([before])
    await expect.poll(readIds, POLL_OPTIONS).toHaveLength(1)
    const [reviewId = ''] = await readIds()
    await reviews.decide(reviewId, { decision: 'CONTINUE' })
    expect(await runs.result(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ output: 'A draft' }],
    })
    dev.child.kill('SIGTERM')
    expect((await dev.ended).code).toBe(0)
  })

  it('`tutti dev` without a terminal waits for a file change when the server dies, and takes the server with it when it is killed', async () => {
    using home = project({
      'tutti.config.ts': `${HEAD}\nsetTimeout(() => process.exit(7), 1)\nawait sleep(60_000)\n`,
      'greeting.ts': greeting('any'),
    })
    await using dev = new CommandProcess(['dev'], { cwd: home.path, env: { PORT: '0' } })
    await dev.until(/The server exited unexpectedly with code 7/)
    home.write('tutti.config.ts', CONFIG)
    await dev.until(/Tutti ready on \S+\n/)
    const url = /ready on (\S+)/.exec(dev.stdout)?.[1] ?? ''
    expect((await fetch(url)).status).toBe(200)
    dev.child.kill('SIGKILL')
    const answers = () =>
      fetch(url).then(
        () => true,
        () => false,
      )
    await expect.poll(answers, POLL_OPTIONS).toBe(false)
  })

  it('`tutti dev` without a terminal exits with 1 when no file change can fix the start, and with 2 for an invalid option', async () => {
    using home = waiter()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    await using dev = new CommandProcess(['dev', '--port', port], { cwd: home.path })
    await using wrong = new CommandProcess(['dev', '--port', 'high'], { cwd: home.path })
    expect(await dev.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/EADDRINUSE/) })
    expect(await wrong.ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/--port.*must be a number from 0 to 65535/),
    })
    taken.close()
  })
})
