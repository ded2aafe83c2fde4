/** Runs the commands that steer, export and delete runs, as processes against a running server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { decode, type LoggedRunEvent } from '@tutti/protocol'
import { ExecutionTrace } from '@tutti/protocol/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { CommandProcess, tutti as run, type CommandOptions } from './cli-process.ts'
import { recordSteps, readEvents, submit, type StepRecorder } from './recorded-steps.ts'
import { temporaryDirectory, type ServerProcess } from './server-process.ts'

const home = temporaryDirectory()
let files: StepRecorder
let server: ServerProcess

/** Runs a command against the server. */
function tutti(args: readonly string[], { env, ...others }: CommandOptions = {}) {
  return run(args, { cwd: home.path, ...others, env: { TUTTI_URL: server.url, ...env } })
}

beforeAll(async () => {
  files = recordSteps()
  server = await files.start({})
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  files[Symbol.dispose]()
  home[Symbol.dispose]()
})

/** Starts a run of the crew that is held in call 2 of its tool. */
async function startHeldRun(): Promise<string> {
  files.hold(2)
  const runId = await submit(server)
  await files.untilBegun(runId, 2)
  return runId
}

async function finishRun(runId: string): Promise<readonly LoggedRunEvent[]> {
  files.release(2)
  return readEvents(server, runId)
}

describe('tutti inject', () => {
  it('`tutti inject` injects guidance from an argument or standard input, with target, priority and expiry', async () => {
    const runId = await startHeldRun()
    const plain = await tutti(['inject', runId, 'Be quick'])
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+  ACTIVE\n$/) })
    const words = ['inject', runId, '-', '--to', 'work', '--priority', 'HIGH', '--ttl', 'PT5M']
    const json = await tutti([...words, '--json'], { input: 'Be brief' })
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'ACTIVE' })
    const [blank, unknown] = await Promise.all([
      tutti(['inject', runId, ' ']),
      tutti(['inject', runId, 'x', '--to', 'wrok']),
    ])
    expect(blank).toMatchObject({ code: 2, stderr: expect.stringContaining('/content') })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('"wrok"') })
    const directives = (await finishRun(runId)).filter(({ type }) => type === 'directive_active')
    expect(directives).toMatchObject([
      { content: 'Be quick' },
      { content: 'Be brief', to: 'work', priority: 'HIGH', expiresAt: expect.any(String) },
    ])
  })
})

describe('tutti model', () => {
  it('`tutti model` switches a run to a model, to a tier and to the tier of a profile', async () => {
    const runId = await startHeldRun()
    expect((await tutti(['model', runId, 'second'])).stdout).toBe(`${runId}  second (was first)\n`)
    expect((await tutti(['model', runId, '--tier', 'primary'])).stdout).toBe(
      `${runId}  first, tier PRIMARY (was second)\n`,
    )
    const one = await tutti(['model', runId, '--tier', 'FAST', '--task', 'work', '--json'])
    expect(JSON.parse(one.stdout)).toEqual({
      runId,
      model: 'second',
      previousModel: 'first',
      tier: 'fast',
      status: 'APPLIED',
    })
    expect(await tutti(['model', runId, '--profile', 'night'])).toMatchObject({
      code: 0,
      stdout: `${runId}  profile night\n`,
    })
    const [none, both, unknown] = await Promise.all([
      tutti(['model', runId]),
      tutti(['model', runId, 'second', '--tier', 'fast']),
      tutti(['model', runId, '--tier', 'fats']),
    ])
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Specify exactly one of'),
    })
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Specify exactly one of'),
    })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("'fast'") })
    const events = await finishRun(runId)
    expect(events.filter(({ type }) => type === 'model_switched')).toMatchObject([
      { model: 'second' },
      { model: 'first', tier: 'PRIMARY' },
      { model: 'second', tier: 'fast', taskName: 'work' },
      { model: 'second', tier: 'fast' },
    ])
  })
})

describe('tutti fork', () => {
  it('`tutti fork` starts a run at a task or after an event, and refuses an unknown place', async () => {
    const { runs } = server.client()
    const { runId } = await runs.run({ inputs: { topic: 'tea' } })
    const change = ['fork', runId, '--at', 'work', '--input', 'topic=milk']
    const [forked, changed, nowhere, unknown] = await Promise.all([
      tutti(['fork', runId, '--at', '2']),
      tutti([...change, '--allow-side-effects', '--json']),
      tutti(['fork', runId]),
      tutti(['fork', runId, '--at', 'wrok']),
    ])
    expect(forked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+  ACCEPTED\n$/) })
    const { runId: forkId } = JSON.parse(changed.stdout)
    expect(await runs.result(forkId)).toMatchObject({
      status: 'COMPLETED',
      inputs: { topic: 'milk' },
      parent: { runId },
    })
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--at SEQ') })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('"wrok"') })
  })

  it('`tutti fork` gives results and directives to the fork, and previews it', async () => {
    const { runs } = server.client()
    const { runId } = await runs.run({ inputs: { topic: 'tea' } })
    const given = ['fork', runId, '--at', '0', '--result', 'work=given', '--directive', 'Be kind']
    const [shown, json, refused, forked] = await Promise.all([
      tutti([...given, '--preview']),
      tutti([...given, '--preview', '--json']),
      tutti(['fork', runId, '--at', '0', '--result', 'work']),
      tutti([...given, '--json']),
    ])
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^TASK +ACTION +MODEL/) })
    expect(shown.stdout).toMatch(/^work +GIVEN *$/m)
    expect(shown.stdout).toMatch(/^estimate +\d/m)
    expect(JSON.parse(json.stdout)).toMatchObject({ parentRunId: runId, at: 0 })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--result must be') })
    const { runId: forkId } = JSON.parse(forked.stdout)
    const { tasks } = await runs.result(forkId)
    expect(tasks.find(({ name }) => name === 'work')?.output).toBe('given')
    const { runs: all } = await runs.list()
    expect(all.filter((run) => run.runId === forkId)).toHaveLength(1)
  })
})

describe('tutti diff', () => {
  it('`tutti diff` compares a run with its fork as text and as JSON, and exits with 4 for an unknown run', async () => {
    const { runs } = server.client()
    const { runId } = await runs.run({ inputs: { topic: 'tea' } })
    const change = { inputs: { topic: 'milk' }, allowSideEffects: true }
    const fork = await runs.fork(runId, { at: { task: 'work' }, ...change })
    await runs.result(fork.runId)
    const [text, json, unknown, half] = await Promise.all([
      tutti(['diff', runId, fork.runId]),
      tutti(['diff', runId, fork.runId, '--json']),
      tutti(['diff', runId, 'none']),
      tutti(['diff', runId]),
    ])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain('B is a fork after event')
    expect(text.stdout).toContain('Input topic\n  - tea\n  + milk\n')
    expect(text.stdout).toMatch(/^plan +COMPLETED -> COMPLETED \(reused\) +equal/m)
    expect(json.code).toBe(0)
    const a = { runId }
    const b = { runId: fork.runId }
    expect(JSON.parse(json.stdout)).toMatchObject({ a, b, relation: 'PARENT' })
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('none') })
    expect(half.code).toBe(2)
  })
})

describe('tutti events', () => {
  it('`tutti events` prints the log as lines and as JSON, completely or filtered', async () => {
    const runId = await startHeldRun()
    const [lines, json, last, typo] = await Promise.all([
      tutti(['events', runId, '--type', 'task_started,tool_called']),
      tutti(['events', runId, '--json']),
      tutti(['events', runId, '--from', '-1', '--json']),
      tutti(['events', runId, '--type', 'task_start']),
    ])
    expect(lines.stdout).toMatch(/^\d+  task_started  plan: started\n/)
    expect(lines.stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^\d+  tool_called  work: step called/,
    )
    const events: LoggedRunEvent[] = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place))
    expect(JSON.parse(last.stdout)).toEqual(events.at(-1))
    expect(typo).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "task_started"'),
    })
    await finishRun(runId)
  })

  it('`tutti events` follows a run to its end', async () => {
    const runId = await startHeldRun()
    await using following = new CommandProcess(['events', runId, '-f', '--json'], {
      env: { TUTTI_URL: server.url },
    })
    await following.until('"task_started"')
    const all = await finishRun(runId)
    const { code, stdout } = await following.ended
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(all)
  })
})

describe('tutti export', () => {
  it('`tutti export` exports the trace, the graph, the detail and the log of a run, also to a file', async () => {
    const { runs } = server.client()
    const { runId } = await runs.run({ inputs: { topic: 'tea' } })
    const [trace, dag, detail, events, file, lost] = await Promise.all([
      tutti(['export', runId]),
      tutti(['export', runId, '--format', 'dag']),
      tutti(['export', runId, '--format', 'run']),
      tutti(['export', runId, '--format', 'events']),
      tutti(['export', runId, '-o', 'a.trace.json']),
      tutti(['export', runId, '-o', 'no/such/folder.json']),
    ])
    expect(decode(ExecutionTrace, JSON.parse(trace.stdout))).toMatchObject({ ok: true })
    expect(JSON.parse(dag.stdout)).toMatchObject({ type: 'dag' })
    expect(JSON.parse(detail.stdout)).toEqual(await runs.get(runId))
    expect(JSON.parse(events.stdout)).toEqual(await readEvents(server, runId))
    expect(file).toEqual({ code: 0, stdout: '', stderr: 'Wrote a.trace.json\n' })
    expect(readFileSync(join(home.path, 'a.trace.json'), 'utf8')).toBe(trace.stdout)
    expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot write') })
  })
})

describe('tutti delete', () => {
  it('`tutti delete` deletes ended and active runs, and reports those that it cannot delete', async () => {
    const { runs } = server.client()
    const { runId: done } = await runs.run({ inputs: { topic: 'tea' } })
    const active = await startHeldRun()
    const both = await tutti(['delete', done, 'run-none', active])
    expect(both).toMatchObject({
      code: 4,
      stdout: `${done}  deleted\n${active}  deleted\n`,
      stderr: expect.stringContaining('run-none: '),
    })
    files.release(2)
    for (const runId of [done, active]) {
      await expect(runs.get(runId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    }
    const { runId } = await runs.run({ inputs: { topic: 'tea' } })
    const json = await tutti(['delete', runId, '--json'])
    expect(JSON.parse(json.stdout)).toEqual({ deleted: [runId] })
  })
})
