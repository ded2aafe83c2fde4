/** Runs code in a separate Node process, for behavior that only a fresh process shows. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

const NODE_OPTIONS = ['--conditions=@tutti/source', '--disable-warning=ExperimentalWarning']

type Environment = Readonly<Record<string, string>>

/** Runs the module `source` with only `env` as its environment, and resolves with the JSON that it prints. */
export async function runScript(source: string, env: Environment = {}): Promise<unknown> {
  const output = await runNode(['--input-type=module', '--eval', source], env)
  return JSON.parse(output)
}

/**
 * Runs Node with only `env` as its environment, and resolves with its output. Rejects when the process fails or
 * writes to stderr.
 */
export function runNode(arguments_: readonly string[], env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...NODE_OPTIONS, ...arguments_],
      { cwd: PACKAGE, env: { ...env } },
      (error, stdout, stderr) => {
        if (error !== null || stderr !== '') reject(new Error(`The process failed: ${stderr}`))
        else resolve(stdout)
      },
    )
  })
}
