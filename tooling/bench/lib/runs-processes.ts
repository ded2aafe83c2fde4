/** Starts the processes of a measurement: the programs of `fixtures`, with one JSON argument each. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { StoreLocation } from './runs-locations.ts'
import type { TeamName } from './runs-teams.ts'
import type { RunServiceOptions } from '../../../packages/runs/src/index.ts'

/** Input of every process. */
interface Told {
  /** Port for its reports, and its name in them. */
  readonly port: number
  readonly name: string
  readonly location: StoreLocation
}

/** Input of each program. */
export interface Programs {
  /** Executes runs until it is stopped. */
  readonly 'runs-worker': Told & {
    readonly team: TeamName
    readonly options?: Pick<RunServiceOptions, 'leaseMs' | 'maxConcurrentRuns'>
    /** Number of runs to submit. */
    readonly submits?: readonly string[]
  }
  /** Reads tokens of runs and reports the latency of each. */
  readonly 'runs-reader': Told & { readonly runIds: readonly string[] }
}

/** A process; disposing kills it. */
export interface RunProcess extends AsyncDisposable {
  readonly name: string
  /** Sends a signal; resolves when the process has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** Starts a program. It ends when the listener of its reports closes. */
export function startProcess<P extends keyof Programs>(program: P, input: Programs[P]): RunProcess {
  const file = fileURLToPath(new URL(`../fixtures/${program}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve()
    })
  })
  const end = (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    return gone
  }
  return { name: input.name, end, [Symbol.asyncDispose]: () => end('SIGKILL') }
}
