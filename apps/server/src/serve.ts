/** `serve()`: a Tutti server in the caller's process. The server itself is loaded by the first call. */
import type { Ensemble } from '@tutti/ensemble'
import type { EnsembleServer, ServeOptions } from './start/serve-options.ts'

/**
 * Serves one or several ensembles from this process, with the control API and the dashboard. It reads the environment
 * like `tutti start`, but no config file. The caller handles the signals of the process: unfinished runs continue at the
 * next start, whether the server was closed or not.
 *
 * @throws {TypeError} for unknown or invalid options.
 * @throws {TuttiError} CONFIG_INVALID, STORE_LOCKED, SCHEMA_TOO_NEW or STORE_UNAVAILABLE; no resource is left open.
 */
export async function serve(
  ensembles: Ensemble | readonly Ensemble[],
  options: ServeOptions = {},
): Promise<EnsembleServer> {
  const { serveEnsembles } = await import('./start/serve-ensembles.ts')
  return serveEnsembles(ensembles, options)
}
