/** Runs `tutti start` as a child process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server that accepts requests. */
export interface ServerProcess {
  readonly url: string
  /** Stops the server, and waits until it has ended. */
  stop(): Promise<void>
}

/** Starts the server on a free port, with its store in `folder`, and waits until it is ready. */
export async function startServer(folder: string): Promise<ServerProcess> {
  const program = new URL('dist/tutti.js', import.meta.resolve('@tutti/server/package.json'))
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(program), 'start'], {
    env: {
      PORT: '0',
      TUTTI_DATA_DIR: folder,
      TUTTI_CONFIG: fileURLToPath(new URL('tutti.config.ts', import.meta.url)),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Tutti ready on (\S+)$/.exec(line) ?? []
    if (url !== undefined) return { url, stop }
  }
  throw new Error('The server ended before it was ready')
}
