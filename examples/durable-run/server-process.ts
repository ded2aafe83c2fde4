/** Runs `tutti start` as a child process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server that accepts requests. */
export interface ServerProcess {
  readonly url: string
  /** Sends a signal and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts `tutti start` in a directory, on a free port, and waits until it is ready. */
export async function startServer(cwd: string): Promise<ServerProcess> {
  const program = new URL('dist/tutti.js', import.meta.resolve('@tutti/server/package.json'))
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(program), 'start'], {
    cwd,
    env: { PORT: '0', TUTTI_CONFIG: fileURLToPath(new URL('tutti.config.ts', import.meta.url)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.on('data', (data: Buffer) => (log += data.toString()))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Tutti ready on (\S+)$/.exec(line) ?? []
    if (url === undefined) continue
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      child.kill(signal)
      await ended
    }
    return { url, end }
  }
  throw new Error(`The server ended before it was ready: ${log}`)
}
