/** Starts the server that the code of the pages talks to: the built one, by default without configuration. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Address of the server on the pages. */
export const SHOWN = 'http://127.0.0.1:7329'

/** A server that accepts requests. */
export interface SampleServer {
  readonly url: string
  /** Stops the server, and waits until it has ended. */
  stop(): Promise<void>
}

/** Starts the server on a free port, with its store in `folder`. `variables` are added to its environment. */
export async function startSampleServer(
  folder: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<SampleServer> {
  const program = join(ROOT, 'apps', 'server', 'dist', 'tutti.js')
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      TUTTI_DATA_DIR: join(folder, 'runs'),
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString()
      const ready = /^Tutti ready on (\S+)$/m.exec(output)?.[1]
      if (ready !== undefined) resolve(ready)
    })
    void ended.then(() => reject(new Error(`The server ended: ${output}`)))
  })
  return {
    url,
    stop() {
      child.kill()
      return ended
    },
  }
}
