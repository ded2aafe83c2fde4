/** One server process of `tutti dev`, seen from the process that started it. */
import { spawn, type ChildProcess } from 'node:child_process'

import { SERVE, type FromServer, type ToServer } from './dev-messages.ts'

/** How long a process may take to stop before it is killed, in milliseconds; what it did is on disk. */
const STOP_LIMIT_MS = 5_000

/** How it is started. */
export interface ServerChildOptions {
  readonly variables: NodeJS.ProcessEnv
  readonly cwd: string
  readonly onMessage: (message: FromServer) => void
  /** Told when it has ended; with the signal that ended it, if one did. */
  readonly onEnd: (code: number | null, signal: NodeJS.Signals | null) => void
}

/** A server process. */
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
    // NOTE: nobody else has this channel; both ends are this program.
    this.#child.on('message', (message) => onMessage(message as FromServer))
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#isOver = true
        resolve()
        onEnd(code, signal)
      })
    })
  }

  /** Has it stop; resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    const message: ToServer = { kind: 'stop' }
    this.#child.send(message, () => undefined)
    const timer = setTimeout(() => this.kill(), STOP_LIMIT_MS)
    await this.#ended
    clearTimeout(timer)
  }

  /** Ends it at once. */
  kill(): void {
    if (!this.#isOver) this.#child.kill('SIGKILL')
  }
}
