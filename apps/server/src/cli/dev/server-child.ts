/** A server process of `tutti dev`, as its parent handles it. */
import { spawn, type ChildProcess } from 'node:child_process'

import { SERVE, type FromServer, type ToServer } from './dev-messages.ts'
import type { ProcessVariables } from '../../environment/env-table.ts'

/** Time that a process has to stop before it is killed, in milliseconds. Killing it is safe: finished steps are on disk. */
const STOP_LIMIT_MS = 5_000

export interface ServerChildOptions {
  readonly variables: ProcessVariables
  readonly cwd: string
  readonly onMessage: (message: FromServer) => void
  /** Called when the process has ended, with its exit code or the signal that ended it. */
  readonly onEnd: (code: number | null, signal: NodeJS.Signals | null) => void
}

/** A server process that has been started. */
export class ServerChild {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #isOver = false

  constructor({ variables, cwd, onMessage, onEnd }: ServerChildOptions) {
    const [node, program = ''] = process.argv
    this.#child = spawn(node ?? process.execPath, [...process.execArgv, program, 'dev', SERVE], {
      cwd,
      env: variables,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    // NOTE: this program writes to both ends of the channel.
    this.#child.on('message', (message) => onMessage(message as FromServer))
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#isOver = true
        resolve()
        onEnd(code, signal)
      })
    })
  }

  /** Requests a stop. Resolves when the process has ended. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    const message: ToServer = { kind: 'stop' }
    this.#child.send(message, () => undefined)
    const timer = setTimeout(() => this.kill(), STOP_LIMIT_MS)
    await this.#ended
    clearTimeout(timer)
  }

  /** Kills the process. */
  kill(): void {
    if (!this.#isOver) this.#child.kill('SIGKILL')
  }
}
