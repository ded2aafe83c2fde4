import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, it, vi } from 'vitest'

import { hasNatsServer } from '../nats/nats-server.ts'

/** Enough runs for each feature, and enough faults for each planned first one. */
const FEW = ['--runs', '8', '--faults', '5'] as const

/** Time after which runs count as stuck: about ten times what a case takes, because CI machines are slow and busy. */
const STUCK_MINUTES = 6

const PROGRAM = fileURLToPath(new URL('chaos.ts', import.meta.url))

// A case also starts servers, and reads back what was stored.
vi.setConfig({ testTimeout: (STUCK_MINUTES + 4) * 60_000 })

it('The chaos test completes a few runs among faults and a failover without a violation', async () => {
  const { code, output } = await chaos(...FEW, '--workers', '2', '--seed', '3')
  expect(output).toContain('No violations')
  expect(code).toBe(0)
  expect(figure(output, 'failed')).toBe(figure(output, 'stopped by their budget'))
  expect(figure(output, 'faults')).toBeGreaterThan(2)
  expect(figure(output, 'refuse_password')).toBeGreaterThan(0)
  expect(figure(output, 'fail_over')).toBe(1)
  expect(figure(output, 'takeovers (run_resumed)')).toBeGreaterThan(0)
  expect(figure(output, 'forks')).toBeGreaterThan(0)
  expect(figure(output, 'checks of readiness')).toBeGreaterThan(0)
})

it.skipIf(process.platform !== 'linux')(
  'The chaos test completes a few runs of one process that is killed, and whose file is locked and refused',
  async () => {
    const { code, output } = await chaos(...FEW, '--store', 'embedded', '--seed', '3')
    expect(output).toContain('No violations')
    expect(code).toBe(0)
    expect(figure(output, 'kill_worker')).toBeGreaterThan(0)
    expect(figure(output, 'lock_store')).toBeGreaterThan(0)
    expect(figure(output, 'refuse_writes')).toBeGreaterThan(0)
    expect(figure(output, 'forks')).toBeGreaterThan(0)
    expect(figure(output, 'deleted runs')).toBeGreaterThan(0)
    expect(figure(output, 'turns of threads')).toBe(3)
    expect(figure(output, 'compared as text')).toBeGreaterThan(0)
    expect(figure(output, 'notifications of the webhook')).toBeGreaterThan(0)
  },
)

it('The chaos test loses no run in a failover to a synchronous standby', async () => {
  const size = ['--runs', '4', '--faults', '4', '--workers', '2', '--apis', '1'] as const
  const { code, output } = await chaos(...size, '--seed', '5', '--synchronous')
  expect(output).toContain('No violations')
  expect(code).toBe(0)
  expect(figure(output, 'lost by the failover')).toBe(0)
  expect(figure(output, 'fail_over_synchronously')).toBe(1)
})

it.skipIf(!hasNatsServer())(
  'The chaos test completes a few runs over NATS when its leader is killed, and all its servers restart and refuse them',
  async () => {
    const { code, output } = await chaos(
      '--nats',
      ...FEW,
      '--workers',
      '2',
      '--apis',
      '1',
      '--seed',
      '6',
    )
    expect(output).toContain('No violations')
    expect(code).toBe(0)
    expect(figure(output, 'failed')).toBe(figure(output, 'stopped by their budget'))
    expect(figure(output, 'refuse_nats')).toBeGreaterThan(0)
    expect(figure(output, 'kill_nats_leader')).toBeGreaterThan(0)
    expect(figure(output, 'offers in the stream of NATS')).toBeGreaterThan(0)
  },
)

it('[CHAOS-D1] [CHAOS-D2] The chaos test continues each run with its code when other code is deployed under kills', async () => {
  const size = ['--runs', '6', '--workers', '1', '--apis', '1'] as const
  const { code, output } = await chaos(...size, '--deploys', '1', '--seed', '2021')
  expect(output).toContain('No violations')
  expect(code).toBe(0)
  expect(figure(output, 'runs')).toBe(6)
  expect(figure(output, 'failed')).toBe(0)
})

it('The chaos test rejects invalid options without starting a process', async () => {
  expect(await chaos('--store', 'embedded', '--nats')).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^Cannot use --store embedded with --nats/) as string,
  })
  const { code, output } = await chaos('--runs', 'many')
  expect(code).toBe(2)
  expect(output).toMatch(/^Cannot use --runs: got "many", expected an integer >= 1\n\nUsage: /)
})

it('The chaos test leaves no process behind when it is stopped, and reports the unfinished runs', async () => {
  let pids: readonly number[] = []
  const size = ['--runs', '20', '--workers', '2', '--apis', '1'] as const
  const { code, output } = await chaos(...size, '--seed', '4', (said, stop) => {
    if (pids.length > 0 || !said.includes('processes run')) return
    pids = [...said.matchAll(/\((\d+)\)/g)].map(([, pid]) => Number(pid))
    stop()
  })
  expect(code).toBe(1)
  expect(output).toContain('of them have not ended')
  expect(pids).toHaveLength(3)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

type Watch = (said: string, stop: () => void) => void

/** Runs the chaos program to its end. */
function chaos(...given: readonly (string | Watch)[]) {
  const args = given.filter((arg) => typeof arg === 'string')
  const watch = given.find((arg) => typeof arg === 'function')
  const child = spawn(process.execPath, [PROGRAM, '--minutes', String(STUCK_MINUTES), ...args])
  let output = ''
  const keep = (data: Buffer): void => {
    output += data.toString()
    watch?.(output, () => child.kill('SIGINT'))
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, output })
    })
  })
}

function figure(output: string, name: string): number {
  const line = output.split('\n').find((text) => text.trim().startsWith(`${name}  `))
  return Number(line?.trim().slice(name.length))
}
