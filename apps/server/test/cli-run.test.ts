/** Tests `tutti run` and `tutti watch` without a terminal, as processes against a server. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createClient } from '@tutti/client'
import { ensemble, task } from '@tutti/ensemble'
import { decodeLoggedRunEvent, type RunDetail } from '@tutti/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'
import {
  CommandProcess,
  POLL_OPTIONS,
  PROGRAM,
  tutti as command,
  type CommandOptions,
} from './cli-process.ts'
import { ADMIN, KEY, openClientServer, type ClientServer } from './client-server.ts'
import { temporaryDirectory } from './server-process.ts'

const home = temporaryDirectory()
const BACH = 'composer=Bach'
let band: ClientServer

/** Runs a command against the shared server. */
function tutti(args: readonly string[], { env, ...others }: CommandOptions = {}) {
  return command(args, { cwd: home.path, ...others, env: { TUTTI_URL: band.url, ...env } })
}

/** Starts a command. */
function start(args: readonly string[], url = band.url): CommandProcess {
  return new CommandProcess(args, { cwd: home.path, env: { TUTTI_URL: url } })
}

/** Returns the only run with this tag. */
async function findByTag(tag: string, { url } = band): Promise<RunDetail> {
  const { runs } = createClient({ baseUrl: url })
  const list = await runs.list({ tag })
  expect(list.total).toBe(1)
  return runs.get(list.runs[0]?.runId ?? '')
}

beforeAll(async () => {
  const payment = task({ name: 'payment', description: 'Wait', waitFor: { event: 'paid' } })
  const shop = ensemble({ name: 'shop', tasks: [payment] })
  band = await openClientServer({ more: [shop] })
  band.play()
})

afterAll(async () => {
  await band[Symbol.asyncDispose]()
  home[Symbol.dispose]()
})

describe('the inputs of a run', () => {
  it('Inputs of a run that nothing reads are refused, with a suggestion', async () => {
    const { code, stdout, stderr } = await tutti(['run', 'band', BACH, 'compser=Haydn'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      '/inputs/compser: is not a known input (known: composer, a, b, c, d, e, text). Did you mean "composer"?',
    )
  })

  it('Inputs of a run that are unknown and missing are reported together, and the advice has only known ones', async () => {
    const { code, stderr } = await tutti(['run', 'band', 'compser=Haydn', 'a=1'])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /\n {2}\/inputs\/compser: is not a known .*\n {2}\/inputs\/composer: is required.*\n.*: tutti run band a=1 composer=…\n$/,
    )
  })

  it('Inputs of a run that no task uses are reported if the server accepts any', async () => {
    const { stderr } = await tutti(['run', 'stumbler', 'hall=1'])
    expect(stderr).toContain('Input "hall" is not used: no task of "stumbler" has {hall}\n')
  })
})

describe('the result of a run', () => {
  it('The result of a run is the last output on standard output, with progress on standard error and without escape codes', async () => {
    const { code, stdout, stderr } = await tutti(['run', 'band', BACH])
    expect([code, stdout]).toEqual([0, 'It was played in full, says small\n'])
    const lines = stderr.split('\n')
    const runId = /^\[0:00\] run (\S+) of "band" accepted, 2 tasks$/.exec(lines[0] ?? '')?.[1]
    expect(runId).toMatch(/^run-[0-9a-z]{16}$/)
    expect(lines.slice(1)).toEqual([
      '[0:00] tune: started',
      expect.stringMatching(/^\[0:00\] tune: completed in \d+ ms$/),
      '[0:00] play: started',
      expect.stringMatching(/^\[0:00\] play: wait called in \d+ ms {2}\{\}$/),
      expect.stringMatching(/^\[0:00\] play: completed in \d+ ms, 1 tool call$/),
      expect.stringMatching(new RegExp(`^\\[0:00\\] ${runId} COMPLETED in .*1 tool call$`)),
      '',
    ])
  })

  it('The result of a run is the detail with --json, the events with --events, and the only output with --quiet', async () => {
    const [json, events, quiet] = await Promise.all([
      tutti(['run', 'soloist', BACH, '--json', '-q']),
      tutti(['run', 'soloist', BACH, '--events']),
      tutti(['run', 'soloist', BACH, '-q']),
    ])
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'COMPLETED', ensemble: 'soloist' })
    const decoded = events.stdout
      .trimEnd()
      .split('\n')
      .map((line) => decodeLoggedRunEvent(JSON.parse(line)))
    expect(decoded.every(({ ok }) => ok)).toBe(true)
    expect(events.stdout).toMatch(/^\{"type":"run_queued"[^\n]*"seq":0.*"type":"run_result".*\n$/s)
    const output = { code: 0, stdout: 'All instruments are in tune, says small\n', stderr: '' }
    expect([json.stderr, events.stderr, quiet]).toEqual(['', '', output])
  })

  it('The result of a run determines the exit code, and a failure is printed with its reason', async () => {
    const { code, stdout, stderr } = await tutti(['run', 'stumbler', '-q'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/FAILED in .*\n.*The model fell over/)
    const json = await tutti(['run', 'stumbler', '--json'])
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { status: 'FAILED' }])
  })

  it('The result of a run is not printed to a closed pipe: the command exits silently, and the run continues', async () => {
    const script = `"${process.execPath}" "${PROGRAM}" run soloist ${BACH} -t pipe=1 --events | head -1`
    const env = { ...process.env, TUTTI_URL: band.url }
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], { env })
    expect([stderr, stdout.split('\n').length]).toEqual(['', 2])
    await expect.poll(async () => (await findByTag('pipe')).status, POLL_OPTIONS).toBe('COMPLETED')
  })
})

describe('the submitted request', () => {
  it('The submitted request has an option for every field, from arguments, options, files and standard input', async () => {
    writeFileSync(join(home.path, 'inputs.json'), '{"a":"1","b":"@x"}')
    writeFileSync(join(home.path, 'text.txt'), 'Two\nlines\n')
    writeFileSync(join(home.path, 'tune.json'), '{"play":{"tools":{"remove":["wait"]}}}')
    const words = [
      [
        'run',
        'band',
        'composer=Bach=best',
        'c=@3',
        '--detach',
        '--input',
        'd=4',
        '--input',
        '@inputs.json',
      ],
      [
        '--inputs',
        '-',
        '--input-file',
        'text=text.txt',
        '-t',
        'all=yes',
        '--run-id',
        'of-my-choice',
      ],
      [
        '--override',
        'tune.tools.add=add, fail',
        '--override',
        'play.maxIterations=7',
        '--overrides',
        '@tune.json',
      ],
      ['--override', 'play.description=Play {composer}. tune.model=x', '--model', 'large'],
      [
        '--workflow',
        'sequential',
        '--review-policy',
        'NEVER',
        '--review-timeout',
        '3d',
        '--capture',
        'full',
        '--max-tool-output',
        '-1',
      ],
      ['--tool-log-length', '5', '--verbose', '--idempotency-key', 'once'],
      ['--max-tokens', '90000', '--max-time', '600.5', '--max-model-calls', '50'],
      ['--max-tool-calls', '60'],
    ].flat()
    const input = '{"e":"5","d":"overruled"}'
    const first = await tutti(words, { input })
    expect(first).toMatchObject({ code: 0, stdout: 'of-my-choice\n' })
    expect(first.stderr).toBe('')
    expect(await tutti(words, { input })).toEqual(first)
    const end = await tutti(['watch', 'of-my-choice', '--json', '-q'])
    expect(JSON.parse(end.stdout)).toMatchObject({
      status: 'COMPLETED',
      inputs: {
        composer: 'Bach=best',
        a: '1',
        b: '@x',
        c: '@3',
        d: '4',
        e: '5',
        text: 'Two\nlines\n',
      },
      tags: { all: 'yes' },
      options: {
        workflow: 'SEQUENTIAL',
        reviewPolicy: 'NEVER',
        review: { timeoutMs: 259_200_000 },
        captureMode: 'FULL',
        maxToolOutputLength: -1,
        toolLogTruncateLength: 5,
        verbose: true,
      },
      budget: {
        maxTokens: 90_000,
        maxDurationMs: 600_500,
        maxModelCalls: 50,
        maxToolCalls: 60,
      },
      tasks: [
        { output: 'It was played in full, says large' },
        {
          description: 'Play Bach=best. tune.model=x',
          output: 'All instruments are in tune, says large',
        },
      ],
    })
  })

  it('The submitted request can contain its own tasks, or be a complete request with overrides', async () => {
    const tasks = JSON.stringify([{ name: 'one', description: 'Tune {what}' }])
    const request = JSON.stringify({
      ensemble: 'panel',
      inputs: { composer: 'Bach' },
      tags: { a: 'b' },
    })
    const [own, whole] = await Promise.all([
      tutti(['run', 'what=it', '--tasks', tasks, '--model', 'large', '--json', '-q']),
      tutti(['run', 'soloist', '--request', '-', '--tag', 'c=d', '--json', '-q'], {
        input: request,
      }),
    ])
    expect(JSON.parse(own.stdout)).toMatchObject({
      tasks: [
        { name: 'one', description: 'Tune it', output: 'All instruments are in tune, says large' },
      ],
    })
    expect(JSON.parse(whole.stdout)).toMatchObject({
      ensemble: 'soloist',
      tags: { a: 'b', c: 'd' },
    })
  })

  it('The submitted request can have a task for each item of a list, from a graph file, and shows each of them', async () => {
    const reduce = { name: 'join', description: 'Tune all of {items}' }
    const tasks = [
      {
        name: 'each',
        description: 'Tune {item}',
        forEach: { over: 'what', maxParallel: 1, collect: { reduce, maxTokens: 100 } },
      },
    ]
    writeFileSync(join(home.path, 'graph.json'), JSON.stringify(tasks))
    const args = ['what=["it","that"]', '--tasks', '@graph.json', '--model', 'large']
    const { code, stderr } = await tutti(['run', ...args, '-t', 'graph=each'])
    expect(code, stderr).toBe(0)
    const lines = stderr.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''))
    expect(lines.filter((line) => line.startsWith('each'))).toEqual([
      'each: started',
      expect.stringMatching(/^each: delegates to .*: Tune it$/),
      expect.stringMatching(/^each\/0: completed in /),
      expect.stringMatching(/^each: delegates to .*: Tune that$/),
      expect.stringMatching(/^each\/1: completed in /),
      expect.stringMatching(/^each: delegates to .*: Tune all of /),
      expect.stringMatching(/^each\/reduce-join-1-0: completed in /),
      expect.stringMatching(/^each: completed in /),
    ])
    const { tasks: ended } = await findByTag('graph:each')
    expect(ended.map(({ output }) => output)).toEqual(
      Array.from({ length: 4 }, () => 'All instruments are in tune, says large'),
    )
  })

  it('The submitted request can have an ensemble as a task, from a graph file, and shows its tasks', async () => {
    const tasks = [
      {
        name: 'solos',
        ensemble: 'soloist',
        inputs: { composer: '{item}' },
        forEach: { over: 'what', maxParallel: 1, collect: 'outputs' },
      },
      { name: 'end', description: 'Tune {what}', context: ['$solos'] },
    ]
    writeFileSync(join(home.path, 'nested.json'), JSON.stringify(tasks))
    const args = ['what=["Bach"]', '--tasks', '@nested.json', '--model', 'large']
    const { code, stderr } = await tutti(['run', ...args, '-t', 'graph=nested'])
    expect(code, stderr).toBe(0)
    const lines = stderr.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''))
    expect(lines.filter((line) => /: (?:started|completed)/.test(line))).toEqual([
      'solos: started',
      expect.stringMatching(/^solos\/0\/tune: completed in /),
      expect.stringMatching(/^solos\/0: completed in /),
      expect.stringMatching(/^solos: completed in /),
      'end: started',
      expect.stringMatching(/^end: completed in /),
    ])
    const { tasks: ended } = await findByTag('graph:nested')
    expect(ended.map(({ name }) => name)).toEqual(['solos', 'end', 'solos/0', 'solos/0/tune'])
  })

  it('The submitted request is reported with every invalid field and with the missing inputs if it is not valid', async () => {
    const missing = await tutti(['run', 'band', '-t', 'team=a b'])
    expect([missing.code, missing.stdout]).toEqual([2, ''])
    expect(missing.stderr).toMatch(
      /\n {2}\/inputs\/composer: is required: .*\n.*: tutti run band composer=…\n$/,
    )
    const misfit = await tutti([
      'run',
      'band',
      '--inputs',
      '{"composer":5}',
      '--overrides',
      '{"tune":{"mood":1}}',
    ])
    expect([misfit.code, misfit.stderr]).toEqual([
      2,
      expect.stringMatching(
        /\n {2}\/inputs\/composer: .*string.*\n {2}\/taskOverrides\/tune\/mood: /,
      ),
    ])
    const unknown = await tutti(['run', 'orchestra', BACH])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/orchestra.*band/s)])
  })
})

describe('an unreachable server', () => {
  it('An unreachable server leads to exit code 3, at once or after the last attempt', async () => {
    await using lost = await openClientServer()
    await using line = await tcpProxy(lost.url)
    const env = { TUTTI_URL: 'http://127.0.0.1:9' }
    const [run, watch] = await Promise.all([
      tutti(['run', 'band', BACH], { env }),
      tutti(['watch', 'run-1'], { env }),
    ])
    expect([run.code, watch.code]).toEqual([3, 3])
    expect(run.stderr).toContain('Start one with: tutti dev')
    expect(run.stderr).not.toContain('may have been accepted')
    line.cut({ stay: true })
    const cut = await tutti(['run', 'band', BACH], { env: { TUTTI_URL: line.url } })
    expect([cut.code, cut.stderr]).toEqual([
      3,
      expect.stringMatching(/\nThe run may have been accepted\. .*: tutti watch run-/),
    ])
    line.restore()
    await using followed = start(['run', 'band', BACH, '--max-reconnects', '2'], line.url)
    await lost.untilWaiting()
    line.cut({ stay: true })
    const { code, stderr } = await followed.ended
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/Connection lost, .*\n.*Lost the connection.*\n.*tutti watch run-/s),
    ])
  })

  it('An unreachable server is retried without losing or repeating an event', async () => {
    await using lost = await openClientServer()
    await using line = await tcpProxy(lost.url)
    await using run = start(['run', 'band', BACH, '--events'], line.url)
    await lost.untilWaiting()
    line.cut({ stay: true })
    await run.until('Connection lost, retrying: ')
    lost.play()
    line.restore()
    const { code, stdout, stderr } = await run.ended
    const seqs = stdout
      .trimEnd()
      .split('\n')
      .map((text): unknown => JSON.parse(text).seq)
    expect([code, seqs]).toEqual([0, seqs.map((_, place) => place)])
    expect(stderr).toMatch(/^Connection lost, retrying: .*\nReconnected\n$/)
  })

  it('An unreachable server does not keep `tutti` from refusing a command without a key', async () => {
    await using closed = await openClientServer({ apiKeys: [ADMIN] })
    const env = { TUTTI_URL: closed.url }
    const { code, stderr } = await tutti(['run', 'band', BACH], { env })
    expect([code, stderr]).toEqual([4, expect.stringContaining('TUTTI_API_KEY')])
    const allowed = await tutti(['run', 'soloist', BACH, '-q'], {
      env: { ...env, TUTTI_API_KEY: KEY },
    })
    expect(allowed.code).toBe(0)
  })
})

describe('a signal without a terminal', () => {
  it('A signal without a terminal cancels the run of the command, and waits until the run is over', async () => {
    await using held = await openClientServer()
    await using run = start(['run', 'band', BACH, '-t', 'job=1'], held.url)
    await held.untilWaiting()
    run.child.kill('SIGINT')
    const { code, stdout, stderr } = await run.ended
    expect([code, stdout]).toEqual([5, ''])
    expect(stderr).toMatch(
      /^Cancelling run-.*\n(?:.*\n)*.*cancel requested\n(?:.*\n)*.*CANCELLED in .*requested/m,
    )
    expect((await findByTag('job', held)).status).toBe('CANCELLED')
  })

  it('A signal without a terminal lets the run continue with --detach-on-signal, and always in `tutti watch`', async () => {
    await using held = await openClientServer()
    await using run = start(['run', 'band', BACH, '-t', 'job=2', '--detach-on-signal'], held.url)
    await held.untilWaiting()
    run.child.kill('SIGTERM')
    const left = await run.ended
    expect([left.code, left.stderr]).toEqual([
      130,
      expect.stringContaining('continues. To follow it: tutti watch run-'),
    ])
    await using watch = start(['watch'], held.url)
    await watch.until('play: started')
    watch.child.kill('SIGINT')
    const { runId, status } = await findByTag('job', held)
    const seen = await watch.ended
    expect([seen.code, seen.stderr]).toEqual([
      130,
      expect.stringMatching(new RegExp(`^Watching ${runId}\n`)),
    ])
    expect(status).toBe('RUNNING')
  })

  it('A signal during the submit waits for the response, and then cancels the run', async () => {
    await using held = await openClientServer()
    await using line = await tcpProxy(held.url)
    line.pause()
    await using run = start(['run', 'band', BACH, '-t', 'job=3'], line.url)
    await expect.poll(() => line.connections, POLL_OPTIONS).toBe(1)
    run.child.kill('SIGTERM')
    await run.until('interrupt again to leave')
    line.resume()
    expect((await run.ended).code).toBe(5)
    expect((await findByTag('job', held)).status).toBe('CANCELLED')
  })

  it('A signal given twice during the submit leaves, and prints how to find the run', async () => {
    await using held = await openClientServer()
    await using line = await tcpProxy(held.url)
    line.pause()
    await using run = start(['run', 'band', BACH, '-t', 'job=4'], line.url)
    await expect.poll(() => line.connections, POLL_OPTIONS).toBe(1)
    run.child.kill('SIGINT')
    await run.until('interrupt again to leave')
    run.child.kill('SIGTERM')
    const { code, stderr } = await run.ended
    line.resume()
    expect(code).toBe(130)
    const runId =
      /To check whether the run was accepted: tutti watch (run-\S+)\n$/.exec(stderr)?.[1] ?? ''
    const { runs } = createClient({ baseUrl: held.url })
    await expect
      .poll(async () => (await runs.list({ tag: 'job:4' })).runs[0]?.runId, POLL_OPTIONS)
      .toBe(runId)
  })

  it('A signal cancels the run as soon as an unreachable server is back', async () => {
    await using held = await openClientServer()
    await using line = await tcpProxy(held.url)
    await using run = start(['run', 'band', BACH, '-t', 'job=5'], line.url)
    await held.untilWaiting()
    line.cut({ stay: true })
    await run.until('Connection lost')
    run.child.kill('SIGINT')
    await run.until('retrying the cancel')
    line.restore()
    expect((await run.ended).code).toBe(5)
  })
})

describe('a review without a terminal', () => {
  it('A review without a terminal is awaited, with a hint how to decide it', async () => {
    await using run = start(['run', 'panel', BACH, '-q'])
    await run.until('decide with: tutti review ')
    expect(run.stderr).toContain('decide: waiting for review: Good?\n')
    const reviewId = /tutti review (\S+)\n/.exec(run.stderr)?.[1] ?? ''
    expect((await tutti(['review', reviewId, '--edit', '-'], { input: 'Better' })).code).toBe(0)
    expect(await run.ended).toMatchObject({ code: 0, stdout: 'Better\n' })
  })

  it('A review without a terminal ends the command with --no-review while the run waits', async () => {
    const { code, stdout, stderr } = await tutti([
      'run',
      'panel',
      BACH,
      '-t',
      'no=1',
      '--no-review',
      '-q',
    ])
    expect([code, stdout]).toEqual([6, ''])
    expect(stderr).toMatch(/decide is waiting for review, decide with: tutti review \S+\n$/)
    await expect
      .poll(async () => (await findByTag('no')).status, POLL_OPTIONS)
      .toBe('WAITING_REVIEW')
    const { runId } = await findByTag('no')
    expect((await tutti(['watch', runId, '--no-review', '--events'])).code).toBe(6)
    await createClient({ baseUrl: band.url }).runs.cancel(runId)
    expect((await tutti(['watch', runId, '--no-review', '--events'])).code).toBe(5)
  })
})

describe('a run that waits for an event', () => {
  it('A run that waits for an event is followed with --no-review, and listed with its status', async () => {
    await using run = start(['run', 'shop', '-t', 'shop=1', '--no-review'])
    await run.until('deliver with: tutti deliver paid')
    await expect.poll(async () => (await findByTag('shop')).status, POLL_OPTIONS).toBe('WAITING')
    const { stdout } = await tutti(['runs', '--status', 'WAITING'])
    expect(stdout).toMatch(/ WAITING +shop /)
    expect((await tutti(['deliver', 'paid'])).code).toBe(0)
    expect((await run.ended).code).toBe(0)
  })
})

describe('tutti watch', () => {
  it('`tutti watch` prints an ended run from the requested event on, and exits with its outcome', async () => {
    const { runs } = createClient({ baseUrl: band.url })
    const { runId } = await runs.run({ ensemble: 'band', inputs: { composer: 'Bach' } })
    const [all, tail, last] = await Promise.all([
      tutti(['watch', runId]),
      tutti(['watch', runId, '--from', '-1']),
      tutti(['watch', runId, '--events', '--from', '-2']),
    ])
    expect(all).toMatchObject({ code: 0, stdout: 'It was played in full, says small\n' })
    expect(all.stderr.split('\n')).toHaveLength(8)
    expect(tail.stderr).toMatch(/^\[0:\d\d\] run-\S+ COMPLETED in [^\n]+\n$/)
    const types = last.stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line).type)
    expect(types).toEqual(['ensemble_completed', 'run_result'])
  })

  it('`tutti watch` gives advice when there is no run to watch', async () => {
    await using empty = await openClientServer()
    const env = { TUTTI_URL: empty.url }
    const [none, unknown] = await Promise.all([
      tutti(['watch'], { env }),
      tutti(['watch', 'run-x'], { env }),
    ])
    expect([none.code, none.stderr]).toEqual([
      4,
      expect.stringMatching(/^There is no unfinished run\n.*tutti run\n/),
    ])
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('tutti runs')])
  })
})
