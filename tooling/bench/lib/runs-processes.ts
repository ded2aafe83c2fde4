/** The processes of a measurement: the programs of `fixtures`, told what to do by one JSON argument. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Place } from './runs-places.ts'
import type { TeamName } from './runs-teams.ts'
import type { RunServiceOptions } from '../../../packages/runs/src/index.ts'

/** What every process is told. */
interface Told {
  /** Where it reports to, and as whom. */
  readonly port: number
  readonly name: string
  readonly place: Place
}

/** What each program is told. */
export interface Programs {
  /** Executes runs until it is told to end. */
  readonly 'runs-worker': Told & {
    readonly team: TeamName
    readonly options?: Pick<RunServiceOptions, 'leaseMs' | 'maxConcurrentRuns' | 'maxLostOwners'>
    /** Runs to submit. */
    readonly submits?: readonly string[]
  }
  /** Reads tokens of runs and says how long each took. */
  readonly 'runs-reader': Told & { readonly runIds: readonly string[] }
}

/** A process; disposing of it kills it. */
export interface RunProcess extends AsyncDisposable {
  readonly name: string
  /** Sends a signal; resolves when the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** Starts a program. It ends by itself when nobody listens to its reports. */
export function startProcess<P extends keyof Programs>(program: P, told: Programs[P]): RunProcess {
  const file = fileURLToPath(new URL(`../fixtures/${program}.ts`, import.meta.url))
  const child = spawn(process.execPath, [file, JSON.stringify(told)], {
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
  return { name: told.name, end, [Symbol.asyncDispose]: () => end('SIGKILL') }
}
